"""The comparison finds differences: what it cannot see, it cannot guard."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import pytest

from compat.census.arrays import compare_buffers, compare_forms, take_apart
from compat.census.comparison import main
from compat.census.marks import Mark, find_correction
from compat.census.ranges import byteswapped, sub_ranges
from compat.census.records import ArrayRecord, BranchRecord, FailureRecord, RangeRecord, Status
from compat.census.verdict import Reading, judge
from compat.census.workers import Worker, WorkerError

ARRAY = ArrayRecord("2 * int32", "{}", 2, [])
FAILED = FailureRecord("ValueError", "no")
REFUSED = Reading(refusal=FailureRecord("UnsupportedError", "AsObjects of T"))
READ = Reading()
MARK = Mark("AsObjects", "AsObjects of", typename="T")


def differences(expected: Any, got: Any) -> list[str]:
    left, right = take_apart(ak.Array(expected)), take_apart(ak.Array(got))
    found = compare_forms(left.form, right.form) + compare_buffers(left.buffers, right.buffers)
    if left.type != right.type:
        found.append("type")
    return found


def lists(offsets_dtype: str, start: int = 0) -> ak.contents.ListOffsetArray:
    offsets = ak.index.Index(np.array([0, 2, 5], offsets_dtype) + np.array(start, offsets_dtype))
    return ak.contents.ListOffsetArray(offsets, ak.contents.NumpyArray(np.arange(9) % 5))


class TestArrays:
    @pytest.mark.parametrize(
        "array",
        [
            np.arange(5, dtype=np.int16),
            np.zeros((3, 2), np.float32),
            np.empty(0, np.float64),
            [[1.5, 2.5], [], [3.5]],
            ["a", "", "bc"],
            [{"x": 1, "y": [1.0]}, {"x": 2, "y": []}],
        ],
    )
    def test_same(self, array: Any) -> None:
        assert differences(array, array) == []

    @pytest.mark.parametrize(
        ("expected", "got"),
        [
            (np.arange(5, dtype=np.int16), np.arange(5, dtype=np.int32)),
            (np.arange(5, dtype=np.int16), np.arange(5, dtype=np.uint16)),
            ([1.0, 2.0], [1.0, 2.5]),
            ([0.0], [-0.0]),
            ([np.nan], [1.0]),
            ([1.0], [np.nan]),
            (np.zeros((3, 2)), np.zeros((2, 3))),
            ([[1], [2, 3]], [[1, 2], [3]]),
            (["ab"], [b"ab"]),
            ([{"x": 1, "y": 2}], [{"y": 2, "x": 1}]),
            ([{"x": 1}], [{"z": 1}]),
            ([(1, 2)], [{"0": 1, "1": 2}]),
            (np.zeros((2, 3)), ak.to_regular([[0.0, 0, 0], [0, 0, 0]])),
            (lists("i4"), lists("i8")),
            (lists("i8"), lists("i8", start=1)),
            ([{"x": 1}], ak.with_name([{"x": 1}], "Point")),
            ([1, 2], ak.with_parameter([1, 2], "__doc__", "title")),
        ],
    )
    def test_different(self, expected: Any, got: Any) -> None:
        assert differences(expected, got) != []

    def test_any_nan_is_the_same(self) -> None:
        other = np.array([0x7FF8000000000001], np.uint64).view(np.float64)
        assert differences([np.nan], other) == []

    def test_what_no_list_reaches_does_not_matter(self) -> None:
        content = ak.contents.NumpyArray(np.array([9, 0, 1, 2, 3, 4, 9]))
        offsets = ak.index.Index64(np.array([1, 3, 6]))
        assert differences(lists("i8"), ak.contents.ListOffsetArray(offsets, content)) == []

    def test_difference_of_forms_is_located(self) -> None:
        left, right = take_apart(ak.Array(["a"])), take_apart(ak.Array([b"a"]))
        assert compare_forms(left.form, right.form) == [
            'form.content.parameters.__array__: expected "char", got "byte"'
        ]


@pytest.mark.parametrize(
    ("entry_offsets", "ranges"),
    [
        ([0], []),
        ([0, 0], []),
        ([0, 1], []),
        ([0, 2], [(1, 2)]),
        ([0, 9], [(3, 6), (4, 5)]),
        ([0, 9, 18, 27], [(3, 24), (17, 19)]),
        ([0, 1, 2], []),
    ],
)
def test_sub_ranges(entry_offsets: list[int], ranges: list[tuple[int, int]]) -> None:
    assert sub_ranges(entry_offsets) == ranges


def test_byteswapped() -> None:
    array = ak.Array([{"a": 1, "b": {"c": 256}}, {"a": 2, "b": {"c": 1}}])
    swapped = byteswapped(array, "b")
    assert swapped.a.tolist() == [1, 2]
    assert swapped.b.c.tolist() == [1 << 48, 1 << 56]
    assert swapped.layout.form == array.layout.form


def test_find_correction() -> None:
    assert find_correction("uproot-issue-513.root", "demcent/_pos") is not None
    assert find_correction("uproot-issue-513.root", "demcent/_time") is None
    assert find_correction("uproot-issue-514.root", "demcent/_pos") is None


def branch(
    *outcomes: ArrayRecord | FailureRecord,
    kind: str = "AsDtype scalar",
    typename: str = "T",
    correction: str = "",
) -> BranchRecord:
    return BranchRecord(
        index_path=(0,),
        name="b",
        name_path="b",
        kind=kind,
        interpretation_class="AsDtype",
        typename=typename,
        interpretation="AsDtype('>i4')",
        title="",
        num_entries=2,
        num_baskets=1,
        entry_offsets=[0, 2],
        num_branches=0,
        ranges=[RangeRecord(0, 2, outcome) for outcome in outcomes],
        correction=correction,
    )


class TestJudge:
    @pytest.mark.parametrize(
        ("record", "readings", "status"),
        [
            (branch(ARRAY, ARRAY), [READ, READ], Status.IDENTICAL),
            (branch(ARRAY, correction="x"), [READ], Status.UPROOT_WRONG),
            (branch(FAILED), [REFUSED], Status.UPROOT_CANNOT),
            (branch(FAILED), [Reading(error=FAILED)], Status.UPROOT_CANNOT),
            (branch(FAILED, correction="x"), [Reading(error=FAILED)], Status.UPROOT_WRONG),
            (branch(FAILED, correction="x"), [READ], Status.ONLY_VROOT),
            (branch(FAILED), [READ], Status.ONLY_VROOT),
            (branch(FAILED), [Reading(crash=FAILED)], Status.DIFFERENT),
            (branch(ARRAY), [Reading(crash=FAILED)], Status.DIFFERENT),
            (branch(ARRAY), [Reading(error=FAILED)], Status.REFUSED),
            (branch(ARRAY), [REFUSED], Status.REFUSED),
            (branch(ARRAY, ARRAY), [READ, Reading(differences=("x",))], Status.DIFFERENT),
            (branch(ARRAY, ARRAY), [READ, REFUSED], Status.DIFFERENT),
            (branch(ARRAY, FAILED), [READ, READ], Status.DIFFERENT),
            (branch(ARRAY, FAILED), [READ, REFUSED], Status.IDENTICAL),
            (branch(ARRAY, kind="AsObjects"), [REFUSED], Status.NOT_YET),
            (branch(ARRAY, kind="AsObjects", typename="U"), [REFUSED], Status.REFUSED),
            (branch(ARRAY, kind="AsObjects"), [READ], Status.UNEXPECTED),
            (branch(ARRAY, kind="AsObjects", typename="U"), [READ], Status.IDENTICAL),
            (
                branch(ARRAY, kind="AsObjects"),
                [Reading(refusal=FailureRecord("UnsupportedError", "another reason"))],
                Status.REFUSED,
            ),
            (
                branch(ARRAY, kind="AsObjects"),
                [Reading(differences=("x",))],
                Status.DIFFERENT,
            ),
        ],
    )
    def test_status(self, record: BranchRecord, readings: list[Reading], status: Status) -> None:
        assert judge(record, [], readings, [MARK])[0] is status

    def test_what_a_branch_says_of_itself_counts(self) -> None:
        status, details = judge(branch(ARRAY), ["title: expected 'a', got 'b'"], [READ], [])
        assert (status, details) == (Status.DIFFERENT, ("title: expected 'a', got 'b'",))


class TestWorker:
    @pytest.fixture(autouse=True)
    def _importable(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Let the workers import this package, however pytest was started."""
        monkeypatch.syspath_prepend(Path(__file__).parents[2])

    def test_an_error_is_reported_and_the_next_call_works(self, tmp_path: Path) -> None:
        worker = Worker("oracle", 60)
        try:
            for _ in range(2):
                with pytest.raises(WorkerError, match="FileNotFoundError") as caught:
                    worker(tmp_path / "missing.root", tmp_path)
                assert "Traceback" in caught.value.trace
        finally:
            worker.close()

    def test_too_slow(self, tmp_path: Path) -> None:
        worker = Worker("oracle", 0.01)
        with pytest.raises(WorkerError, match=r"took more than 0\.01 s"):
            worker(tmp_path / "missing.root", tmp_path)
        assert worker.close() is None


class TestMain:
    def test_no_such_folder(
        self, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        monkeypatch.setenv("VROOT_ROOTFILES", "/no/such/folder")
        assert main([]) == 2
        assert "not a folder" in capsys.readouterr().err

    def test_no_files(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.setenv("VROOT_ROOTFILES", str(tmp_path))
        assert main([]) == 2

    def test_a_broken_file_fails(self, tmp_path: Path) -> None:
        (tmp_path / "broken.root").write_bytes(b"toor" + bytes(100))
        run = subprocess.run(
            [sys.executable, "-m", "compat.census", "--jobs", "1"],
            cwd=Path(__file__).parents[2],
            env={**os.environ, "VROOT_ROOTFILES": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.returncode == 1
        assert run.stdout.splitlines()[-1] == "0 passed, 1 failed"
