"""``python -m vroot``, the same as the command ``vroot``."""

from vroot.cli import main

if __name__ == "__main__":
    raise SystemExit(main())
