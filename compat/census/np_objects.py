"""Compare with uproot what `library="np"` gives for branches of objects.

Run it from the top of the repository:

    VROOT_ROOTFILES=<folder of ROOT files> python -m compat.census.np_objects ["*.root"]
"""

from __future__ import annotations

import sys
import tempfile
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import uproot
from uproot.containers import Container as TheirContainer

import vroot
from compat.census.kinds import is_tree
from compat.census.limits import ORACLE_ERRORS, time_limit
from compat.census.marks import find_correction
from compat.data import data_files
from vroot.exceptions import VrootError
from vroot.metadata.interpretations import (
    AsInline,
    AsJagged,
    AsObjects,
    AsStridedObjects,
    Unsupported,
)
from vroot.objects.containers import Container

__all__ = ["compare_file", "plain_object"]

MAX_ENTRIES = 100
BRANCH_SECONDS = 20.0
MAX_DEPTH = 30

ERRORS: tuple[type[BaseException], ...] = (VrootError, *ORACLE_ERRORS)

#: Classes that are sequences, in uproot and in vroot.
SEQUENCES = ("TArray", "TList", "TObjArray", "THashList", "TRefArray")


def plain_object(value: Any, depth: int = 0) -> Any:
    """Turn what a branch has into plain data, which is equal only if types and values are.

    C++ members that begin with "@" are ROOT's own, which no Awkward Array has; nor has it those of
    a base that are hidden by others of the same name.
    """
    if depth > MAX_DEPTH:
        raise ValueError("objects within objects without end")
    below = depth + 1
    if isinstance(value, str):
        return ["text", str(value)]
    if isinstance(value, Container | TheirContainer):
        return _container(value, below)
    if hasattr(value, "all_members"):
        return _model(value, below)
    if isinstance(value, np.ndarray) and value.dtype == object:
        items = [plain_object(item, below) for item in value.reshape(-1)]
        return ["objects", list(value.shape), items]
    if isinstance(value, np.ndarray | np.generic):
        native = np.asarray(value, value.dtype.newbyteorder("="))
        return [native.dtype.str, list(native.shape), native.tobytes()]
    if isinstance(value, float):
        return ["float", np.float64(value).tobytes()]
    if isinstance(value, list):
        return ["list", [plain_object(item, below) for item in value]]
    return [type(value).__name__, value]


def _container(value: Any, depth: int) -> list[Any]:
    name = value.typename if isinstance(value, Container) else type(value).__name__
    if name == "STLMap":
        keys, values = np.asarray(value.keys()), np.asarray(value.values())
        return [name, plain_object(keys, depth), plain_object(values, depth)]
    return [name, [plain_object(item, depth) for item in value]]


def _model(value: Any, depth: int, hidden: frozenset[str] = frozenset()) -> dict[str, Any]:
    """An object with members, its bases included; without members of bases that are hidden."""
    members = {
        name: plain_object(item, depth)
        for name, item in value.members.items()
        if not name.startswith("@") and name not in hidden
    }
    if not all(value.has_member(name) for name in members):
        raise ValueError(f"{value!r} does not know its members")
    is_sequence = value.classname.startswith(SEQUENCES) and isinstance(value, Sequence)
    return {
        "class": value.classname,
        "bases": [_model(base, depth, hidden | members.keys()) for base in value.bases],
        "members": members,
        "items": [plain_object(item, depth) for item in value] if is_sequence else None,
    }


def compare_file(path: Path, store: Path) -> Iterator[tuple[str, str]]:
    """Scan a file and compare its branches of objects; give each branch and its verdict."""
    vroot.scan(path, store)
    ours, theirs = vroot.open(store), uproot.open({path: None})
    for name, classname in ours.classnames(recursive=True).items():
        if not is_tree(classname):
            continue
        their_branches = theirs[name].values(recursive=True)
        for mine, their in zip(ours[name].values(recursive=True), their_branches, strict=True):
            if mine.name != their.name:
                raise ValueError(f"{mine.name!r} is not {their.name!r}")
            if _is_of_objects(mine):
                yield f"{name}:{mine.object_path}", _verdict(path.name, mine, their)


def _is_of_objects(branch: vroot.TBranch) -> bool:
    kind = branch.spec.interpretation
    if isinstance(kind, Unsupported):
        return kind.in_arrays
    content = kind.content if isinstance(kind, AsJagged) else kind
    return isinstance(content, AsStridedObjects | AsObjects | AsInline)


def _verdict(file: str, mine: vroot.TBranch, their: Any) -> str:
    stop = min(mine.num_entries, MAX_ENTRIES)
    path = mine.object_path.partition(":")[2]
    if find_correction(file, path) is not None:
        return "uproot is known to be wrong"
    try:
        with time_limit(BRANCH_SECONDS):
            expected = plain_object(their.array(library="np", entry_stop=stop))
    except ORACLE_ERRORS:
        expected = None
    try:
        found = plain_object(mine.array(library="np", entry_stop=stop))
    except VrootError as err:
        return "neither reads it" if expected is None else f"only uproot reads it: {err}"
    if expected is None:
        return "only vroot reads it"
    return "equal" if found == expected else "DIFFERENT"


def main() -> int:
    """Compare files; tell how many branches are equal, and of those that are not."""
    counts: Counter[str] = Counter()
    for path in data_files(sys.argv[1] if len(sys.argv) > 1 else "*.root"):
        with tempfile.TemporaryDirectory(prefix="vroot-np-") as folder:
            try:
                for branch, verdict in compare_file(path, Path(folder, "refs.json")):
                    counts[verdict.partition(":")[0]] += 1
                    if verdict.startswith(("DIFFERENT", "only uproot")):
                        print(f"{path.name} {branch}: {verdict}", flush=True)
            except ERRORS as err:
                counts["files that cannot be compared"] += 1
                print(f"{path.name}: {type(err).__name__}: {err}"[:300], flush=True)
    for verdict, count in sorted(counts.items()):
        print(f"{count:6} {verdict}")
    return 1 if counts["DIFFERENT"] else 0


if __name__ == "__main__":
    sys.exit(main())
