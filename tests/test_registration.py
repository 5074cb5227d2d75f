"""vroot's classes among those of uproot."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import uproot

import vroot
from vroot.exceptions import CannotBeAwkward
from vroot.metadata.interpretations import AsBits, AsGroup, Unsupported
from vroot.registration import REGISTERED

LATER = """
import sys
import vroot
file = vroot.open(sys.argv[1])
assert not vroot.register_with_uproot()
assert "uproot" not in sys.modules
import uproot
assert not isinstance(file, uproot.reading.ReadOnlyDirectory)
assert vroot.register_with_uproot()
assert isinstance(file, uproot.reading.ReadOnlyDirectory)
"""


def test_instances(refs: Path) -> None:
    file = vroot.open(refs)
    assert isinstance(file, uproot.ReadOnlyDirectory)
    assert isinstance(file["dir"], uproot.reading.ReadOnlyDirectory)
    tree, branch = file["Events"], file["Events/met"]
    assert isinstance(tree, uproot.TTree)
    assert isinstance(tree, uproot.behaviors.TBranch.HasBranches)
    assert not isinstance(tree, uproot.TBranch)
    assert isinstance(branch, uproot.TBranch)
    assert not isinstance(branch, uproot.TTree | uproot.behaviors.RNTuple.HasFields)


def test_rntuples(tmp_path: Path) -> None:
    with uproot.recreate(tmp_path / "file.root") as file:
        file.mkrntuple("events", {"x": [1.5, 2.5]})
    ntuple = vroot.open(tmp_path / "file.root")["events"]
    assert isinstance(ntuple, uproot.models.RNTuple.Model_ROOT_3a3a_RNTuple)
    assert isinstance(ntuple, uproot.behaviors.RNTuple.RNTuple)
    assert isinstance(ntuple["x"], uproot.models.RNTuple.RField)
    assert isinstance(ntuple["x"], uproot.behaviors.RNTuple.HasFields)
    assert not isinstance(ntuple["x"], uproot.behaviors.RNTuple.RNTuple)


def test_every_class_is_there() -> None:
    for places in REGISTERED.values():
        for module, name in places:
            assert hasattr(sys.modules[module], name)


def test_uproot_is_never_imported(refs: Path) -> None:
    """And if another imports it after the file was opened, the classes can still be registered."""
    subprocess.run([sys.executable, "-c", LATER, refs], check=True)


def test_forms(zlib_file: Path, refs: Path) -> None:
    """The forms of interpretations are those that uproot has, and those of the arrays."""
    with uproot.open(zlib_file) as theirs, vroot.open(refs) as ours:
        for name, branch in ours["Events"].iteritems():
            form = branch.interpretation.awkward_form(None)
            assert form.type == theirs["Events"][name].interpretation.awkward_form(None).type
            assert form.type == branch.array(entry_stop=1).layout.form.type


def test_the_form_of_a_group() -> None:
    x = vroot.AsDtype(np.dtype(">f4"))
    group = AsGroup("AsGroup", {"x": x, "y": vroot.AsStrings()})
    assert group.awkward_form().fields == ["x", "y"]


@pytest.mark.parametrize("jagged", [False, True])
def test_the_form_of_bits(jagged: bool) -> None:
    assert str(AsBits(jagged).awkward_form().type) == ("var * uint32" if jagged else "uint32")


def test_what_has_no_form() -> None:
    """Who expects uproot's error catches vroot's."""
    broken = Unsupported("it is broken")
    with pytest.raises(uproot.interpretation.objects.CannotBeAwkward, match="it is broken"):
        broken.awkward_form(None)
    with pytest.raises(CannotBeAwkward, match="it is broken"):
        broken.awkward_form(None)


def test_interpretations_do_not_change() -> None:
    """Except for an attribute that coffea sets, which means nothing here."""
    strings = vroot.AsStrings()
    strings._forth = True
    assert strings == vroot.AsStrings()
    assert hash(strings) == hash(vroot.AsStrings())
    with pytest.raises(AttributeError, match="'header_bytes' cannot be set"):
        strings.header_bytes = 3
    with pytest.raises(AttributeError, match="'header_bytes' cannot be deleted"):
        del strings.header_bytes
