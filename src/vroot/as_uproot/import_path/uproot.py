"""vroot under uproot's name, for what `vroot.as_uproot.running` runs."""

import sys
from pathlib import Path

# The folder of the script comes first in the path, and may have a vroot.py of its own.
_PACKAGE = str(Path(__file__).parents[3])
sys.path.insert(0, _PACKAGE)
try:
    from vroot.as_uproot.running import take_the_name
finally:
    sys.path.remove(_PACKAGE)

take_the_name()
