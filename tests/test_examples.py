"""Each example runs as it stands."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = sorted((Path(__file__).parent.parent / "examples").glob("*.py"))

#: A line of each that only the right result prints.
EXPECTED = {
    "plain_zarr.py": "[ 99960004  99980001 100000000 100020001 100040004]",
    "quickstart.py": "200000 events have two muons",
}


def test_all_are_known() -> None:
    assert [path.name for path in EXAMPLES] == sorted(EXPECTED)


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_example(path: Path) -> None:
    result = subprocess.run(
        [sys.executable, "-W", "error", path],
        check=False,
        capture_output=True,
        text=True,
        env={"PYTHONUTF8": "1"},
    )
    assert result.returncode == 0, result.stderr
    assert EXPECTED[path.name] in result.stdout
