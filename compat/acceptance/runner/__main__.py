"""Run scripts of users, with uproot or with vroot in its place, and write what they found.

    python -m compat.acceptance.runner uproot|vroot jobs.json found.json

The jobs are ``[[script, argument, …], …]``; what is found is, by script, its ``result`` as plain
data, or the traceback.
"""

from __future__ import annotations

import json
import runpy
import sys
import traceback
import warnings
from pathlib import Path

from compat.acceptance.runner.plain import plain

__all__ = ["run"]


def run(script: str, arguments: list[str]) -> object:
    """Run one script in a namespace of its own.

    Parameters
    ----------
    script : str
        Its path.
    arguments : list of str
        Its arguments.

    Returns
    -------
    object
        Its result as plain data, or the end of the traceback.
    """
    sys.argv = [script, *arguments]
    try:
        with warnings.catch_warnings():
            # awkward-pandas and NumPy 2, fork in a process with threads: not what is compared.
            warnings.simplefilter("ignore")
            return plain(runpy.run_path(script)["result"])
    except Exception as err:  # noqa: BLE001  # whatever a script raises is what is to be compared
        return {"raised": traceback.format_exception(err)[-4:]}


def main() -> None:
    """Run what the command line says."""
    implementation, jobs, found = sys.argv[1:]
    if implementation == "vroot":
        from vroot.as_uproot.running import take_the_name

        take_the_name()
    results = {
        Path(script).stem: run(script, arguments)
        for script, *arguments in json.loads(Path(jobs).read_text())
    }
    if implementation == "vroot" and "vroot.scanner.scan" in sys.modules:
        raise RuntimeError("a file was scanned, although its references are beside it")
    Path(found).write_text(json.dumps(results))


if __name__ == "__main__":
    main()
