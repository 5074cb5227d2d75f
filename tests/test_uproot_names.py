"""uproot's names in vroot."""

from __future__ import annotations

import importlib
import pickle
import subprocess
import sys
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import pytest
import uproot

import vroot
from vroot.as_uproot.executors import ThreadPoolExecutor, TrivialExecutor
from vroot.as_uproot.names import NAMES
from vroot.as_uproot.stand_ins import classname_decode, classname_encode
from vroot.exceptions import UnsupportedError
from vroot.expressions.language import python_language

PLACES = [(module, name) for module, names in NAMES.items() for name in names]


def named(package: str, module: str, name: str) -> Any:
    return getattr(importlib.import_module(f"{package}.{module}".rstrip(".")), name)


@pytest.mark.parametrize(("module", "name"), PLACES)
def test_every_name_is_one_of_uproot_and_leads_somewhere(module: str, name: str) -> None:
    assert named("uproot", module, name) is not None or name == "unset"
    assert named("vroot", module, name) is not None


@pytest.mark.parametrize(
    ("module", "name", "expected"),
    [
        ("behaviors.TTree", "TTree", vroot.TTree),
        ("behaviors.TBranch", "HasBranches", vroot.HasBranches),
        ("behaviors.TBranch", "iterate", vroot.iterate),
        ("behaviors.RNTuple", "RNTuple", vroot.RNTuple),
        ("reading", "ReadOnlyDirectory", vroot.Directory),
        ("reading", "open", vroot.open),
        ("exceptions", "KeyInFileError", vroot.KeyInFileError),
        ("interpretation.jagged", "AsJagged", vroot.AsJagged),
        ("interpretation.identify", "uproot", vroot),
        ("language.python", "python_language", python_language),
    ],
)
def test_what_names_lead_to(module: str, name: str, expected: object) -> None:
    assert named("vroot", module, name) is expected


def test_the_one_module_of_both_names() -> None:
    """Of uproot's modules vroot itself has `exceptions`, with all that uproot has there."""
    assert {
        path for path in filter(None, NAMES) if hasattr(sys.modules[f"vroot.{path}"], "__file__")
    } == {"exceptions"}
    assert issubclass(vroot.exceptions.NameConflictWarning, UserWarning)


def test_modules_as_attributes() -> None:
    behaviors: Any = named("vroot", "", "behaviors")
    assert behaviors.TTree.TTree is vroot.TTree
    assert "TTree" in dir(behaviors.TTree)


def test_statements_of_scripts() -> None:
    """In a process that begins with them: importing what vroot itself has not imported yet."""
    code = (
        "import vroot.interpretation.numerical\n"
        "from vroot.behaviors.TH1 import TH1, Histogram\n"
        "from vroot import ReadOnlyDirectory, STLVector\n"
        "import vroot.language.python as language\n"
        "import vroot as uproot\n"
        "assert uproot.interpretation.numerical.AsDtype is uproot.AsDtype\n"
        "assert isinstance(language.python_language, uproot.language.python.PythonLanguage)\n"
        "assert uproot.behaviors.TH1.TH1 is TH1\n"
        "import sys\n"
        "assert 'uproot' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("module", ["vroot", "vroot.behaviors", "vroot.behaviors.TTree"])
def test_other_names(module: str) -> None:
    with pytest.raises(AttributeError, match=f"module '{module}' has no attribute 'nothing'"):
        getattr(importlib.import_module(module), "nothing")  # noqa: B009  # no name of mypy's
    with pytest.raises(ModuleNotFoundError, match=f"{module}.nothing"):
        importlib.import_module(f"{module}.nothing")


@pytest.mark.parametrize("name", ["recreate", "update", "create", "WritableFile", "ZLIB"])
def test_writing(name: str) -> None:
    write = getattr(vroot, name)
    with pytest.raises(NotImplementedError, match=f"write ROOT files with uproot.{name}"):
        write("file.root")


def test_objects_are_not_instances_of_what_writes(refs: Path) -> None:
    assert not isinstance(vroot.open(refs), named("vroot", "", "WritableDirectory"))


def test_classes_are_pickled_by_their_own_names() -> None:
    for name in ("TTree", "AsObjects", "MemmapSource", "ThreadPoolExecutor"):
        cls = named("vroot", "", name)
        assert pickle.loads(pickle.dumps(cls)) is cls  # noqa: S301


@pytest.mark.parametrize("version", [None, 3])
@pytest.mark.parametrize("name", ["TH1F", "ROOT::RNTuple", "vector<pair<int,a_b> >", "x_ab"])
def test_encoded_classnames(name: str, version: int | None) -> None:
    encoded = classname_encode(name, version)
    assert encoded == uproot.classname_encode(name, version)
    assert classname_decode(encoded) == uproot.classname_decode(encoded)
    assert classname_encode(name, unknown=True) == uproot.classname_encode(name, unknown=True)


def test_classnames_that_are_none() -> None:
    with pytest.raises(ValueError, match="not an encoded classname"):
        classname_decode("TH1F")
    with pytest.raises(ValueError, match="already encoded"):
        classname_encode("Model_TH1F")


def test_executors(refs: Path) -> None:
    branch = vroot.open(refs)["Events/met"]
    expected = branch.array(library="np")
    threads, theirs = ThreadPoolExecutor(2), uproot.ThreadPoolExecutor(2)
    assert (threads.max_workers, threads.num_workers, threads.closed) == (2, 2, False)
    for executor in (TrivialExecutor(), threads, theirs, uproot.TrivialExecutor()):
        found = branch.array(library="np", decompression_executor=executor)
        assert found.tobytes() == expected.tobytes()
        executor.shutdown()
    assert threads.closed


def test_a_trivial_executor_runs_at_once() -> None:
    future = TrivialExecutor().submit(pow, 2, exp=3)
    assert isinstance(future, Future)
    assert future.result() == 8
    with pytest.raises(ZeroDivisionError):
        TrivialExecutor().submit(divmod, 1, 0)


def test_handlers_have_no_instances() -> None:
    with pytest.raises(UnsupportedError, match="MemmapSource is accepted as handler="):
        named("vroot", "source.file", "MemmapSource")("file.root")


def test_objects_in_a_with_statement(refs: Path) -> None:
    with vroot.open(f"{refs}:hist") as histogram:
        assert histogram.values().sum() == 10


def test_names_of_files_and_branches(zlib_file: Path, refs: Path) -> None:
    """What a file, directory or branch has besides, and uproot says the same of it."""
    with uproot.open(zlib_file) as theirs, vroot.open(refs) as ours:
        assert (ours.file.fUUID, ours.file.hex_uuid) == (theirs.file.fUUID, theirs.file.hex_uuid)
        assert ours.file.root_directory.keys() == theirs.file.root_directory.keys()
        assert ours["dir"].cache_key == theirs["dir"].cache_key
        expected, branch = theirs["Events/met"], ours["Events/met"]
        assert branch.aliases == expected.aliases == {}
        ranges = [branch.basket_entry_start_stop(i) for i in range(branch.num_baskets)]
        assert ranges == [expected.basket_entry_start_stop(i) for i in range(expected.num_baskets)]
        for number in (-1, branch.num_baskets):
            with pytest.raises(IndexError, match=f"no basket {number}"):
                branch.basket_entry_start_stop(number)
