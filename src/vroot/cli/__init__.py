"""The command line."""

from __future__ import annotations

from vroot.cli.commands import main

__all__ = ["main"]
