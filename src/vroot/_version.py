"""The version of vroot, which its stores carry."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
