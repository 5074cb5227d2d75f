"""Run the comparison: ``python -m compat.census``."""

from __future__ import annotations

import sys

from compat.census.comparison import main

if __name__ == "__main__":
    sys.exit(main())
