"""What vroot tells uproot, where both are loaded: that its classes behave as uproot's do.

Libraries that work with uproot ask ``isinstance(file, uproot.reading.ReadOnlyDirectory)``, and the
like. These are abstract classes, which others can be registered with. Those of histograms,
interpretations, sources and errors are not: an object of vroot is an instance of its own class
only, though it has the same methods.
"""

from __future__ import annotations

import importlib
import sys

from vroot.exceptions import CannotBeAwkward

__all__ = ["cannot_be_awkward", "register_with_uproot"]

#: Classes of vroot, and the abstract classes of uproot that they behave as; classes of uproot that
#: inherit from one another are all named, as what is registered is not inherited downwards.
REGISTERED = {
    ("vroot.files.directory", "Directory"): (("uproot.reading", "ReadOnlyDirectory"),),
    ("vroot.trees.has_branches", "HasBranches"): (("uproot.behaviors.TBranch", "HasBranches"),),
    ("vroot.trees.branch", "TBranch"): (("uproot.behaviors.TBranch", "TBranch"),),
    ("vroot.trees.tree", "TTree"): (("uproot.behaviors.TTree", "TTree"),),
    ("vroot.ntuples.has_fields", "HasFields"): (("uproot.behaviors.RNTuple", "HasFields"),),
    ("vroot.ntuples.ntuple", "RField"): (("uproot.models.RNTuple", "RField"),),
    ("vroot.ntuples.ntuple", "RNTuple"): (
        ("uproot.behaviors.RNTuple", "RNTuple"),
        ("uproot.models.RNTuple", "Model_ROOT_3a3a_RNTuple"),
    ),
    ("vroot.objects.containers", "STLSequence"): (("uproot.containers", "STLVector"),),
    ("vroot.objects.containers", "STLSet"): (("uproot.containers", "STLSet"),),
    ("vroot.objects.containers", "STLMap"): (("uproot.containers", "STLMap"),),
}


def register_with_uproot() -> bool:
    """Let files, trees, branches, RNTuples and fields pass for instances of uproot's classes.

    Opening a file does this by itself where uproot has been imported before; it is to be called
    only where uproot is imported, by a library for instance, after the file was opened. uproot is
    never imported here.

    Returns
    -------
    bool
        Whether uproot is loaded.
    """
    if not _is_loaded():
        return False
    for (module, name), abstract in REGISTERED.items():
        ours = getattr(importlib.import_module(module), name)
        for theirs, abstract_name in abstract:
            # While uproot is being imported, in another thread, not all of it is there.
            found = getattr(sys.modules.get(theirs), abstract_name, None)
            if found is not None:
                found.register(ours)
    return True


def cannot_be_awkward(reason: str) -> CannotBeAwkward:
    """Make the error for a branch without a form, such that who expects uproot's catches it.

    Parameters
    ----------
    reason : str
        Why it has none.

    Returns
    -------
    CannotBeAwkward
        Of uproot's class of this name too, if uproot is loaded.
    """
    theirs = getattr(sys.modules.get("uproot.interpretation.objects"), "CannotBeAwkward", None)
    if theirs is None or issubclass(CannotBeAwkward, theirs):
        return CannotBeAwkward(reason)
    both: type[CannotBeAwkward] = type("CannotBeAwkward", (CannotBeAwkward, theirs), {})
    return both(reason)


def _is_loaded() -> bool:
    """Whether uproot is loaded: itself, not vroot under its name."""
    return "uproot" in sys.modules and sys.modules["uproot"] is not sys.modules.get("vroot")
