"""vroot under uproot's name, for what `vroot.as_uproot.running` runs."""

import sys
from pathlib import Path

# The folder of the script comes first in the path, and may have a vroot.py of its own.
_PACKAGE = str(Path(__file__).parents[3])
if not getattr(sys.modules.get("vroot"), "__file__", _PACKAGE).startswith(_PACKAGE):
    raise ImportError(
        f"another module named vroot was imported before: {sys.modules['vroot'].__file__}; "
        "rename it to use vroot in uproot's place"
    )
sys.path.insert(0, _PACKAGE)
try:
    from vroot.as_uproot.running import take_the_name
finally:
    sys.path.remove(_PACKAGE)

take_the_name()
