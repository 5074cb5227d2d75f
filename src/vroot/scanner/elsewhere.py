"""Scanning in a process of its own, where `import uproot` gives vroot in this one."""

from __future__ import annotations

import contextlib
import os
import pickle
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from vroot.exceptions import DeserializationError, VrootError

__all__ = ["FOLDER", "answer_with_scan", "has_the_name", "scan_elsewhere"]

#: Where the module named uproot is that is vroot.
FOLDER = str(Path(__file__).parents[1] / "as_uproot" / "import_path")

#: What the process that scans executes. As in `vroot.scanner.discovery`, this package is found
#: last, and nothing in the current folder is imported.
SCAN = (
    "import sys; sys.path.append({!r}); import vroot.scanner.elsewhere as e; e.answer_with_scan()"
)


def has_the_name() -> bool:
    """Whether ``import uproot`` gives vroot in this process."""
    return FOLDER in sys.path or _is_vroot(sys.modules.get("uproot"))


def _is_vroot(module: Any) -> bool:
    return getattr(module, "__name__", "") == "vroot"


def scan_elsewhere(source: str | Path, out: str | Path | None, **options: Any) -> dict[str, Any]:
    """Scan a ROOT file in a process in which uproot is uproot; parameters as of `vroot.scan`.

    Returns
    -------
    dict
        The references.

    Raises
    ------
    DeserializationError
        If the process ends without an answer.
    VrootError, ImportError, OSError, TypeError, ValueError
        As `vroot.scan` does.
    """
    progress = options.pop("progress", None)
    paths = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    environment = os.environ | {
        "PYTHONPATH": os.pathsep.join(path for path in paths if path and path != FOLDER)
    }
    package = str(Path(__file__).parents[2])
    with subprocess.Popen(  # noqa: S603  # this Python and this package
        [sys.executable, "-P", "-c", SCAN.format(package)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as process:
        if process.stdin is None or process.stdout is None:
            raise DeserializationError(f"{source}: there is no process that could scan it")
        question = {"source": source, "out": out, "progress": progress is not None} | options
        with contextlib.suppress(BrokenPipeError):  # it has died: said below
            process.stdin.write(pickle.dumps(question))
            process.stdin.close()
        while True:
            try:
                kind, content = pickle.load(process.stdout)  # noqa: S301  # from our own process
            except (EOFError, pickle.UnpicklingError):
                raise DeserializationError(
                    f"{source} cannot be scanned: the process that does it ended without an answer"
                ) from None
            if kind == "progress":
                progress(*content)
            elif kind == "error":
                raise content
            else:
                references: dict[str, Any] = content
                return references


def answer_with_scan() -> None:
    """Scan what standard input says, and write what comes of it to standard output."""
    from vroot.scanner.scan import scan_file  # noqa: PLC0415  # which imports uproot

    options: Mapping[str, Any] = pickle.load(sys.stdin.buffer)  # noqa: S301  # from our own process
    stdout = sys.stdout.buffer
    # Nothing that uproot may print gets between the answers.
    sys.stdout = sys.stderr

    def answer(kind: str, content: Any) -> None:
        pickle.dump((kind, content), stdout)
        stdout.flush()

    def report(*progress: Any) -> None:
        answer("progress", progress)

    wanted = report if options["progress"] else None
    try:
        answer("references", scan_file(**(dict(options) | {"progress": wanted})))
    except (VrootError, ImportError, OSError, TypeError, ValueError) as error:
        answer("error", error)
