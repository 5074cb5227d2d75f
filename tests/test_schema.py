"""The model as JSON documents and back, and documents that are none."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vroot.exceptions import ReferenceStoreError
from vroot.interpretations import (
    AsDouble32,
    AsDtype,
    AsFloat16,
    AsJagged,
    AsStrings,
    Interpretation,
    Numerical,
    Unsupported,
)
from vroot.model import (
    BasketTable,
    BranchSpec,
    DirectorySpec,
    NTupleSpec,
    ObjectSpec,
    Source,
    Stored,
    TreeSpec,
)
from vroot.schema import (
    decode_interpretation,
    decode_sources,
    decode_spec,
    encode_branch,
    encode_interpretation,
    encode_node,
    encode_root,
    encode_runs,
)

ANY_TIME = settings(deadline=None)
UUID = "d5a1f1f2-1234-11ee-9999-0123456789ab"
TEXT = st.text("aZ é/%;\n", max_size=5)
COUNT = st.integers(0, 2**62)
STORED: list[Stored] = ["raw", "blocks", "mixed", "zlib", "zstd", "xz"]

SCALARS = st.sampled_from(["|b1", "|i1", "|u1", ">i2", ">u4", ">i8", ">f4", ">f8", "<u2"])
SHAPES = st.lists(st.integers(1, 4), max_size=3).map(tuple)
STRUCTS = st.lists(
    st.tuples(st.text("abc/@é", min_size=1, max_size=4), SCALARS, SHAPES),
    min_size=1,
    max_size=4,
    unique_by=lambda field: field[0],
)


@st.composite
def flats(draw: st.DrawFn) -> AsDtype:
    base: Any = draw(SCALARS | STRUCTS)
    shape = draw(SHAPES)
    wide = draw(st.booleans()) if isinstance(base, str) else False
    to_dtype = np.dtype((np.float64, shape)) if wide else None
    return AsDtype(np.dtype((base, shape)) if shape else np.dtype(base), to_dtype)


@st.composite
def packed(draw: st.DrawFn) -> AsDouble32 | AsFloat16:
    classes: list[type[AsDouble32 | AsFloat16]] = [AsDouble32, AsFloat16]
    cls = draw(st.sampled_from(classes))
    ends = st.floats(-1e6, 1e6)
    low, high = draw(st.just((0.0, 0.0)) | st.tuples(ends, ends).filter(lambda t: t[0] < t[1]))
    return cls(low, high, draw(st.integers(2, 32)), draw(SHAPES))


NUMERICAL: st.SearchStrategy[Numerical] = flats() | packed()
INTERPRETATIONS: st.SearchStrategy[Interpretation] = (
    NUMERICAL
    | st.builds(AsJagged, NUMERICAL, st.integers(0, 255))
    | st.builds(AsStrings, st.integers(0, 255), st.sampled_from(["1-5", "4"]))
    | st.builds(Unsupported, TEXT, TEXT, st.booleans())
)


@st.composite
def branches(draw: st.DrawFn) -> BranchSpec:
    interpretation = draw(INTERPRETATIONS)
    entries = np.array(draw(st.lists(st.integers(0, 5) | COUNT.map(lambda n: n >> 30))), np.int64)
    items = np.array(
        draw(st.lists(st.integers(0, 3), min_size=entries.size, max_size=entries.size)), np.int64
    )
    match interpretation:
        case AsJagged(content, header):
            border = entries * header + items * content.itemsize
        case AsStrings():
            border = entries + items
        case Unsupported():
            entries = border = np.zeros(0, np.int64)
        case numerical:
            border = entries * numerical.itemsize
    offsets = draw(st.booleans())
    table = BasketTable(
        entries, border + 4 * (entries + 2) * offsets, border, draw(st.sampled_from(STORED))
    )
    total = draw(COUNT) if isinstance(interpretation, Unsupported) else int(entries.sum())
    name, title, typename, classname = (draw(TEXT) for _ in range(4))
    return BranchSpec(
        name,
        title,
        typename,
        classname,
        total,
        interpretation,
        table,
        count_branch=draw(st.none() | TEXT),
        compressed_bytes=draw(COUNT),
        uncompressed_bytes=draw(COUNT),
        split=draw(st.booleans()),
    )


def through_json(attributes: dict[str, Any]) -> Any:
    """A document as a store gives it back."""
    document = {"zarr_format": 3, "node_type": "group", "attributes": attributes}
    return msgspec.json.decode(msgspec.json.encode(document))


def columns_of(table: BasketTable) -> tuple[list[int], list[int], list[int], str]:
    return (
        table.entries.tolist(),
        table.uncompressed_bytes.tolist(),
        table.border_bytes.tolist(),
        table.stored,
    )


# --- there and back


@given(INTERPRETATIONS)
@ANY_TIME
def test_an_interpretation_survives(interpretation: Interpretation) -> None:
    encoded = msgspec.json.decode(msgspec.json.encode(encode_interpretation(interpretation)))
    assert decode_interpretation(encoded) == interpretation


@given(branches())
@ANY_TIME
def test_a_branch_survives(spec: BranchSpec) -> None:
    decoded = decode_spec(spec.name, through_json(encode_branch(spec)))
    assert isinstance(decoded, BranchSpec)
    if len(spec.baskets) == 0:  # how none are stored is not said
        assert len(decoded.baskets) == 0
    else:
        assert columns_of(decoded.baskets) == columns_of(spec.baskets)
        assert decoded.baskets.entries.dtype == np.int64
    # All but the tables, which are arrays and not compared by ==.
    assert msgspec.structs.replace(decoded, baskets=spec.baskets) == spec


DATA = st.dictionaries(TEXT, COUNT | TEXT | st.lists(COUNT | st.none()), max_size=3)
NODES: st.SearchStrategy[DirectorySpec | ObjectSpec | NTupleSpec | TreeSpec] = (
    st.builds(DirectorySpec, TEXT, TEXT, TEXT, COUNT)
    | st.builds(ObjectSpec, TEXT, TEXT, TEXT, COUNT, st.none() | DATA, TEXT)
    | st.builds(NTupleSpec, TEXT, TEXT, TEXT, COUNT, COUNT, DATA)
    | st.builds(TreeSpec, TEXT, TEXT, TEXT, COUNT, COUNT, st.dictionaries(TEXT, TEXT), COUNT, COUNT)
)


@given(NODES)
@ANY_TIME
def test_a_node_without_chunks_survives(
    spec: DirectorySpec | ObjectSpec | NTupleSpec | TreeSpec,
) -> None:
    assert decode_spec(spec.name, through_json(encode_node(spec))) == spec


@given(st.lists(st.builds(Source, TEXT, COUNT, st.just(UUID), TEXT, st.none() | TEXT)))
@ANY_TIME
def test_the_sources_survive(sources: list[Source]) -> None:
    spec = DirectorySpec("", "a title", "TFile", 1)
    document = through_json(encode_root(spec, sources, "vroot 0"))
    assert decode_sources(document) == sources
    assert decode_spec("", document) == spec


@pytest.mark.parametrize(
    ("interpretation", "expected"),
    [
        (AsDtype(np.dtype(">f4")), {"kind": "flat", "from_dtype": ">f4"}),
        (
            AsDtype(np.dtype((">f4", (2, 3))), np.dtype(("<f8", (2, 3)))),
            {"kind": "flat", "from_dtype": [">f4", [2, 3]], "to_dtype": ["<f8", [2, 3]]},
        ),
        (
            AsDtype(np.dtype([("x", ">i4"), ("y", "|u1", (2,))])),
            {"kind": "flat", "from_dtype": {"fields": [["x", ">i4"], ["y", ["|u1", [2]]]]}},
        ),
        (
            AsJagged(AsDtype(np.dtype("|b1")), 10),
            {
                "kind": "jagged",
                "content": {"kind": "flat", "from_dtype": "|b1"},
                "header_bytes": 10,
            },
        ),
        (AsStrings(), {"kind": "strings"}),
        (AsStrings(6, "4"), {"kind": "strings", "header_bytes": 6, "length_bytes": "4"}),
        (
            AsDouble32(-1.0, 1.0, 8, (2,)),
            {"kind": "double32", "low": -1.0, "high": 1.0, "num_bits": 8, "to_dims": [2]},
        ),
        (
            AsFloat16(0.0, 0.0, 12),
            {"kind": "float16", "low": 0.0, "high": 0.0, "num_bits": 12},
        ),
        (Unsupported("because"), {"kind": "unsupported", "reason": "because"}),
    ],
    ids=str,
)
def test_the_format_of_an_interpretation(
    interpretation: Interpretation, expected: dict[str, Any]
) -> None:
    # What FORMAT.md promises to readers in other languages: to change it is another schema.
    assert through_json(encode_interpretation(interpretation))["attributes"] == expected
    assert decode_interpretation(expected) == interpretation


def test_a_struct_with_gaps_is_not_written() -> None:
    padded = np.dtype({"names": ["x"], "formats": [">f4"], "offsets": [10], "itemsize": 14})
    with pytest.raises(ValueError, match="not a packed struct"):
        encode_interpretation(AsDtype(padded))


# --- run-length encoding


def repeated(runs: list[Any]) -> list[int]:
    """What a list of runs stands for, written out."""
    values: list[int] = []
    for run in runs:
        values += [run] if isinstance(run, int) else [run[0]] * run[1]
    return values


@given(st.lists(st.integers(0, 3) | COUNT, max_size=30))
@ANY_TIME
def test_runs_stand_for_the_same_numbers(values: list[int]) -> None:
    runs = encode_runs(np.array(values, np.int64))
    assert repeated(runs) == values
    # A pair is longer than a number, and than two of one digit.
    assert all(isinstance(run, int) or run[1] >= 3 for run in runs)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], []),
        ([7], [7]),
        ([7, 7], [7, 7]),
        ([7, 7, 7], [(7, 3)]),
        ([5, 5, 5, 7, 2, 2, 0, 0, 0, 0], [(5, 3), 7, 2, 2, (0, 4)]),
    ],
)
def test_examples_of_runs(values: list[int], expected: list[Any]) -> None:
    assert encode_runs(np.array(values, np.int64)) == expected


def branch_document(
    entries: Any, uncompressed: Any, num_entries: int, kind: str = "unsupported", **baskets: Any
) -> dict[str, Any]:
    interpretation = {"kind": "flat", "from_dtype": "|u1"} if kind == "flat" else {"kind": kind}
    if kind == "unsupported":
        interpretation["reason"] = ""
    rows = {"entries": entries, "uncompressed_bytes": uncompressed} | baskets
    root = {"classname": "TBranch", "num_entries": num_entries}
    own = {"node": "branch", "interpretation": interpretation, "baskets": rows}
    return {"attributes": {"root": root, "vroot": own}}


def test_runs_are_read_in_any_mixture() -> None:
    document = branch_document([[2, 3], 1, [4, 0], [5, 1]], [2, 2, [2, 1], 1, 5], 12, "flat")
    spec = decode_spec("b", document)
    assert isinstance(spec, BranchSpec)
    assert spec.baskets.entries.tolist() == [2, 2, 2, 1, 5]
    assert spec.baskets.stored == "raw"
    assert spec.baskets.border_bytes.tolist() == [2, 2, 2, 1, 5]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([[1, -1]], "repeated -1 to -1 times"),
        ([[1, 3], [1, -(10**18)]], f"repeated -{10**18} to 3 times"),
        ([[1, 10**18]], f"to {10**18} times"),
        ([[1, 10**30]], "too large"),
        ([10**30], "too large"),
        ([[1, 2**26], 1], f"{2**26 + 1} baskets in one branch: more than {2**26}"),
        ([[1, 2**26]] * 100, f"{100 * 2**26} baskets in one branch"),
        ([-1], "a basket has -1 entries"),
        ([1, 1], "2 baskets have entries, 1 have uncompressed lengths"),
    ],
)
def test_hostile_runs_are_refused_before_they_are_written_out(
    entries: list[Any], message: str
) -> None:
    with pytest.raises(ReferenceStoreError, match=message) as caught:
        decode_spec("the_branch", branch_document(entries, [1], 1))
    assert "the_branch" in str(caught.value)


# --- what is no document


@pytest.mark.parametrize(
    "encoded",
    [
        None,
        [],
        {},
        "flat",
        {"kind": "other"},
        {"kind": "flat"},
        {"kind": "flat", "from_dtype": None},
        {"kind": "flat", "from_dtype": "nothing"},
        {"kind": "flat", "from_dtype": "O"},
        {"kind": "flat", "from_dtype": "S3"},
        {"kind": "flat", "from_dtype": [">f4", [0]]},
        {"kind": "flat", "from_dtype": [">f4", [-1]]},
        {"kind": "flat", "from_dtype": [">f4", [10**30]]},
        {"kind": "flat", "from_dtype": [">f4", ["x"]]},
        {"kind": "flat", "from_dtype": [">f4", [None]]},
        {"kind": "flat", "from_dtype": [">f4", 3]},
        {"kind": "flat", "from_dtype": {"fields": []}},
        {"kind": "flat", "from_dtype": {"fields": [["x"]]}},
        {"kind": "flat", "from_dtype": {"fields": [["x", ">f4"], ["x", ">f4"]]}},
        {"kind": "flat", "from_dtype": ">f4", "to_dtype": "O"},
        {"kind": "jagged"},
        {"kind": "jagged", "content": {"kind": "strings"}},
        {"kind": "jagged", "content": {"kind": "flat", "from_dtype": ">f4"}, "header_bytes": 256},
        {"kind": "strings", "length_bytes": "2"},
        {"kind": "strings", "header_bytes": -1},
        {"kind": "double32", "low": 1, "high": 0, "num_bits": 8},
        {"kind": "double32", "low": 0, "high": 1, "num_bits": 10**30},
        {"kind": "float16", "low": 0, "high": 1, "num_bits": 8, "to_dims": [10**18]},
    ],
    ids=str,
)
def test_what_is_no_interpretation_is_refused(encoded: Any) -> None:
    with pytest.raises(ReferenceStoreError):
        decode_interpretation(encoded)


def test_a_dtype_nested_without_end_is_refused() -> None:
    dtype: Any = ">f4"
    for _ in range(5000):
        dtype = [dtype, [1]]
    with pytest.raises(ReferenceStoreError, match="recursion"):
        decode_interpretation({"kind": "flat", "from_dtype": dtype})


JSON_VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text("flat>4[", max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=8,
)


@given(JSON_VALUES)
@ANY_TIME
def test_any_json_is_refused_as_a_document(document: Any) -> None:
    # Nothing so random has the two attributes that a node needs.
    with pytest.raises(ReferenceStoreError):
        decode_spec("x", document)
    with pytest.raises(ReferenceStoreError):
        decode_sources(document)


@pytest.mark.parametrize("schema", [None, 0, 2, -1, 10**30])
def test_another_schema_is_refused_with_what_wrote_it(schema: int | None) -> None:
    attributes = encode_root(DirectorySpec("", "", "TFile", 1), [], "vroot 9.9")
    attributes["vroot"]["schema"] = schema
    with pytest.raises(ReferenceStoreError, match=rf"schema {schema} \(written by vroot 9\.9\)"):
        decode_sources(through_json(attributes))
