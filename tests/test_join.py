"""Buffers of objects from several baskets, put together."""

from __future__ import annotations

from typing import Any

import awkward as ak
import msgspec
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vroot.decode.join import join_buffers
from vroot.exceptions import ReferenceStoreError
from vroot.metadata.interpretations import Program

#: Lists of records of a number, a list of pairs, and a string.
FORM = {
    "class": "ListOffsetArray",
    "offsets": "i64",
    "form_key": "n0",
    "content": {
        "class": "RecordArray",
        "fields": ["x", "pairs", "name"],
        "contents": [
            {"class": "NumpyArray", "primitive": "int32", "form_key": "n1"},
            {
                "class": "ListOffsetArray",
                "offsets": "i64",
                "form_key": "n2",
                "content": {
                    "class": "RegularArray",
                    "size": 2,
                    "content": {"class": "NumpyArray", "primitive": "float64", "form_key": "n3"},
                },
            },
            {
                "class": "ListOffsetArray",
                "offsets": "i64",
                "form_key": "n4",
                "parameters": {"__array__": "string"},
                "content": {
                    "class": "NumpyArray",
                    "primitive": "uint8",
                    "form_key": "n5",
                    "parameters": {"__array__": "char"},
                },
            },
        ],
    },
}
PROGRAM = Program("", msgspec.json.encode(FORM).decode())
ENTRY = st.lists(
    st.fixed_dictionaries(
        {
            "x": st.integers(-9, 9),
            "pairs": st.lists(st.tuples(st.floats(-1, 1), st.floats(-1, 1)).map(list), max_size=2),
            "name": st.text("ab", max_size=3),
        }
    ),
    max_size=3,
)


def buffers_of(entries: list[Any]) -> dict[str, Any]:
    """What a program fills for these entries."""
    items = [item for entry in entries for item in entry]
    pairs = [pair for item in items for pair in item["pairs"]]
    text = b"".join(item["name"].encode() for item in items)
    return {
        "n0-offsets": np.cumsum([0, *map(len, entries)]),
        "n1-data": np.array([item["x"] for item in items], np.int32),
        "n2-offsets": np.cumsum([0, *(len(item["pairs"]) for item in items)]),
        "n3-data": np.array(pairs, np.float64).reshape(-1),
        "n4-offsets": np.cumsum([0, *(len(item["name"]) for item in items)]),
        "n5-data": np.frombuffer(text, np.uint8),
    }


@given(st.lists(st.lists(ENTRY, min_size=1, max_size=4), min_size=1, max_size=3), st.data())
@settings(deadline=None)
def test_parts_of_baskets_join_to_their_entries(baskets: list[Any], data: st.DataObject) -> None:
    parts, expected = [], []
    for entries in baskets:
        start = data.draw(st.integers(0, len(entries)))
        stop = data.draw(st.integers(start, len(entries)))
        parts.append((buffers_of(entries), start, stop))
        expected += entries[start:stop]
    joined = join_buffers(PROGRAM, parts)
    form = ak.forms.from_dict(FORM)
    assert ak.from_buffers(form, len(expected), joined).to_list() == expected
    # Nothing is kept of what is not wanted.
    assert joined["n1-data"].size == sum(map(len, expected))


@pytest.mark.parametrize("name", ["n0-offsets", "n1-data", "n2-offsets", "n3-data", "n5-data"])
def test_what_one_basket_lacks_does_not_come_from_the_next(name: str) -> None:
    entries = [[{"x": 1, "pairs": [[1.0, 2.0]], "name": "ab"}]]
    lacking, more = buffers_of(entries), buffers_of(entries)
    lacking[name] = lacking[name][:-1]
    more[name] = np.append(more[name], more[name][-1:])
    with pytest.raises(ReferenceStoreError, match=name):
        join_buffers(PROGRAM, [(lacking, 0, 1), (more, 0, 1)])


def test_falling_offsets_are_refused() -> None:
    buffers = buffers_of([[], [], []])
    buffers["n0-offsets"] = np.array([0, 3, 1, 2])
    with pytest.raises(ReferenceStoreError, match="n0-offsets"):
        join_buffers(PROGRAM, [(buffers, 0, 3)])
