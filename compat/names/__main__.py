"""Write the table of names: ``python -m compat.names``."""

from __future__ import annotations

import sys

from compat.names.rows import TABLE, table

if __name__ == "__main__":
    TABLE.write_text(table(), encoding="utf-8")
    sys.stdout.write(f"{TABLE.name} is written\n")
