"""What the figures were measured on."""

from __future__ import annotations

import os
import platform
import re
from importlib.metadata import version
from pathlib import Path

__all__ = ["describe_machine"]

CPUINFO = Path("/proc/cpuinfo")
LIBRARIES = ("vroot", "uproot", "awkward", "numpy", "deflate", "zstandard", "cramjam", "msgspec")


def describe_machine() -> dict[str, str]:
    """Describe the machine, Python and the libraries, without the machine's name.

    The load, the mean number of busy processes in the last minute, tells whether it was quiet.
    """
    model = platform.processor() or platform.machine()
    if CPUINFO.exists():
        match = re.search(r"^model name\s*:\s*(.+)$", CPUINFO.read_text(), re.MULTILINE)
        model = match[1] if match else model
    return {
        "cores": str(os.cpu_count()),
        "load": f"{os.getloadavg()[0]:.1f}",
        "CPU": model,
        "system": f"{platform.system()} on {platform.machine()}",
        "Python": f"{platform.python_implementation()} {platform.python_version()}",
        **{name: version(name) for name in LIBRARIES},
    }
