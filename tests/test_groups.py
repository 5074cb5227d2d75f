"""Branches that only group others, in a store that is changed to have some."""

from __future__ import annotations

import copy
from pathlib import Path
from typing import Any

import awkward as ak
import pytest

import vroot
from vroot.exceptions import UnsupportedError


@pytest.fixture
def store(zlib_file: Path) -> dict[str, Any]:
    """The branches met, run and Muon_pt of Events inside of a group G, and met in a group in it."""
    references = copy.deepcopy(vroot.scan(zlib_file))
    refs = references["refs"]
    group = copy.deepcopy(refs["Events/Muon_pt/zarr.json"])
    own = {"node": "branch", "interpretation": {"kind": "grouped"}, "split": True}
    group["attributes"]["vroot"] = own
    moved: dict[str, Any] = {}
    for key, value in refs.items():
        for name in ("run", "Muon_pt"):
            if key.startswith(f"Events/{name}/"):
                moved[key.replace("Events/", "Events/G/")] = value
        if key.startswith("Events/met/"):
            moved[key.replace("Events/", "Events/G/H/")] = value
    kept = {key: value for key, value in refs.items() if key.split("/")[1:2] not in (
        ["run"], ["met"], ["Muon_pt"])}  # fmt: skip
    references["refs"] = kept | {"Events/G/zarr.json": group, "Events/G/H/zarr.json": group} | moved
    return references


def test_a_group_is_an_array_of_records(store: dict[str, Any]) -> None:
    tree = vroot.open(store)["Events"]
    array = tree["G"].array(entry_start=299, entry_stop=305)
    assert ak.fields(array) == ["H", "run", "Muon_pt"]
    assert ak.fields(array.H) == ["met"]
    assert array.run.to_list() == [299, 300, 301, 302, 303, 304]
    assert array.H.met.to_list() == tree["met"].array()[299:305].to_list()
    assert array.Muon_pt.to_list() == tree["Muon_pt"].array()[299:305].to_list()
    numpy = tree["G"].array(library="np")
    assert numpy["H"]["met"].tolist() == tree["met"].array(library="np").tolist()
    assert repr(tree["G"].interpretation).startswith("AsGroup(<TBranch 'G' (3 subbranches)")


def test_all_branches_are_read_once(store: dict[str, Any]) -> None:
    tree = vroot.open(store)["Events"]
    # As in uproot: a group whose branches are all there themselves is left out.
    everything = ak.fields(tree.arrays())
    assert sorted(everything) == sorted(
        ["weight", "good", "matrix", "nMuon", "Muon_charge", "label", "met", "run", "Muon_pt"]
    )
    assert ak.fields(tree.arrays(filter_name="G")) == ["G"]
    assert ak.fields(tree.arrays(filter_name=["G", "run", "weight"])) == ["weight", "G"]
    assert ak.fields(tree.arrays(filter_name=["G", "H", "met"])) == ["G"]
    assert ak.fields(tree["G"].arrays()) == ["met", "run", "Muon_pt"]


def test_virtual_groups(store: dict[str, Any]) -> None:
    tree = vroot.open(store)["Events"]
    log: list[Any] = []
    filters: dict[str, Any] = {"filter_name": ["G", "run", "weight"]}
    arrays = tree.arrays(virtual=True, access_log=log, **filters)
    assert arrays.fields == ["weight", "G"]
    for add_doc in (False, True):
        eager = tree.arrays(ak_add_doc=add_doc, **filters)
        virtual = ak.materialize(tree.arrays(ak_add_doc=add_doc, virtual=True, **filters))
        assert virtual.layout.form.to_dict() == eager.layout.form.to_dict()
        assert ak.array_equal(virtual, eager)
    assert eager.G.layout.parameters == {"__doc__": tree["G"].title}
    assert eager.G.H.met.layout.parameters == {"__doc__": "met/F"}
    assert log == []
    ak.materialize(arrays.G.H.met)
    assert {each.branch for each in log} == {"G"}


def test_an_unreadable_branch_of_a_group_is_named(store: dict[str, Any]) -> None:
    refs = store["refs"]
    refs["Events/G/H/met/zarr.json"]["attributes"]["vroot"] = {
        "node": "branch",
        "interpretation": {"kind": "unsupported", "reason": "for a test"},
    }
    tree = vroot.open(store)["Events"]
    with pytest.raises(UnsupportedError, match=r"Events;1:G/H/met.*for a test"):
        tree["G"].array()
    assert tree["G/run"].array()[7] == 7
