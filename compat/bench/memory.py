"""The memory that one operation takes, in a process where its reader is alone.

What counts is the peak resident size during the operation less the resident size before it, when
the reader and Awkward Array are imported and nothing is opened. Pages of a file that a reader maps
into memory count as well, though the system could take them back. Linux only.
"""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

from compat.bench import operations
from compat.bench.operations import Files, Operation

__all__ = ["peak_bytes"]

STATUS, CLEAR_REFERENCES = Path("/proc/self/status"), Path("/proc/self/clear_refs")
RESET_PEAK = "5"


def peak_bytes(reader: str, operation: Operation, files: Files) -> int | None:
    """Measure the peak memory of an operation, in a process of its own.

    Parameters
    ----------
    reader : str
        The module that reads: "uproot" or "vroot".
    operation : callable
        One of `compat.bench.operations`.
    files : Files
        What is read.

    Returns
    -------
    int or None
        Bytes; None where the system does not tell.
    """
    if not CLEAR_REFERENCES.exists():
        return None
    name = operation.__name__
    done = subprocess.run(
        [sys.executable, "-m", __name__, reader, name, files.root, files.refs, files.tree],
        check=True,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    return int(done.stdout)


def _status_bytes(field: str) -> int:
    match = re.search(rf"^{field}:\s+(\d+) kB$", STATUS.read_text(), re.MULTILINE)
    if match is None:
        raise ValueError(f"{STATUS} has no {field}")
    return int(match[1]) << 10


def main() -> None:
    """Run the operation that the arguments name, and print its peak in bytes."""
    reader, name, root, refs, tree = sys.argv[1:]
    module = importlib.import_module(reader)
    importlib.import_module("awkward")
    operation: Operation = getattr(operations, name)
    before = _status_bytes("VmRSS")
    # The kernel's high-water mark would else be that of the imports.
    CLEAR_REFERENCES.write_text(RESET_PEAK)
    operation(module, Files(Path(root), Path(refs), tree))
    print(_status_bytes("VmHWM") - before)


if __name__ == "__main__":
    main()
