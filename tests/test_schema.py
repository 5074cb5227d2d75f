"""The model as JSON documents and back, and documents that are none."""

from __future__ import annotations

from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vroot.exceptions import ReferenceStoreError
from vroot.format.interpretations import Programs, decode_interpretation, encode_interpretation
from vroot.format.nodes import (
    decode_root,
    decode_runs,
    decode_spec,
    encode_branch,
    encode_node,
    encode_root,
    encode_runs,
)
from vroot.metadata import interpretations as kinds
from vroot.metadata import specs as model
from vroot.metadata.interpretations import AsDtype, Interpretation, Program, Unsupported
from vroot.metadata.specs import BranchSpec, DirectorySpec, Source

ANY_TIME = settings(deadline=None)
UUID = "d5a1f1f2-1234-11ee-9999-0123456789ab"
SOURCE = Source("data.root", 5000, UUID, "00")
TEXT = st.text("aZ é/%;\n", max_size=5)
TITLE = st.text("aé%\udcff\udc80", max_size=5)  # bytes that are no UTF-8 are kept as well
COUNT = st.integers(0, 2**62)
STORED: list[model.Stored] = ["raw", "blocks", "mixed", "zlib", "zstd", "xz"]

FLAT = {"kind": "flat", "from_dtype": ">f4"}
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
def packed(draw: st.DrawFn) -> kinds.AsDouble32 | kinds.AsFloat16:
    classes: list[type[kinds.AsDouble32 | kinds.AsFloat16]] = [kinds.AsDouble32, kinds.AsFloat16]
    cls = draw(st.sampled_from(classes))
    ends = st.floats(-1e6, 1e6)
    low, high = draw(st.just((0.0, 0.0)) | st.tuples(ends, ends).filter(lambda t: t[0] < t[1]))
    return cls(low, high, draw(st.integers(2, 32)), draw(SHAPES))


@st.composite
def strided(draw: st.DrawFn) -> kinds.AsStridedObjects:
    dtype = np.dtype(draw(STRUCTS))
    records = draw(st.dictionaries(TEXT, TEXT, max_size=2)) | {"": draw(TEXT)}
    return kinds.AsStridedObjects(dtype, records, draw(st.integers(0, 255)), draw(TEXT))


#: The forms of objects are JSON, which the model keeps as the text that is written for it.
FORMS = st.dictionaries(TEXT, COUNT | TEXT | st.lists(TEXT), max_size=3).map(
    lambda form: msgspec.json.encode(form).decode()
)
PROGRAMS = st.builds(Program, TEXT, FORMS, st.just("") | FORMS)
NUMERICAL: st.SearchStrategy[kinds.Numerical] = flats() | packed() | strided()
INTERPRETATIONS: st.SearchStrategy[Interpretation] = (
    NUMERICAL
    | st.builds(kinds.AsJagged, NUMERICAL, st.integers(0, 255))
    | st.builds(kinds.AsStrings, st.integers(0, 255), st.sampled_from(["1-5", "4"]))
    | st.builds(kinds.AsBits, st.booleans())
    | st.builds(kinds.AsObjects, PROGRAMS, TEXT)
    | st.builds(kinds.AsGrouped, TEXT)
    | st.builds(
        kinds.AsInline,
        FORMS,
        st.dictionaries(TEXT, st.binary(max_size=9), max_size=3),
        TEXT,
        st.just("") | FORMS,
    )
    | st.builds(kinds.AsInstances, TEXT, TEXT, st.booleans(), st.lists(COUNT | TEXT, max_size=3))
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
        case kinds.AsJagged(content, header):
            border = entries * header + items * content.itemsize
        case kinds.AsStrings(header):
            border = entries * (header + 4) + items
        case kinds.AsBits():
            border = entries * 4 + items * 2
        case kinds.AsObjects():
            border = entries + items
        case Unsupported() | kinds.AsGrouped() | kinds.AsInline():
            entries = border = np.zeros(0, np.int64)
        case numerical:
            border = entries * numerical.itemsize
    offsets = draw(st.booleans()) or isinstance(interpretation, kinds.AsObjects)
    table = model.BasketTable(
        entries, border + 4 * (entries + 2) * offsets, border, draw(st.sampled_from(STORED))
    )
    total = int(entries.sum()) if entries.size else 0
    if isinstance(interpretation, Unsupported | kinds.AsGrouped | kinds.AsInline):
        total = draw(COUNT)
    parts = (st.just(total), st.just(interpretation), st.just(table))
    rest = (st.none() | TEXT, COUNT, COUNT, st.booleans())
    return draw(st.builds(BranchSpec, TEXT, TITLE, TEXT, TEXT, *parts, *rest))


def through_json(attributes: dict[str, Any]) -> Any:
    """A document as a store gives it back."""
    document = {"zarr_format": 3, "node_type": "group", "attributes": attributes}
    return msgspec.json.decode(msgspec.json.encode(document))


def decoded_programs(programs: Programs) -> list[Program]:
    """What the root of a store says of its programs."""
    root = encode_root(DirectorySpec("", "", "TFile", 1), [SOURCE], "vroot 0", programs)
    return decode_root(through_json(root))[1]


def columns_of(table: model.BasketTable) -> list[list[int]]:
    columns = (table.entries, table.uncompressed_bytes, table.border_bytes)
    return [column.tolist() for column in columns]


# --- there and back


@given(INTERPRETATIONS)
@ANY_TIME
def test_an_interpretation_survives(interpretation: Interpretation) -> None:
    programs = Programs()
    encoded = through_json(encode_interpretation(interpretation, programs))["attributes"]
    assert decode_interpretation(encoded, decoded_programs(programs)) == interpretation


@given(branches())
@ANY_TIME
def test_a_branch_survives(spec: BranchSpec) -> None:
    programs = Programs()
    document = through_json(encode_branch(spec, programs))
    decoded = decode_spec(spec.name, document, decoded_programs(programs))
    assert isinstance(decoded, BranchSpec)
    if len(spec.baskets) == 0:  # how none are stored is not said
        assert len(decoded.baskets) == 0
    else:
        assert columns_of(decoded.baskets) == columns_of(spec.baskets)
        assert decoded.baskets.stored == spec.baskets.stored
        assert decoded.baskets.entries.dtype == np.int64
    # All but the tables, which are arrays and not compared by ==.
    assert msgspec.structs.replace(decoded, baskets=spec.baskets) == spec


ALIASES = st.dictionaries(TEXT, TEXT)
DATA = st.dictionaries(TEXT, COUNT | TEXT | st.lists(COUNT | st.none()), max_size=3)
NODES: st.SearchStrategy[DirectorySpec | model.ObjectSpec | model.NTupleSpec | model.TreeSpec] = (
    st.builds(DirectorySpec, TEXT, TITLE, TEXT, COUNT)
    | st.builds(model.ObjectSpec, TEXT, TITLE, TEXT, COUNT, st.none() | DATA, TEXT)
    | st.builds(model.NTupleSpec, TEXT, TITLE, TEXT, COUNT, COUNT, DATA)
    | st.builds(model.TreeSpec, TEXT, TITLE, TEXT, COUNT, COUNT, ALIASES, COUNT, COUNT)
)


@given(NODES)
@ANY_TIME
def test_a_node_without_chunks_survives(
    spec: DirectorySpec | model.ObjectSpec | model.NTupleSpec | model.TreeSpec,
) -> None:
    assert decode_spec(spec.name, through_json(encode_node(spec))) == spec


@given(
    st.lists(st.builds(Source, TEXT, COUNT, st.just(UUID), TEXT), min_size=1),
    st.lists(PROGRAMS, max_size=4),
)
@ANY_TIME
def test_the_root_survives(sources: list[Source], programs: list[Program]) -> None:
    spec = DirectorySpec("", "a title", "TFile", 1)
    kept = Programs()
    numbers = [kept.number(program) for program in programs]
    document = through_json(encode_root(spec, sources, "vroot 0", kept))
    decoded_sources, decoded = decode_root(document)
    assert decoded_sources == sources
    # Each program is there once, under its number.
    assert [decoded[number] for number in numbers] == programs
    assert len(decoded) == len(set(programs))
    assert decode_spec("", document) == spec


@pytest.mark.parametrize(
    ("interpretation", "expected"),
    [
        (AsDtype(np.dtype(">f4")), FLAT),
        (
            AsDtype(np.dtype((">f4", (2, 3))), np.dtype(("<f8", (2, 3)))),
            {"kind": "flat", "from_dtype": [">f4", [2, 3]], "to_dtype": ["<f8", [2, 3]]},
        ),
        (
            AsDtype(np.dtype([("x", ">i4"), ("y", "|u1", (2,))])),
            {"kind": "flat", "from_dtype": {"fields": [["x", ">i4"], ["y", ["|u1", [2]]]]}},
        ),
        (kinds.AsBits(), {"kind": "bits"}),
        (kinds.AsBits(jagged=True), {"kind": "bits", "jagged": True}),
        (
            kinds.AsJagged(AsDtype(np.dtype(">f4")), 10),
            {"kind": "jagged", "content": FLAT, "header_bytes": 10},
        ),
        (kinds.AsStrings(), {"kind": "strings"}),
        (kinds.AsStrings(6, "4"), {"kind": "strings", "header_bytes": 6, "length_bytes": "4"}),
        (
            kinds.AsDouble32(-1.0, 1.0, 8, (2,)),
            {"kind": "double32", "low": -1.0, "high": 1.0, "num_bits": 8, "to_dims": [2]},
        ),
        (kinds.AsFloat16(0, 1, 9), {"kind": "float16", "low": 0, "high": 1, "num_bits": 9}),
        (Unsupported("because"), {"kind": "unsupported", "reason": "because"}),
    ],
    ids=str,
)
def test_the_format_of_an_interpretation(
    interpretation: Interpretation, expected: dict[str, Any]
) -> None:
    # What FORMAT.md promises to readers in other languages: to change it is another schema.
    encoded = through_json(encode_interpretation(interpretation, Programs()))["attributes"]
    assert encoded == expected
    assert decode_interpretation(expected) == interpretation


def test_a_struct_with_gaps_is_not_written() -> None:
    padded = np.dtype({"names": ["x"], "formats": [">f4"], "offsets": [10], "itemsize": 14})
    with pytest.raises(ValueError, match="not a packed struct"):
        encode_interpretation(AsDtype(padded), Programs())


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
    assert decode_runs(runs).tolist() == values
    # A pair is longer than a number, and than two of one digit.
    assert all(isinstance(run, int) or run[1] >= 3 for run in runs)


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ([], []),
        ([7, 7], [7, 7]),
        ([7, 7, 7], [(7, 3)]),
        ([5, 5, 5, 7, 2, 2, 0, 0, 0, 0], [(5, 3), 7, 2, 2, (0, 4)]),
    ],
)
def test_examples_of_runs(values: list[int], expected: list[Any]) -> None:
    assert encode_runs(np.array(values, np.int64)) == expected


def branch_of_bytes(entries: Any, uncompressed: Any, num_entries: int) -> BranchSpec:
    """What a document says of a branch of single bytes."""
    own = {
        "node": "branch",
        "interpretation": {"kind": "flat", "from_dtype": "|u1"},
        "baskets": {"entries": entries, "uncompressed_bytes": uncompressed},
    }
    root = {"classname": "TBranch", "num_entries": num_entries}
    spec = decode_spec("b", {"attributes": {"root": root, "vroot": own}})
    assert isinstance(spec, BranchSpec)
    return spec


def test_runs_are_read_in_any_mixture() -> None:
    spec = branch_of_bytes([[2, 3], 1, [4, 0], [5, 1]], [2, 2, [2, 1], 1, 5], 12)
    assert spec.baskets.entries.tolist() == [2, 2, 2, 1, 5]
    assert spec.baskets.stored == "raw"
    assert spec.baskets.border_bytes.tolist() == [2, 2, 2, 1, 5]


@pytest.mark.parametrize(
    ("entries", "message"),
    [
        ([[1, -1]], "repeated -1 to -1 times"),
        ([[1, 3], [1, -(10**18)]], f"repeated -{10**18} to 3 times"),
        ([[1, 10**18]], f"to {10**18} times"),
        ([[1, 10**30]], f"to {10**30} times"),
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
    # The branch cannot be read, and says why; the others of the tree can.
    spec = branch_of_bytes(entries, [1], 1)
    assert isinstance(spec.interpretation, Unsupported)
    assert "contradicts itself" in spec.interpretation.reason
    assert message in spec.interpretation.reason
    assert len(spec.baskets) == 0


# --- what is no document

NO_DTYPES: list[Any] = [
    *(None, 5, [], {}, "", "nothing", "O", "S3", "V4", "M8[s]", ">c8"),
    *("(,)f4", "f4,f4", "2f4", "()f4"),  # NumPy takes some of these, or raises a SyntaxError
    *([">f4", shape] for shape in ([0], [-1], [10**30], ["x"], [None], [1.5], 3, [2**29])),
    *({"fields": fields} for fields in ([], [["x"]], ["xy"], [["x", ">f4"], ["x", ">f4"]])),
]
RANGE: dict[str, Any] = {"low": 0, "high": 1, "num_bits": 8}
NO_INTERPRETATIONS: list[Any] = [
    *(None, [], {}, "flat", {"kind": "other"}, {"kind": None}, {"kind": "flat"}),
    *({"kind": "flat", "from_dtype": dtype} for dtype in NO_DTYPES),
    *({"kind": "flat", "from_dtype": ">f4", "to_dtype": dtype} for dtype in NO_DTYPES[1:]),
    *({"kind": "jagged", "content": content} for content in (None, {}, {"kind": "strings"})),
    *({"kind": "jagged", "content": FLAT, "header_bytes": n} for n in (-1, 256, 1.5, "1")),
    *({"kind": "strings", "header_bytes": n} for n in (-1, 256, 10**30)),
    *({"kind": "strings", "length_bytes": n} for n in ("2", 4, None)),
    *({"kind": "double32"} | RANGE | {"low": low} for low in (1, 2, None, "0")),
    *({"kind": "float16"} | RANGE | {"num_bits": n} for n in (1, 33, -1, 10**30)),
    *({"kind": "float16"} | RANGE | {"to_dims": dims} for dims in ([0], [10**18], [1] * 99, 3)),
    *({"kind": "program", "program": number} for number in (0, -1, 10**30, "0")),
    {"kind": "inline", "form": {}, "buffers": {"node0-data": "!"}},
    {"kind": "strided", "from_dtype": ">f4", "records": {"": "P"}},
    {"kind": "strided", "from_dtype": {"fields": [["x", ">f4"]]}, "records": {}},
    {"kind": "unsupported"},
]


@pytest.mark.parametrize("encoded", NO_INTERPRETATIONS, ids=str)
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
        decode_root(document)


@pytest.mark.parametrize("schema", [None, 0, 2, -1, 10**30])
def test_another_schema_is_refused_with_what_wrote_it(schema: int | None) -> None:
    attributes = encode_root(DirectorySpec("", "", "TFile", 1), [SOURCE], "vroot 9.9", Programs())
    attributes["vroot"]["schema"] = schema
    with pytest.raises(ReferenceStoreError, match=rf"schema {schema} \(written by vroot 9\.9\)"):
        decode_root(through_json(attributes))


def test_a_store_without_a_source_is_refused() -> None:
    attributes = encode_root(DirectorySpec("", "", "TFile", 1), [], "vroot", Programs())
    with pytest.raises(ReferenceStoreError, match="names no source"):
        decode_root(through_json(attributes))
