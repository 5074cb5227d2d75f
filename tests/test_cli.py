"""The command line, on a small ROOT file that uproot writes."""

from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import awkward as ak
import numpy as np
import pytest
import uproot

import vroot
from vroot.cli import main
from vroot.exceptions import KeyInFileError
from vroot.metadata.interpretations import Unsupported

if TYPE_CHECKING:
    from collections.abc import Callable

LISTS = [[1.5, 2.5], [], [3.5], [4.5, 5.5, 6.5], [7.5], [], [8.5]]
PT = np.array([0.5, np.nan, np.inf, -np.inf, 1e-3, 2.0, 3.0], np.float32)


@pytest.fixture
def root_file(tmp_path: Path) -> Path:
    path = tmp_path / "data.root"
    with uproot.recreate(path) as file:
        tree = file.mktree(
            "Events",
            {"MET_pt": "float32", "[bold]": "int64", "Jet_pt": "var * float64", "text": "string"},
            title="all events",
        )
        tree.extend(
            {
                "MET_pt": PT,
                "[bold]": np.arange(7),
                "Jet_pt": ak.Array(LISTS),
                "text": ak.Array(["a", "b", "[c]", "d\ne", "f" * 99, "", "é"]),
            }
        )
        file.mktree("deep/er/Small", {"x": "int32"}).extend({"x": np.arange(3, dtype=np.int32)})
        file["hist"] = np.histogram([1.0, 2.0, 2.5], bins=2)
    return path


@pytest.fixture
def refs(root_file: Path, capsys: pytest.CaptureFixture[str]) -> str:
    assert main(["scan", str(root_file)]) == 0
    capsys.readouterr()
    return f"{root_file}.refs.json"


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[[Any], None]:
    """Make a stream pass for a terminal of 40 columns."""

    def pretend(stream: Any) -> None:
        monkeypatch.setattr(stream, "isatty", lambda: True)
        monkeypatch.setenv("COLUMNS", "40")
        monkeypatch.setenv("TERM", "xterm")

    return pretend


def unstyled(text: str) -> list[str]:
    """Lines of what a terminal shows, which all fit."""
    lines = re.sub(r"\x1b\[[0-9;?]*[a-zA-Z]", "", text).splitlines()
    assert max(map(len, lines)) <= 40
    return lines


def run(*args: str, code: str = "", **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command in a process of its own, as its console script does."""
    script = code or "import sys; from vroot.cli import main; sys.exit(main())"
    command = [sys.executable, "-c", script, *args]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    return subprocess.run(command, text=True, check=False, **(streams | options))


def usage_error(*args: str) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(args)
    assert stopped.value.code == 2


# --- scan -----------------------------------------------------------------------------------------


def test_scan_writes_beside_the_file(root_file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["scan", str(root_file)]) == 0
    output = Path(f"{root_file}.refs.json")
    out, err = capsys.readouterr()
    assert out == (
        f"{output}: trees 2, branches 6, baskets 6, unsupported branches 0, "
        f"bytes {output.stat().st_size}\n"
    )
    assert err == ""
    assert vroot.open(f"{output}:Events").num_entries == 7


def test_scan_summary_as_json(
    root_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "r.json.zst"
    assert main(["scan", str(root_file), "-o", str(output), "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [
        {
            "source": str(root_file),
            "output": str(output),
            "trees": 2,
            "branches": 6,
            "baskets": 6,
            "unsupported_branches": 0,
            "objects": 1,
            "unsupported_objects": 0,
            "output_bytes": output.stat().st_size,
        }
    ]


def test_scan_publishes_url(root_file: Path, tmp_path: Path) -> None:
    output = tmp_path / "r.json"
    assert main(["scan", str(root_file), "-o", str(output), "--url", "https://x.org/d.root"]) == 0
    assert json.loads(output.read_text())["templates"] == {"s0": "https://x.org/d.root"}


def test_scan_of_several_files_into_a_folder(
    root_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    other = tmp_path / "other.root"
    other.write_bytes(root_file.read_bytes())
    assert main(["scan", str(root_file), str(other), "-o", f"{tmp_path}/new/"]) == 0
    written = [tmp_path / "new" / f"{name}.root.refs.json" for name in ("data", "other")]
    assert [line.split(": ")[0] for line in capsys.readouterr().out.splitlines()] == [
        str(path) for path in written
    ]
    assert [vroot.open(path)["Events"].num_entries for path in written] == [7, 7]


def test_scan_goes_on_after_a_bad_file(
    root_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    bad = tmp_path / "bad.root"
    bad.write_bytes(b"root, it says")
    missing = tmp_path / "missing.root"
    assert main(["scan", str(bad), str(missing), str(root_file)]) == 1
    out, err = capsys.readouterr()
    assert out.startswith(f"{root_file}.refs.json: trees 2, ")
    assert [line.startswith("vroot: error: ") for line in err.splitlines()] == [True, True]
    assert "missing.root" in err
    assert sorted(path.name for path in tmp_path.glob("*.json")) == ["data.root.refs.json"]


@pytest.mark.parametrize(
    "args",
    [
        ["a.root", "b.root", "--url", "https://x.org/a.root"],
        ["a.root", "b.root", "-o", "refs.json"],
        ["a/x.root", "b/x.root", "-o", "out/"],
        ["https://x.org/a.root"],
        ["a.root:Events"],
        ["a.root", "-o", "s3://bucket/refs.json"],
        ["a.root", "-o", "a.root"],
        [],
    ],
)
def test_scan_refuses_wrong_usage(
    args: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    usage_error("scan", *args)
    assert list(tmp_path.rglob("*.json*")) == []


def test_scan_shows_progress_on_a_terminal(
    root_file: Path, capsys: pytest.CaptureFixture[str], terminal: Callable[[Any], None]
) -> None:
    terminal(sys.stderr)
    assert main(["scan", str(root_file)]) == 0
    out, err = capsys.readouterr()
    assert "data.root" in err
    assert out.count("\n") == 1
    assert main(["scan", str(root_file), "--quiet"]) == 0
    assert capsys.readouterr().err == ""


def test_scan_without_rich_shows_no_progress(
    root_file: Path,
    capsys: pytest.CaptureFixture[str],
    terminal: Callable[[Any], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setitem(sys.modules, "rich", None)
    terminal(sys.stderr)
    assert main(["scan", str(root_file)]) == 0
    assert capsys.readouterr().err == ""


# --- ls and show ----------------------------------------------------------------------------------


def test_ls_of_a_directory(refs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", refs]) == 0
    lines = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == ["name", "classname", "title", "num_entries"]
    assert ["Events;1", "TTree", "all", "events", "7"] in lines
    assert [line[:2] for line in lines if line[0].startswith("deep")] == [["deep;1", "TDirectory"]]


def test_ls_recursive_as_json(refs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", "-r", "--json", refs]) == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert set(rows) == {"Events;1", "deep;1", "deep/er;1", "deep/er/Small;1", "hist;1"}
    assert rows["deep/er/Small;1"]["num_entries"] == 3
    assert rows["hist;1"]["classname"] == "TH1D"
    assert rows["hist;1"]["num_entries"] is None


def test_ls_of_trees_and_branches(refs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["ls", "--json", f"{refs}:Events"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["name"] for row in rows] == ["MET_pt", "[bold]", "nJet_pt", "Jet_pt", "text"]
    assert rows[0] == {"name": "MET_pt", "typename": "float", "title": "MET_pt/F"}
    assert main(["ls", "--json", f"{refs}:Events/MET_pt"]) == 0
    assert json.loads(capsys.readouterr().out) == rows[:1]


def test_ls_of_a_root_file_is_that_of_its_references(
    refs: str, root_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["ls", "-r", refs]) == 0
    expected = capsys.readouterr().out
    assert main(["ls", "-r", str(root_file)]) == 0
    assert capsys.readouterr().out == expected


def test_ls_on_a_terminal_shows_names_that_look_like_markup(
    refs: str, capsys: pytest.CaptureFixture[str], terminal: Callable[[Any], None]
) -> None:
    terminal(sys.stdout)
    assert main(["ls", f"{refs}:Events"]) == 0
    lines = unstyled(capsys.readouterr().out)
    assert ["[bold]", "int64_t", "[bold]/L"] in [line.split() for line in lines]
    assert "────" in lines[2]


def test_ls_without_rich_is_plain(
    refs: str,
    capsys: pytest.CaptureFixture[str],
    terminal: Callable[[Any], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert main(["ls", f"{refs}:Events"]) == 0
    piped = capsys.readouterr().out
    assert piped.splitlines()[1].startswith("-------")
    monkeypatch.setitem(sys.modules, "rich", None)
    terminal(sys.stdout)
    assert main(["ls", f"{refs}:Events"]) == 0
    assert capsys.readouterr().out == piped


@pytest.mark.parametrize(
    ("options", "arguments"),
    [
        ([], {}),
        (["--name-width", "6", "--typename-width=9"], {"name_width": 6, "typename_width": 9}),
        (["--interpretation-width", "50"], {"interpretation_width": 50}),
        (
            ["--filter-name", "*Jet*", "--filter-name", "/met_/i"],
            {"filter_name": ["*Jet*", "/met_/i"]},
        ),
    ],
)
def test_show_is_uproots(
    refs: str,
    root_file: Path,
    options: list[str],
    arguments: dict[str, Any],
    capsys: pytest.CaptureFixture[str],
) -> None:
    expected = io.StringIO()
    with uproot.open(f"{root_file}:Events") as tree:
        tree.show(stream=expected, **arguments)
    assert main(["show", f"{refs}:Events", *options]) == 0
    assert capsys.readouterr().out == expected.getvalue()


@pytest.mark.parametrize(
    "option", [["--name-width", "2"], ["--name-width", "x"], ["--filter-name", "/(/"]]
)
def test_show_refuses_wrong_usage(refs: str, option: list[str]) -> None:
    usage_error("show", f"{refs}:Events", *option)


# --- head -----------------------------------------------------------------------------------------


def test_head_prints_a_table(refs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["head", f"{refs}:Events", "-n", "5"]) == 0
    out, err = capsys.readouterr()
    lines = out.splitlines()
    assert lines[0].split() == ["entry", "MET_pt", "[bold]", "nJet_pt", "Jet_pt", "text"]
    assert lines[2].split() == ["0", "0.5", "0", "2", "[1.5,", "2.5]", "a"]
    assert lines[5].split() == ["3", "-inf", "3", "3", "[4.5,", "5.5,", "6.5]", r"d\ne"]
    assert lines[6].split()[-1] == "f" * 31 + "…"
    assert len(lines) == 7
    assert err == ""


def test_head_as_json_is_valid_and_complete(refs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["head", f"{refs}:Events", "MET_pt", "Jet_pt", "text", "-n", "99", "--json"]) == 0
    records = json.loads(capsys.readouterr().out, parse_constant=pytest.fail)
    assert [record["MET_pt"] for record in records] == [
        float(value) if np.isfinite(value) else None for value in PT
    ]
    assert [record["Jet_pt"] for record in records] == LISTS
    assert records[3] == {"MET_pt": None, "Jet_pt": LISTS[3], "text": "d\ne"}
    assert records[6]["text"] == "é"


@pytest.mark.parametrize(
    ("options", "expected"),
    [
        (["--start", "2", "-n", "3"], [2, 3, 4]),
        (["--start", "-2"], [5, 6]),
        (["--start", "-99", "-n", "1"], [0]),
        (["--start", "99"], []),
        (["-n", "0"], []),
        ([], [0, 1, 2, 3, 4]),
    ],
)
def test_head_range(
    refs: str, options: list[str], expected: list[int], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["head", f"{refs}:Events", "[bold]", "--json", *options]) == 0
    assert [record["[bold]"] for record in json.loads(capsys.readouterr().out)] == expected
    assert main(["head", f"{refs}:Events/[bold]", *options]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["entry", "[bold]"]
    assert [line.split() for line in lines[2:]] == [[str(i), str(i)] for i in expected]


def test_head_leaves_out_what_cannot_be_read(
    refs: str, root_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with uproot.open(f"{root_file}:Events/text") as branch:
        payload = branch.basket_key(0).data_cursor.index
    # Past the header of the file, which tells whether it is the one that was scanned.
    assert payload > 512
    content = bytearray(root_file.read_bytes())
    content[payload + 14 : payload + 26] = bytes(12)
    root_file.write_bytes(content)
    assert main(["head", f"{refs}:Events", "--json", "-n", "1"]) == 0
    out, err = capsys.readouterr()
    assert json.loads(out) == [{"MET_pt": 0.5, "[bold]": 0, "nJet_pt": 2, "Jet_pt": [1.5, 2.5]}]
    assert err.startswith("vroot: left out text: ")
    assert err.count("\n") == 1
    assert main(["head", f"{refs}:Events", "text"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("vroot: error: ")


def test_head_tells_the_reason_of_what_is_not_supported(
    refs: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(vroot.TBranch, "interpretation", Unsupported("too odd"))
    assert main(["head", f"{refs}:deep/er/Small", "--json"]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.splitlines() == [
        "vroot: left out x: too odd",
        "vroot: error: /deep/er/Small;1 has no branch that can be read",
    ]


def test_head_on_a_narrow_terminal_splits_the_table(
    refs: str, capsys: pytest.CaptureFixture[str], terminal: Callable[[Any], None]
) -> None:
    terminal(sys.stdout)
    assert main(["head", f"{refs}:Events", "-n", "2"]) == 0
    lines = [line.split() for line in unstyled(capsys.readouterr().out)]
    assert [line for line in lines if "entry" in line] == [
        ["entry", "MET_pt", "[bold]", "nJet_pt"],
        ["entry", "Jet_pt", "text"],
    ]
    assert ["0", "[1.5,", "2.5]", "a"] in lines


# --- errors ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["ls", "nowhere.json"], "nowhere.json"),
        (["ls", "{refs}:Evnts"], "Did you mean: 'Events"),
        (["head", "{refs}:Events", "MET_p"], "Did you mean: 'MET_pt'"),
        (["show", "{refs}"], "not a tree or branch"),
        (["ls", "{refs}:hist"], "not a tree or branch"),
    ],
)
def test_error_is_one_line(
    refs: str, args: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([arg.format(refs=refs) for arg in args]) == 1
    out, err = capsys.readouterr()
    assert out == ""
    assert err.startswith("vroot: error: ")
    assert message in err
    assert err.count("\n") == 1


@pytest.mark.filterwarnings("always::vroot.exceptions.StaleReferencesWarning")
def test_stale_sidecar_is_a_line_of_warning(
    refs: str, root_file: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with uproot.recreate(root_file) as file:
        file.mktree("More", {"x": "int32"}).extend({"x": np.arange(3, dtype=np.int32)})
    assert main(["ls", str(root_file)]) == 0
    out, err = capsys.readouterr()
    assert "More;1" in out
    assert err.startswith(f"vroot: warning: {refs} is not used")
    assert err.count("\n") == 1


@pytest.mark.parametrize("before", [True, False])
def test_traceback_on_demand(refs: str, before: bool) -> None:
    command = ["ls", f"{refs}:nothing"]
    with pytest.raises(KeyInFileError, match="nothing"):
        main(["--traceback", *command] if before else [*command, "--traceback"])


def test_interrupt_is_one_line(
    refs: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(vroot, "open", interrupted)
    assert main(["ls", refs]) == 130
    assert capsys.readouterr() == ("", "vroot: interrupted\n")


def test_exit_codes_of_the_process(refs: str) -> None:
    good = run("ls", refs)
    assert (good.returncode, good.stderr) == (0, "")
    bad = run("ls", f"{refs}:nothing")
    assert (bad.returncode, bad.stdout) == (1, "")
    assert bad.stderr.startswith("vroot: error: not found: 'nothing'")
    assert "Traceback" not in bad.stderr
    told = run("--traceback", "ls", f"{refs}:nothing")
    assert told.returncode == 1
    assert "Traceback" in told.stderr
    wrong = run("lss", refs)
    assert (wrong.returncode, wrong.stdout) == (2, "")
    assert "usage: vroot" in wrong.stderr


def test_closed_pipe_is_no_error(refs: str) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    with os.fdopen(writer, "w") as pipe:
        ended = run("ls", refs, stdout=pipe)
    assert (ended.returncode, ended.stderr) == (0, "")


def test_output_of_other_encodings(refs: str) -> None:
    ended = run(
        "head", f"{refs}:Events", "text", "-n7", env=os.environ | {"PYTHONIOENCODING": "ascii"}
    )
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.splitlines()[-1].split() == ["6", r"\xe9"]


# --- start-up -------------------------------------------------------------------------------------


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--version"])
    assert stopped.value.code == 0
    assert capsys.readouterr().out == f"vroot {vroot.__version__}\n"


@pytest.mark.parametrize(
    "args", [["--help"], ["scan", "--help"], ["ls", "{refs}"], ["show", "{refs}:Events"]]
)
def test_nothing_heavy_is_imported(refs: str, args: list[str]) -> None:
    code = (
        "import atexit, sys\n"
        "heavy = {'awkward', 'fsspec', 'pandas', 'rich', 'uproot', 'zarr'}\n"
        "atexit.register(lambda: print(sorted(heavy & set(sys.modules)), file=sys.stderr))\n"
        "from vroot.cli import main\n"
        "sys.exit(main())\n"
    )
    ended = run(*(arg.format(refs=refs) for arg in args), code=code)
    assert ended.stdout != ""
    assert (ended.returncode, ended.stderr) == (0, "[]\n")


def test_head_does_not_need_uproot(refs: str) -> None:
    code = (
        "import sys\nsys.modules['uproot'] = None\nfrom vroot.cli import main\nsys.exit(main())\n"
    )
    ended = run("head", f"{refs}:deep/er/Small", "-n", "1", code=code)
    assert (ended.returncode, ended.stderr) == (0, "")
    assert ended.stdout.split() == ["entry", "x", "-----", "-", "0", "0"]


def test_rntuple(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "ntuple.root"
    with uproot.recreate(path) as file:
        file.mkrntuple("events", {"x": np.arange(4), "y": np.arange(4) / 2})
    assert main(["scan", str(path), "-q"]) == 0
    capsys.readouterr()
    refs = f"{path}.refs.json"
    assert main(["ls", refs, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)
    assert row["classname"] == "ROOT::RNTuple"
    assert row["num_entries"] == 4
    assert main(["ls", f"{refs}:events", "--json"]) == 0
    assert [each["name"] for each in json.loads(capsys.readouterr().out)] == ["x", "y"]
    assert main(["show", f"{refs}:events"]) == 0
    assert "y (double)" in capsys.readouterr().out
    assert main(["head", f"{refs}:events", "-n", "2", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"x": 0, "y": 0.0}, {"x": 1, "y": 0.5}]
    assert main(["head", f"{refs}:events", "y", "--start", "3", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == [{"y": 1.5}]


def test_options_and_names_in_any_order(refs: str, capsys: pytest.CaptureFixture[str]) -> None:
    printed = []
    for arguments in (
        [f"{refs}:Events", "MET_pt", "Jet_pt", "-n", "2"],
        [f"{refs}:Events", "-n", "2", "MET_pt", "Jet_pt"],
        ["-n", "2", f"{refs}:Events", "MET_pt", "--start", "0", "Jet_pt"],
    ):
        assert main(["head", *arguments]) == 0
        printed.append(capsys.readouterr().out)
    assert printed[0] == printed[1] == printed[2]
    assert "MET_pt" in printed[0]


def test_patterns(refs: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["head", f"{refs}:Events", "*_pt", "-n", "1", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)[0]) == ["MET_pt", "nJet_pt", "Jet_pt"]
    assert main(["head", f"{refs}:Events", "/^jet/i", "-n", "1", "--json"]) == 0
    assert list(json.loads(capsys.readouterr().out)[0]) == ["Jet_pt"]
    # An expression may have the characters of a pattern.
    assert main(["head", f"{refs}:Events", "MET_pt*2", "-n", "1", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["MET_pt*2"] == 1.0
    assert main(["head", f"{refs}:Events", "no?thing*"]) == 1
    assert "'no?thing*'" in capsys.readouterr().err


def test_usage_of_the_command(refs: str, capsys: pytest.CaptureFixture[str]) -> None:
    for arguments in (["head", refs, "--nothing"], ["head"], ["scan", "-o"]):
        with pytest.raises(SystemExit, match="2"):
            main(arguments)
        assert capsys.readouterr().err.startswith(f"usage: vroot {arguments[0]} ")


def test_python_m_vroot(refs: str) -> None:
    command = [sys.executable, "-m", "vroot", "ls", refs]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert "Events;1" in done.stdout
