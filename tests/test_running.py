"""``vroot run``: scripts of uproot, with vroot in its place."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import vroot
from vroot.exceptions import DeserializationError, KeyInFileError
from vroot.scanner.elsewhere import FOLDER, has_the_name, scan_elsewhere

#: As the command does, without the current folder in the path.
VROOT = [sys.executable, "-P", "-c", "import sys; from vroot.cli import main; sys.exit(main())"]


def python(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run python in a folder, where this package is found."""
    return _run([sys.executable, *arguments], folder)


def vroot_run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    return _run([*VROOT, "run", *arguments], folder)


def _run(command: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=folder, check=False, capture_output=True, text=True)


@pytest.fixture
def script(tmp_path: Path) -> Path:
    path = tmp_path / "scripts" / "script.py"
    path.parent.mkdir()
    (path.parent / "beside.py").write_text("NAME = 'beside the script'\n")
    return path


def test_what_is_imported(script: Path) -> None:
    script.write_text(
        "import uproot, uproot.exceptions, uproot.interpretation.jagged\n"
        "import uproot.behaviors.TTree as behavior\n"
        "from uproot import TTree, recreate\n"
        "from uproot.behaviors.TBranch import HasBranches\n"
        "import vroot\n"
        "assert uproot is vroot\n"
        "assert behavior.TTree is TTree is vroot.TTree\n"
        "assert uproot.behaviors.TBranch.HasBranches is HasBranches\n"
        "assert uproot.exceptions.KeyInFileError is vroot.KeyInFileError\n"
        "assert 'uproot.models' in __import__('sys').modules\n"
        "from uproot import nothing\n"
    )
    done = vroot_run(script.parent, script.name)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith(
        "ImportError: cannot import name 'nothing' from 'vroot'"
    )


STATE = """
import sys, beside
print(__name__, __file__, sys.argv, sys.path[0], beside.NAME)
print("to stderr", file=sys.stderr)
def fail(): return 1 / 0
if "fail" in sys.argv: fail()
if "code" in sys.argv: sys.exit(7)
if "text" in sys.argv: sys.exit("a reason")
"""


@pytest.mark.parametrize(
    "arguments",
    [
        ("scripts/script.py",),
        ("scripts/script.py", "-m", "--help", "--", "--traceback", "code"),
        ("scripts/script.py", "fail"),
        ("scripts/script.py", "text"),
        ("-m", "scripts.script", "-x"),
        ("-m", "scripts.script", "fail"),
        ("scripts/nothing.py",),
        ("-m", "scripts.nothing"),
    ],
)
def test_a_script_runs_as_python_runs_it(script: Path, arguments: tuple[str, ...]) -> None:
    """Its name, arguments and paths, what it prints, its traceback, its exit code."""
    script.write_text(STATE if arguments[0] != "-m" else STATE.replace(", beside", "").replace(
        ", beside.NAME", ""))  # fmt: skip
    expected = python(script.parents[1], *arguments)
    found = vroot_run(script.parents[1], *arguments)
    assert (found.returncode, found.stdout) == (expected.returncode, expected.stdout)
    errors = [re.sub(r"^\S+: can't", "python: can't", done.stderr) for done in (found, expected)]
    assert errors[0] == errors[1]


def test_usage() -> None:
    done = _run([*VROOT, "run"], Path.cwd())
    assert done.returncode == 2
    assert "the following arguments are required: SCRIPT" in done.stderr


READ = """
import sys, uproot
def count(path):
    assert uproot.__name__ == "vroot"
    with uproot.open(path) as file:
        return file["Events"].num_entries
if __name__ == "__main__":
    print(count(sys.argv[1]))
    import multiprocessing
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        print(*pool.map(count, sys.argv[1:]))
"""


def test_root_files_without_references(script: Path, zlib_file: Path) -> None:
    """The scanner has uproot itself; and processes that the script starts have vroot too."""
    script.write_text(READ)
    done = vroot_run(script.parent, script.name, str(zlib_file))
    assert done.returncode == 0, done.stderr
    assert done.stdout.split() == ["1000", "1000"]


def test_errors_of_the_scan(script: Path) -> None:
    (script.parent / "no.root").write_text("root? no")
    script.write_text(
        "import uproot\n"
        "for path in ('missing.root', 'no.root'):\n"
        "    try:\n"
        "        uproot.open(path)\n"
        "    except (FileNotFoundError, uproot.DeserializationError) as err:\n"
        "        print(type(err).__name__)\n"
    )
    done = vroot_run(script.parent, script.name)
    assert done.stdout.split() == ["FileNotFoundError", "DeserializationError"], done.stderr


def test_a_scan_elsewhere(zlib_file: Path, tmp_path: Path) -> None:
    """It is the same scan."""
    steps: list[tuple[str, int, int]] = []
    options = {"url": None, "storage_options": None, "inline_limit_bytes": 1000}
    out = tmp_path / "refs.json"
    found = scan_elsewhere(zlib_file, out, progress=lambda *step: steps.append(step), **options)
    assert found == vroot.scan(zlib_file, tmp_path / "expected.json", inline_limit_bytes=1000)
    assert out.read_bytes() == (tmp_path / "expected.json").read_bytes()
    assert steps[-1][1] == steps[-1][2] > 0
    with pytest.raises(KeyInFileError, match="no_such"):
        scan_elsewhere(f"{zlib_file}:no_such", None, **options)


def test_a_scan_that_gives_no_answer(
    zlib_file: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(
        "vroot.scanner.elsewhere.SCAN", "import sys; sys.stdin.read(); sys.exit('{:.0}gone')"
    )
    with pytest.raises(DeserializationError, match="ended without an answer"):
        scan_elsewhere(zlib_file, None)
    assert capfd.readouterr().err == "gone\n"


def test_the_scan_is_done_elsewhere_where_vroot_has_the_name(
    zlib_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert not has_the_name()
    monkeypatch.syspath_prepend(FOLDER)
    monkeypatch.setenv("PYTHONPATH", FOLDER, prepend=os.pathsep)
    assert has_the_name()
    monkeypatch.setattr(
        "vroot.scanner.front.scan_elsewhere", lambda source, out, **_: {"source": source}
    )
    assert vroot.scan(zlib_file) == {"source": zlib_file}


def test_a_text_of_python(tmp_path: Path) -> None:
    code = "import sys, uproot, vroot; print(uproot is vroot, sys.argv)"
    done = vroot_run(tmp_path, "-c", code, "-n", "1")
    assert done.returncode == 0, done.stderr
    assert done.stdout == "True ['-c', '-n', '1']\n"


def test_a_folder_with_a_vroot_of_its_own(script: Path) -> None:
    (script.parent / "vroot.py").write_text("raise AssertionError('the wrong vroot')\n")
    script.write_text("import uproot, beside; print(uproot.open.__module__, beside.NAME)\n")
    done = vroot_run(script.parent, script.name)
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("vroot.")


def test_a_vroot_of_its_own_that_is_imported_first(script: Path) -> None:
    (script.parent / "vroot.py").write_text("NAME = 'mine'\n")
    script.write_text("import vroot, uproot\n")
    done = vroot_run(script.parent, script.name)
    assert done.returncode == 1
    assert "another module named vroot" in done.stderr.splitlines()[-1]
