"""The benchmarks, at sizes where their times say nothing: what they print, compare and refuse."""

from __future__ import annotations

import dataclasses
import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import uproot

from compat.bench import operations
from compat.bench.cases import CASES, WrongAnswerError, run_case
from compat.bench.generate import COMPRESSIONS, Data
from compat.bench.growth import Curve
from compat.bench.limit import find_payloads, read_all
from compat.bench.measure import Goal, Result
from compat.bench.memory import CLEAR_REFERENCES, peak_bytes
from compat.bench.run import main

SCALE = 0.005


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Data:
    return Data(tmp_path_factory.mktemp("bench"), SCALE)


def result(**figures: Any) -> Result:
    return dataclasses.replace(Result("name", "title", 6.0, 2.0, Goal()), **figures)


def test_a_run_prints_a_table_and_writes_json(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "figures.json"
    main(["small", "keys", "--scale", str(SCALE), "--repeat", "1", "--json", str(out)])
    printed = capsys.readouterr().out
    assert printed.startswith("cores ")
    assert f"uproot {uproot.__version__}" in printed
    assert "not judged at 0.005" in printed
    assert "≥ 10 x" in printed
    figures = json.loads(out.read_text())
    assert [row["case"] for row in figures["results"]] == ["small", "keys"]
    small, keys = figures["results"]
    assert small["ratio"] == pytest.approx(small["uproot_s"] / small["vroot_s"])
    assert small["of_limit"] == pytest.approx(small["vroot_s"] / small["limit_s"])
    assert keys["limit_s"] is None
    assert keys["goal"] == "≥ 10 x"


def test_a_run_refuses_what_it_does_not_know(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["nothing"])
    assert "unknown cases: ['nothing']" in capsys.readouterr().err


def test_a_case_that_needs_real_files_is_left_out_without_them(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("VROOT_ROOTFILES", str(tmp_path))
    main(["nested", "--scale", str(SCALE), "--repeat", "1"])
    assert "nested: left out: " in capsys.readouterr().out


def test_a_wrong_answer_is_not_timed(data: Data) -> None:
    case = dataclasses.replace(CASES["keys"], ours=lambda reader, files: ["another"])
    with pytest.raises(WrongAnswerError, match="keys: the answers differ"):
        run_case(case, data, 1)


def test_the_range_is_in_one_basket_of_50_columns(data: Data) -> None:
    files = data.tree("none")
    start, stop = operations.RANGE
    with uproot.open({files.root: None}) as file:
        tree = file[files.tree]
        assert len(tree.keys()) == 75
        columns = tree.values(filter_name=operations.RANGE_COLUMNS)
        assert len(columns) == 50
        for branch in columns:
            edges = branch.entry_offsets
            assert np.searchsorted(edges, start, "right") == np.searchsorted(edges, stop, "left")


@pytest.mark.parametrize("compression", COMPRESSIONS)
def test_the_limit_decompresses_every_basket(data: Data, compression: str) -> None:
    files, plain = data.tree(compression), data.tree("none")
    got = read_all(files.root, find_payloads(files.root, files.tree))
    # What is not compressed is all there between the keys, first the first branch.
    expected = read_all(plain.root, find_payloads(plain.root, plain.tree))
    run = data.events["run"]
    np.testing.assert_array_equal(expected[: run.nbytes].view(">u4"), run)
    with uproot.open({plain.root: None}) as file:
        assert expected.size == sum(
            branch.basket(i).member("fObjlen")
            for branch in file[plain.tree].itervalues()
            for i in range(branch.num_baskets)
        )
    np.testing.assert_array_equal(got, expected)


@pytest.mark.skipif(not CLEAR_REFERENCES.exists(), reason="peak memory is measured on Linux only")
def test_peak_memory_holds_what_was_read(data: Data) -> None:
    files = data.tree("none")
    size = files.root.stat().st_size
    for reader in ("uproot", "vroot"):
        peak = peak_bytes(reader, operations.whole, files)
        assert peak is not None
        assert size / 2 < peak < 10 * size


def test_goals() -> None:
    assert result(goal=Goal(ratio=3)).met is True
    assert result(goal=Goal(ratio=3.1)).met is False
    assert result(goal=Goal(seconds=1.9)).met is False
    assert result(limit_s=1.0, goal=Goal(ratio=3, of_limit=2.0)).met is True
    assert result(limit_s=0.9, goal=Goal(ratio=3, of_limit=2.0)).met is False
    assert result(uproot_bytes=10, vroot_bytes=7, goal=Goal(of_memory=0.6)).met is False
    assert result(goal=Goal(of_memory=0.6)).met is None
    assert str(Goal(ratio=5.5, of_limit=1.25)) == "≥ 5.5 x, ≤ 1.25 x limit"
    assert str(Goal(ratio=1 / 3)) == "≤ 3 x uproot"
    assert str(Goal(of_memory=0.6, seconds=0.25)) == "≤ 0.6 x memory, ≤ 0.25 s"


def test_slopes() -> None:
    numbers = (1, 2, 4, 8)
    linear, root = tuple(float(n) for n in numbers), tuple(math.sqrt(n) for n in numbers)
    curve = Curve("title", "baskets", numbers, linear, root)
    assert curve.slope(curve.uproot_s) == pytest.approx(1)
    assert curve.slope(curve.vroot_s) == pytest.approx(0.5)
