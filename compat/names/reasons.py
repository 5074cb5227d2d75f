"""Why names of uproot are absent from vroot, or differ there, by patterns: the first one counts."""

from __future__ import annotations

#: Of the classes in uproot that others inherit from, for those who write such classes.
INTERNAL = ("hook_*", "no_inherit", "postprocess", "class_*", "read_*")

_BYTES = "the bytes of ROOT are parsed when the file is scanned, not when it is read"
_HANDLES = "a store keeps where the baskets are, not these numbers of the file"
_OWN = "the store says how objects are read; what users may give is of numbers, lists and strings"
_NO_CACHE = "nothing is cached in a file"
_BASKETS = "baskets are read in one plan with the others, not one by one"
_WRITING = "vroot only reads"
_CURSOR = "there is no buffer that things were read from"
_STREAMERS = "a store has no streamers: what they say is in the forms of the branches"
_DERIVED = "in the making of an array in uproot; vroot makes it in one step"
_KEYS = "a directory gives names, classes and titles of its keys itself"
_EXPERIMENTAL = "experimental in uproot"

ABSENT = {
    # --- interpretations
    "uproot.*As*.basket_array*": _DERIVED,
    "uproot.*As*.final_array": _DERIVED,
    "uproot.*As*.reshape": "an interpretation does not change: make another AsDtype",
    "uproot.*As*.simplify": _DERIVED,
    "uproot.*As*.original": _DERIVED,
    "uproot.*As*.branch": "an interpretation is plain data: it belongs to no branch",
    "uproot.*As*.cache_key": "its repr tells interpretations apart",
    "uproot.*As*.typename": "the branch has it",
    "uproot.*As*.from_dtype": "numpy_dtype is the one in memory",
    "uproot.*As*.to_dtype": "numpy_dtype is the one in memory",
    "uproot.*As*.model": _STREAMERS,
    "uproot.*As*.members": _STREAMERS,
    "uproot.*As*.all_headers_prepended": _BYTES,
    # --- modules
    "uproot.classes": _STREAMERS,
    "uproot.unknown_classes": _STREAMERS,
    "uproot.Cursor*": _CURSOR,
    "uproot.graphed*": _EXPERIMENTAL,
    "uproot.ImplementsFormMapping*": "the protocol that dask-awkward's projection has with uproot",
    "uproot.*_pyroot": "needs ROOT",
    "uproot.pyroot.*": "needs ROOT",
    "uproot.*class_named": _STREAMERS,
    "uproot.reset_classes": _STREAMERS,
    "uproot.behavior_of": _STREAMERS,
    "uproot.behavior.*": _STREAMERS,
    "uproot.language.python.PythonLanguage.*": "expressions are checked before they are computed",
    "uproot.*register_interpretation": _OWN,
    "uproot.As*": _OWN,
    "uproot.const.*": _BYTES,
    "uproot.compression.*": _BYTES,
    "uproot.containers.As*": _OWN,
    "uproot.containers.STL*.from_mapping": _BYTES,
    "uproot.STL*.from_mapping": _BYTES,
    "uproot.deserialization.*": _BYTES,
    "uproot.extras.*": "imports of uproot's own",
    "uproot.interpretation.custom.*": _OWN,
    "uproot.interpretation.identify.*": _OWN,
    "uproot.interpretation.known_forth*": _OWN,
    "uproot.interpretation.library.*": 'libraries are named: "ak", "np" or "pd"',
    "uproot.interpretation.*Array": _DERIVED,
    "uproot.interpretation.*.fast_divide": _DERIVED,
    "uproot.interpretation.*.CannotBe*": _BYTES,
    "uproot.interpretation.*.AsSTLBits*": "std::bitset is read, under the name AsObjects",
    "uproot.interpretation.*.TruncatedNumerical*": "the base class has no name here",
    "uproot.model.*Model.*": _BYTES,
    "uproot.model.UnknownClass*": _BYTES,
    "uproot.model.*": _BYTES,
    "uproot.serialization.*": _WRITING,
    "uproot.sink.*": _WRITING,
    "uproot.source.*": "vroot gets bytes with fsspec, or with pread",
    "uproot.streamers.*": _STREAMERS,
    "uproot.version.*": "the version of vroot is a text only",
    "uproot.writing.*": _WRITING,
    "uproot.reading.must_be_attached": _BYTES,
    "uproot.reading.ReadOnlyKey*": _KEYS,
    "uproot.reading.DetachedFile*": "an object that was read holds no file",
    "uproot.reading.CommonFileMethods*": "the base class has no name here",
    # --- executors
    "uproot.*TrivialExecutor.closed": "it has nothing to close",
    "uproot.*ThreadPoolExecutor.workers": "the threads are Python's",
    # --- files and directories
    "uproot.ReadOnlyFile.*_cache": _NO_CACHE,
    "uproot.ReadOnlyFile.*_executor": "executors are arguments of what reads",
    "uproot.ReadOnlyFile.custom_classes": _OWN,
    "uproot.ReadOnlyFile.*class*": _STREAMERS,
    "uproot.ReadOnlyFile.*streamer*": _STREAMERS,
    "uproot.ReadOnlyFile.detached": "an object that was read holds no file",
    "uproot.ReadOnlyFile.options": "those of uproot have no effect",
    "uproot.ReadOnlyFile.*chunk": _CURSOR,
    "uproot.ReadOnlyFile.*": _HANDLES,
    "uproot.ReadOnlyDirectory.*_cache": _NO_CACHE,
    "uproot.ReadOnlyDirectory.class_of": _STREAMERS,
    "uproot.ReadOnlyDirectory.streamer_of": _STREAMERS,
    "uproot.ReadOnlyDirectory.cursor": _CURSOR,
    "uproot.ReadOnlyDirectory.descent_into_path": "a step of the look-up",
    "uproot.ReadOnlyDirectory.key": _KEYS,
    "uproot.ReadOnlyDirectory.parent": "a directory knows the file and the path from there",
    "uproot.ReadOnlyDirectory.*": _HANDLES,
    # --- trees and branches
    "*.chunk": _CURSOR,
    "*.cursor": _CURSOR,
    "*Branch*.basket*": _BASKETS,
    "*Branch*.embedded_baskets": _BASKETS,
    "*Branch*.entries_to_ranges_or_baskets": _BASKETS,
    "*Branch*.compression": "of what would be written next; baskets can differ from it",
    "*Branch*.context": _BYTES,
    "*Branch*.count_leaf": "the branch of the leaf is count_branch",
    "*Branch*.debug*": _BYTES,
    "*Branch*.streamer": _STREAMERS,
    "uproot.behaviors.*.np_uint8": _DERIVED,
    "uproot.behaviors.TAxis.AxisTraits": "TAxis.traits gives one, of no public class",
    "uproot.behaviors.*boost_*metadata": "the parameters of to_boost have it as default",
    # --- models: what uproot makes of ROOT's bytes
    "uproot.models.T*.Model_T*_v*.member*": "C++ members of trees and branches are not kept",
    "uproot.models.T*.Model_T*_v*.*member*": "C++ members of trees and branches are not kept",
    "uproot.models.RNTuple.*.cluster_summaries": "the edges of clusters are not public",
    "uproot.models.RNTuple.*": _BYTES,
    "uproot.models.*": _BYTES,
    "uproot.Model.*": _BYTES,
}

_DEFAULT = "the default has another form, and means the same"

DIFFERENT = {
    "*.awkward_form": "the form depends on the interpretation alone",
    "*.classname_of": "C++ names, found along the path",
    "*.title_of": "found along the path",
    "*.AsDtype.to_dtype": "None where numpy_dtype is the native equivalent of from_dtype",
    "uproot.AsDtype.to_dtype": "None where numpy_dtype is the native equivalent of from_dtype",
    "uproot.behaviors.TParameter.TParameter": "the class itself, of all types",
    "uproot.language.python.python_language": "of vroot's class",
    "uproot.*open": "a file keeps no arrays unless it is told to",
    "uproot.*HasFields.*": _DEFAULT,
    "*.num_entries_for": _DEFAULT,
    "*.show": _DEFAULT,
    "*.to_akform": _DEFAULT,
    "*.iteritems": _DEFAULT,
    "*.to_boost": _DEFAULT,
    "*.STLMap.get": "the parameter is Python's key",
    "uproot.STLMap.get": "the parameter is Python's key",
    "uproot.dask": _DEFAULT,
    "uproot.no_filter": "the parameter has another name",
    "uproot.*version*": "that of vroot",
}
