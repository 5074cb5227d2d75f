"""Programs of AwkwardForth: what is refused before it runs, and what is found out while it does."""

from __future__ import annotations

import struct
import subprocess
import sys
import textwrap
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import awkward as ak
import msgspec
import numpy as np
import pytest
from baskets import joined
from hypothesis import given
from hypothesis import strategies as st

from vroot.arrays.libraries import to_library
from vroot.decode.basket import Basket
from vroot.decode.forth import check_program, run_program
from vroot.decode.interpretation import Buffers
from vroot.decode.output import Objects
from vroot.exceptions import CorruptBasketError, ReferenceStoreError, VrootError
from vroot.io.fetching import Ranges, Use
from vroot.metadata.interpretations import AsObjects, Program
from vroot.metadata.specs import BasketTable, BranchSpec, Manifest
from vroot.read.columns import Column, read_columns

HEAD = "input stream input byteoffsets input bytestops "
STRINGS = HEAD + (
    "output node0-offsets int64 output node1-offsets int64 output node2-data uint8 "
    "0 node0-offsets <- stack 0 node1-offsets <- stack "
    "0 do byteoffsets I-> stack stream seek 6 stream skip stream !I-> stack "
    "dup node0-offsets +<- stack 0 do "
    "stream !B-> stack dup 255 = if drop stream !I-> stack then "
    "dup node1-offsets +<- stack stream #!B-> node2-data loop loop"
)
STRINGS_FORM = {
    "class": "ListOffsetArray",
    "offsets": "i64",
    "form_key": "node0",
    "content": {
        "class": "ListOffsetArray",
        "offsets": "i64",
        "parameters": {"__array__": "string"},
        "form_key": "node1",
        "content": {
            "class": "NumpyArray",
            "primitive": "uint8",
            "parameters": {"__array__": "char"},
            "form_key": "node2",
        },
    },
}
NUMBERS_FORM = {"class": "NumpyArray", "primitive": "int32", "form_key": "node0"}


def program(source: str, form: Any = NUMBERS_FORM) -> Program:
    return Program(source, msgspec.json.encode(form).decode())


def numbers(body: str, declarations: str = "") -> Program:
    """A program of int32 with a body for each entry."""
    source = f"{HEAD} output node0-data int32 {declarations} "
    return program(source + f"0 do byteoffsets I-> stack stream seek {body} loop")


def vectors_of_strings(entries: Sequence[Sequence[bytes]]) -> Basket:
    """The bytes of a branch of std::vector<std::string>."""
    pieces = []
    for entry in entries:
        content = struct.pack(">IHI", 0x40000000, 9, len(entry))
        for text in entry:
            long = len(text) >= 255
            content += b"\xff" + struct.pack(">I", len(text)) if long else bytes([len(text)])
            content += text
        pieces.append(content)
    offsets = np.cumsum([0, *map(len, pieces)])
    return Basket(np.frombuffer(b"".join(pieces), np.uint8), len(entries), offsets)


def read(which: Program, basket: Basket) -> ak.Array:
    buffers = Buffers(basket.entries, run_program(which, basket))
    return to_library(AsObjects(which), Objects(buffers, 0, basket.entries), "ak")


@given(st.lists(st.lists(st.text(max_size=300).map(str.encode)), max_size=5))
def test_vectors_of_strings(entries: list[list[bytes]]) -> None:
    array = read(program(STRINGS, STRINGS_FORM), vectors_of_strings(entries))
    assert array.to_list() == [[text.decode() for text in entry] for entry in entries]
    assert str(array.type) == f"{len(entries)} * var * string"


@given(st.data())
def test_a_damaged_length_is_found(data: st.DataObject) -> None:
    texts = st.lists(st.text("abc", max_size=9).map(str.encode), min_size=1, max_size=4)
    entries = data.draw(st.lists(texts, min_size=2, max_size=5))
    basket = vectors_of_strings(entries)
    entry = data.draw(st.integers(0, len(entries) - 1))
    assert basket.offsets is not None
    damaged = basket.data.copy()
    # The last byte of the number of strings: more or fewer do not end where the entry ends.
    damaged[basket.offsets[entry] + 9] ^= data.draw(st.integers(1, 255))
    with pytest.raises(CorruptBasketError, match=rf"entry {entry} of the basket"):
        run_program(program(STRINGS, STRINGS_FORM), Basket(damaged, basket.entries, basket.offsets))


@pytest.mark.parametrize("stop", [0, 1, 9, 10, 11])
def test_a_short_entry_is_found(stop: int) -> None:
    basket = vectors_of_strings([[b"ab"], [b"c"]])
    assert basket.offsets is not None
    offsets = basket.offsets.copy()
    offsets[1] = stop
    with pytest.raises(CorruptBasketError, match="entry 0"):
        run_program(program(STRINGS, STRINGS_FORM), Basket(basket.data, 2, offsets))


def test_a_skip_beyond_the_basket_is_found() -> None:
    basket = Basket(np.arange(8, dtype=np.uint8), 2, np.array([0, 4, 8]))
    with pytest.raises(CorruptBasketError, match=r"entry 0.*past the end"):
        run_program(numbers("stream !i-> node0-data 1000000 stream skip"), basket)


def test_no_offsets() -> None:
    with pytest.raises(CorruptBasketError, match="stores no offsets"):
        run_program(numbers("stream !i-> node0-data"), Basket(np.zeros(4, np.uint8), 1))


def test_the_simplest_program() -> None:
    basket = Basket(np.arange(8, dtype=np.uint8), 2, np.array([0, 4, 8]))
    array = read(numbers("stream !i-> node0-data"), basket)
    assert array.to_list() == [0x00010203, 0x04050607]


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("stream !i-> node0-data stream seek", "not allowed of the stream"),
        ("1 stream !i-> node0-data", "leaves 1 numbers"),
        ("drop stream !i-> node0-data", "needs 1 numbers"),
        ("5 0 do 1 node0-data <- stack loop", "does not read in each round"),
        ("5 0 do 0 stream skip loop", "does not read in each round"),
        ("5 0 do stream !i-> node0-data 1 loop", "changes the stack by 1"),
        ("begin 1 while stream !i-> node0-data again", "not allowed"),
        ("begin stream !i-> node0-data 1 while repeat", "must leave one number, and write nothing"),
        ("begin 1 while repeat", "does not read in each round"),
        ("stream !q-> stack", "one unsigned number"),
        ("stream !i-> stack", "one unsigned number"),
        ("stream #!I-> stack", "needs|unsigned number"),
        ("stream !d-> node0-data", "no output of float64"),
        ("stream !i-> node9-data", "no output of int32"),
        ("9999999999 stream skip", "larger than"),
        ("-4 stream skip", "not allowed"),
        ("1 if stream !i-> node0-data 1 then", "changes the stack"),
        (": f f ; f", "not allowed"),
        ("halt", "not allowed"),
        ('s" hello" stream !i-> node0-data', "not allowed"),
        ("node0-data rewind", "nothing is written"),
        ("1 pause", "not allowed"),
        ("stream !i-> node0-data loop loop", "follows the end"),
        ("1 dup + stream #!i-> node0-data", "only a written number may be added"),
        ("1 stream skip " + "1 drop " * 200, "execute words"),
        ("stream !i-> node0-data", "not complete"),
        ("1 stream skip " + "7 node0-data <- stack " * 100, "more than 64 for each"),
        ("9 0 do " * 40 + "1 stream skip " + "loop " * 40, "nested more than"),
    ],
)
def test_what_is_refused(body: str, message: str) -> None:
    which = numbers(body)
    if message == "not complete":
        which = program(which.source.removesuffix("loop"))
    with pytest.raises(ReferenceStoreError, match=message):
        check_program(which)


@pytest.mark.parametrize(
    "form",
    [
        {"class": "NumpyArray", "primitive": "int64", "form_key": "node0"},
        {"class": "NumpyArray", "primitive": "int32", "form_key": "node7"},
        {"class": "NumpyArray", "primitive": "int32", "inner_shape": [9], "form_key": "node0"},
        {"class": "NumpyArray"},
        {"class": "RegularArray", "size": -1, "content": NUMBERS_FORM},
        {"class": "UnionArray", "contents": []},
        {"class": "ListOffsetArray", "offsets": "i64", "content": NUMBERS_FORM, "form_key": "x"},
        {"class": "RecordArray", "contents": [{"class": "RecordArray"}], "fields": ["a"]},
        {},
        "int32",
    ],
)
def test_forms_that_do_not_fit(form: Any) -> None:
    with pytest.raises(ReferenceStoreError, match="the program is refused"):
        check_program(program(numbers("stream !i-> node0-data").source, form))


HOSTILE = """
import pathlib, random, resource, sys, time
sys.path.insert(0, {folder!r})
from test_forth import STRINGS, STRINGS_FORM, program, read, vectors_of_strings
from vroot.decode.basket import Basket
from vroot.exceptions import VrootError

# One gigabyte more than the interpreter and its libraries have mapped.
pages = int(pathlib.Path("/proc/self/statm").read_text().split()[0])
limit = pages * resource.getpagesize() + (1 << 30)
resource.setrlimit(resource.RLIMIT_AS, (limit, limit))

random.seed(7)
words = STRINGS.split()
more = words + ["0", "1", "255", "1000000", "4294967296", "-1", "begin", "while", "repeat", "again",
                "until", "pos", "seek", "skip", "dup", "swap", "drop", "+", "-", "*", "@", "!"]
basket = vectors_of_strings([[b"a" * random.randrange(300) for _ in range(20)] for _ in range(50)])
outcomes, longest = [0, 0], 0.0
for _ in range(1000):
    changed = list(words)
    data = basket.data.copy()
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(changed))
        change = random.randrange(5)
        if change == 0:
            del changed[at]
        elif change == 1:
            changed[at] = random.choice(more)
        elif change == 2:
            changed.insert(at, random.choice(more))
        elif change == 3:
            changed[at:at] = changed[at : at + random.randrange(20)]
        else:
            data[random.randrange(data.size)] = random.randrange(256)
    start = time.perf_counter()
    try:
        array = read(program(" ".join(changed), STRINGS_FORM), Basket(data, 50, basket.offsets))
        outcomes[0] += len(array) == 50
    except VrootError:
        outcomes[1] += 1
    longest = max(longest, time.perf_counter() - start)
print(sum(outcomes), outcomes[1], longest)
"""


@pytest.mark.skipif(
    not Path("/proc/self/statm").exists(), reason="the size of a process is Linux's"
)
def test_a_thousand_mutations_under_a_limit_of_memory() -> None:
    code = textwrap.dedent(HOSTILE)
    folder = str(Path(__file__).parent)
    result = subprocess.run(
        [sys.executable, "-c", code.format(folder=folder)],
        check=False,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert result.returncode == 0, result.stderr
    total, refused, longest = result.stdout.split()
    assert int(total) == 1000
    assert int(refused) > 800
    assert float(longest) < 5


def test_errors_are_of_vroot() -> None:
    assert issubclass(ReferenceStoreError, VrootError)
    assert issubclass(CorruptBasketError, VrootError)


def test_a_program_that_fills_too_little_is_refused_with_its_branch() -> None:
    source = (
        f"{HEAD} output n0-offsets int64 output n1-data int32 0 n0-offsets <- stack "
        "0 do byteoffsets I-> stack stream seek 2 n0-offsets +<- stack stream !i-> n1-data loop"
    )
    numbers_form = {"class": "NumpyArray", "primitive": "int32", "form_key": "n1"}
    form = {"class": "ListOffsetArray", "offsets": "i64", "form_key": "n0"}
    which = program(source, form | {"content": numbers_form})
    payload = joined([bytes(4)], with_offsets=True)
    table = BasketTable(np.array([1]), np.array([len(payload)]), np.array([4]))
    spec = BranchSpec("b", "", "", "TBranch", 1, AsObjects(which), table)
    nothing = np.zeros(1, np.int64)
    manifest = Manifest(table, nothing - 1, nothing, nothing + len(payload), {0: payload})

    def here(ranges: Ranges, use: Use) -> None:
        assert ranges.inline == {0: payload}
        use(np.array([0]), [memoryview(payload)], "")

    with pytest.raises(ReferenceStoreError, match="branch '/T;1:b': a program has not filled"):
        read_columns([Column("/T;1:b", spec, manifest)], 0, 1, here)
