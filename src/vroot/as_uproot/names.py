"""uproot's names for what vroot has: its modules, and the classes and functions in them.

``vroot.behaviors.TTree.TTree`` is `vroot.TTree`, and so on. The modules here have no files: they
look up what they name when it is asked for, so that they cost nothing before.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Mapping
from importlib.machinery import ModuleSpec
from types import ModuleType
from typing import Any

__all__ = ["NAMES", "install", "look_up"]

PACKAGE = "vroot"

_HANDLERS = (
    "CuFileSource", "FSSpecSource", "HTTPSource", "MemmapSource", "MultithreadedFileSource",
    "MultithreadedHTTPSource", "MultithreadedXRootDSource", "ObjectSource", "XRootDSource",
)  # fmt: skip
_WRITING = (
    "WritableBranch", "WritableDirectory", "WritableFile", "WritableTree", "as_TGraph", "create",
    "dask_write", "graphed_write", "recreate", "to_writable", "update",
)  # fmt: skip
_COMPRESSIONS = ("LZ4", "LZMA", "ZLIB", "ZSTD")


def _all_in(module: str, names: tuple[str, ...]) -> dict[str, str]:
    return {name: f"{module}:{name}" for name in names}


_INTERPRETATIONS = "vroot.metadata.interpretations"
_STAND_INS = "vroot.as_uproot.stand_ins"
_EXECUTORS = "vroot.as_uproot.executors"
_CONTAINERS = {
    "ROOTRVec": "vroot.objects.containers:STLSequence",
    "STLBitSet": "vroot.objects.containers:STLSequence",
    "STLList": "vroot.objects.containers:STLSequence",
    "STLVector": "vroot.objects.containers:STLSequence",
    "STLSet": "vroot.objects.containers:STLSet",
    "STLMap": "vroot.objects.containers:STLMap",
}
_FUTURES = _all_in(_EXECUTORS, ("ThreadPoolExecutor", "TrivialExecutor"))
_SEVERAL_FILES = _all_in("vroot.datasets.several_files", ("concatenate", "iterate"))
_TTREE = "vroot.trees.tree:TTree"
_NTUPLE = "vroot.ntuples.ntuple:RNTuple"

#: Modules of uproot below "uproot", and where in vroot the things in them are: "module:name", or
#: the module alone. Under "" is what the package itself has under these names only.
NAMES: Mapping[str, Mapping[str, str]] = {
    "": {
        "AsDtypeInPlace": "vroot.metadata.flat:AsDtypeInPlace",
        "AsGrouped": f"{_INTERPRETATIONS}:AsGrouped",
        "AsObjects": f"{_INTERPRETATIONS}:AsObjects",
        "AsStridedObjects": f"{_INTERPRETATIONS}:AsStridedObjects",
        "DeserializationError": "vroot.exceptions:DeserializationError",
        "Model": "vroot.objects.model:Object",
        "ReadOnlyDirectory": "vroot.files.directory:Directory",
        "ReadOnlyFile": "vroot.files.file:File",
        "STLMap": _CONTAINERS["STLMap"],
        "STLSet": _CONTAINERS["STLSet"],
        "STLVector": _CONTAINERS["STLVector"],
        "classname_decode": f"{_STAND_INS}:classname_decode",
        "classname_encode": f"{_STAND_INS}:classname_encode",
        "dask": "vroot.datasets.dask.build:dask",
        "no_filter": "vroot.mapping.filters:no_filter",
        **_FUTURES,
        **_all_in(_STAND_INS, (*_COMPRESSIONS, *_WRITING)),
        **_all_in(_STAND_INS, tuple(n for n in _HANDLERS if n != "CuFileSource")),
    },
    # Not public, but libraries use these.
    "_util": {
        "file_object_path_split": "vroot.locate.paths:split_object_path",
        "no_filter": "vroot.mapping.filters:no_filter",
        "unset": f"{_STAND_INS}:unset",
    },
    "behaviors": {},
    "behaviors.RNTuple": {
        "HasFields": "vroot.ntuples.has_fields:HasFields",
        "RNTuple": _NTUPLE,
        **_SEVERAL_FILES,
    },
    "behaviors.RooCurve": {"RooCurve": "vroot.objects.graph:RooCurve"},
    "behaviors.RooHist": {"RooHist": "vroot.objects.graph:RooHist"},
    "behaviors.TAxis": {"TAxis": "vroot.objects.axis:TAxis"},
    "behaviors.TBranch": {
        "HasBranches": "vroot.trees.has_branches:HasBranches",
        "Report": "vroot.read.steps:Report",
        "TBranch": "vroot.trees.branch:TBranch",
        **_SEVERAL_FILES,
    },
    "behaviors.TBranchElement": {"TBranchElement": "vroot.trees.branch:TBranch"},
    "behaviors.TDatime": {"TDatime": "vroot.objects.basics:TDatime"},
    "behaviors.TGraph": {"TGraph": "vroot.objects.graph:TGraph"},
    "behaviors.TGraphAsymmErrors": {"TGraphAsymmErrors": "vroot.objects.graph:TGraphAsymmErrors"},
    "behaviors.TGraphErrors": {"TGraphErrors": "vroot.objects.graph:TGraph"},
    "behaviors.TH1": _all_in("vroot.objects.hist", ("Histogram", "TH1")),
    "behaviors.TH2": {"TH2": "vroot.objects.hist:TH2"},
    "behaviors.TH2Poly": {"TH2Poly": "vroot.objects.hist:TH2Poly"},
    "behaviors.TH3": {"TH3": "vroot.objects.hist:TH3"},
    "behaviors.TParameter": dict.fromkeys(
        (
            "TParameter", "TParameter_3c_boolean_3e_", "TParameter_3c_floating_3e_",
            "TParameter_3c_integer_3e_",
        ),
        "vroot.objects.basics:TParameter",
    ),
    "behaviors.TProfile": _all_in("vroot.objects.profile", ("Profile", "TProfile")),
    "behaviors.TProfile2D": {"TProfile2D": "vroot.objects.profile:TProfile2D"},
    "behaviors.TProfile3D": {"TProfile3D": "vroot.objects.profile:TProfile3D"},
    "behaviors.TTree": {"TTree": _TTREE},
    "cache": _all_in("vroot.arrays.caches", ("LRUArrayCache", "LRUCache")),
    "compression": _all_in(_STAND_INS, _COMPRESSIONS),
    "containers": {"Container": "vroot.objects.containers:Container", **_CONTAINERS},
    "deserialization": {"DeserializationError": "vroot.exceptions:DeserializationError"},
    "exceptions": {},
    "interpretation": {"Interpretation": f"{_INTERPRETATIONS}:Interpretation"},
    "interpretation.grouped": {"AsGrouped": f"{_INTERPRETATIONS}:AsGrouped"},
    "interpretation.identify": {
        "UnknownInterpretation": f"{_INTERPRETATIONS}:Unsupported",
        "uproot": PACKAGE,
    },
    "interpretation.jagged": {"AsJagged": f"{_INTERPRETATIONS}:AsJagged"},
    "interpretation.numerical": {
        "Numerical": f"{_INTERPRETATIONS}:Numerical",
        "AsDtypeInPlace": "vroot.metadata.flat:AsDtypeInPlace",
        **_all_in(_INTERPRETATIONS, ("AsDouble32", "AsDtype", "AsFloat16")),
    },
    "interpretation.objects": {
        "CannotBeAwkward": "vroot.exceptions:CannotBeAwkward",
        **_all_in(_INTERPRETATIONS, ("AsObjects", "AsStridedObjects")),
    },
    "interpretation.strings": {"AsStrings": f"{_INTERPRETATIONS}:AsStrings"},
    "language": {
        "Language": "vroot.expressions.language:PythonLanguage",
    },
    "language.python": _all_in("vroot.expressions.language", ("PythonLanguage", "python_language")),
    "model": {
        "Model": "vroot.objects.model:Object",
        "UnknownClass": "vroot.objects.model:UnknownObject",
        "classname_decode": f"{_STAND_INS}:classname_decode",
        "classname_encode": f"{_STAND_INS}:classname_encode",
        "classname_regularize": "vroot.objects.model:regularize_classname",
    },
    "models": {},
    "models.RNTuple": {
        "Model_ROOT_3a3a_RNTuple": _NTUPLE,
        "RField": "vroot.ntuples.ntuple:RField",
    },
    "models.TArray": {"Model_TArray": "vroot.objects.basics:TArray"},
    "models.TDatime": {"Model_TDatime": "vroot.objects.basics:TDatime"},
    "models.THashList": {"Model_THashList": "vroot.objects.basics:THashList"},
    "models.TList": {"Model_TList": "vroot.objects.basics:TList"},
    "models.TObjArray": {"Model_TObjArray": "vroot.objects.basics:TList"},
    "models.TObjString": {"Model_TObjString": "vroot.objects.basics:TObjString"},
    "models.TRef": {
        "Model_TRef": "vroot.objects.basics:TRef",
        "Model_TRefArray": "vroot.objects.basics:TRefArray",
    },
    "models.TTree": {"num_entries": "vroot.datasets.several_files:num_entries"},
    "reading": {
        "ReadOnlyDirectory": "vroot.files.directory:Directory",
        "ReadOnlyFile": "vroot.files.file:File",
        "open": "vroot.files.opening:open_file",
    },
    "sink": {},
    "sink.file": {"FileSink": f"{_STAND_INS}:FileSink"},
    "source": {},
    "source.chunk": {
        "Source": f"{_STAND_INS}:Handler",
        "SourcePerformanceCounters": "vroot.io.sources:PerformanceCounters",
    },
    "source.cufile_interface": {"CuFileSource": f"{_STAND_INS}:CuFileSource"},
    "source.file": _all_in(_STAND_INS, ("MemmapSource", "MultithreadedFileSource")),
    "source.fsspec": {"FSSpecSource": f"{_STAND_INS}:FSSpecSource"},
    "source.futures": {"Executor": "concurrent.futures:Executor", **_FUTURES},
    "source.http": _all_in(_STAND_INS, ("HTTPSource", "MultithreadedHTTPSource")),
    "source.object": {"ObjectSource": f"{_STAND_INS}:ObjectSource"},
    "source.xrootd": _all_in(_STAND_INS, ("MultithreadedXRootDSource", "XRootDSource")),
    "version": {
        "__version__": "vroot._version:__version__",
        "version": "vroot._version:__version__",
    },
    "writing": _all_in(_STAND_INS, tuple(n for n in _WRITING if n != "as_TGraph")),
    "writing.identify": {"to_writable": f"{_STAND_INS}:to_writable"},
    "writing.interpret": {"as_TGraph": f"{_STAND_INS}:as_TGraph"},
    "writing.writable": _all_in(
        "vroot.as_uproot.stand_ins",
        (
            "WritableBranch", "WritableDirectory", "WritableFile", "WritableNTuple",
            "WritableTree", "create", "recreate", "update",
        ),
    ),
}  # fmt: skip


class _Names(ModuleType):
    """A module of uproot's, which finds what is asked of it in vroot."""

    def __init__(self, name: str) -> None:
        super().__init__(name, f"The names of {name.replace(PACKAGE, 'uproot', 1)}.")
        self.__spec__ = ModuleSpec(name, None)
        self.__package__ = name

    def __getattr__(self, name: str) -> Any:
        return look_up(self.__name__, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *NAMES[self.__name__.partition(".")[2]]]


def look_up(module: str, name: str) -> Any:
    """Find what uproot has under a name.

    Parameters
    ----------
    module : str
        "vroot", or a module below it.
    name : str
        What is asked of the module.

    Returns
    -------
    object
        What it is in vroot: a class, function, value or module.

    Raises
    ------
    AttributeError
        If vroot has nothing of this name.
    """
    target = NAMES.get(module.partition(".")[2], {}).get(name)
    if target is not None:
        where, _, attribute = target.partition(":")
        found: Any = importlib.import_module(where)
        return getattr(found, attribute) if attribute else found
    below = f"{module}.{name}"
    if below.partition(".")[2] in NAMES:
        return sys.modules[below]
    raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)


def install() -> None:
    """Make the modules, so that they can be imported; `vroot.exceptions` is there already."""
    for path in filter(None, NAMES):
        name = f"{PACKAGE}.{path}"
        sys.modules.setdefault(name, _Names(name))
