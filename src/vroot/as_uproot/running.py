"""``vroot run``: unmodified scripts, in which ``import uproot`` gives vroot.

Python itself runs the script, with a folder in ``PYTHONPATH`` that has a module named uproot. The
processes that the script starts inherit that. Only the scanner needs uproot itself: it works in a
process of its own, without that folder.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

import vroot
from vroot.as_uproot.names import NAMES
from vroot.scanner.elsewhere import FOLDER

__all__ = ["run", "take_the_name"]


def run(arguments: Sequence[str]) -> int:
    """Run Python with vroot under the name of uproot.

    Parameters
    ----------
    arguments : sequence of str
        As on the command line of python: a script, or "-m" and a module, and arguments for it.

    Returns
    -------
    int
        The exit code, on Windows; elsewhere this process becomes that of the script.
    """
    paths = [FOLDER, *filter(None, [os.environ.get("PYTHONPATH")])]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(paths)}
    command = [sys.executable, *arguments]
    sys.stdout.flush()
    sys.stderr.flush()
    if os.name != "nt":  # where a new program does not take over the process
        os.execve(command[0], command, environment)  # noqa: S606  # what the user asked for
    return subprocess.run(command, env=environment, check=False).returncode  # noqa: S603


def take_the_name() -> None:
    """Let what imports uproot or a module of it, from now on, get vroot."""
    sys.modules["uproot"] = vroot
    for path in filter(None, NAMES):
        sys.modules[f"uproot.{path}"] = sys.modules[f"vroot.{path}"]
