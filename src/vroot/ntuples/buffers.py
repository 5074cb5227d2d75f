"""The buffers of an RNTuple's forms: read at once, or when they are touched; and cached."""

from __future__ import annotations

from collections.abc import Callable, Iterable, MutableMapping
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from vroot.arrays.caches import copied
from vroot.arrays.virtual import LazyBuffers
from vroot.ntuples.protocols import NTuple
from vroot.read.pages import read_buffers
from vroot.read.step_cache import StepCache

__all__ = ["Accessed", "NTupleBuffers", "virtual_buffers"]


class Accessed(NamedTuple):
    """What an access log says of a column that was read.

    Parameters
    ----------
    column_index : int
        Number of the column.
    cluster_start, cluster_stop : int
        Half-open range of clusters.
    field_id : int
        ROOT's number of its field.
    field_name : str
        Name of the field, as ROOT has it.
    """

    column_index: int
    cluster_start: int
    cluster_stop: int
    field_id: int
    field_name: str


@dataclass(frozen=True, eq=False)
class NTupleBuffers:
    """The buffers of an RNTuple for a range of entries.

    Parameters
    ----------
    ntuple : RNTuple
        The RNTuple.
    entries : tuple of int
        Half-open range of entries, within bounds.
    executor : Executor, optional
        Decodes the pages.
    array_cache : MutableMapping, optional
        NTupleBuffers that have been read.
    even_closed : bool
        Whether to read although the file is closed.
    pages : StepCache, optional
        Pages that were decoded for the step before.
    """

    ntuple: NTuple
    entries: tuple[int, int]
    executor: Executor | None = None
    array_cache: MutableMapping[str, Any] | None = None
    even_closed: bool = False
    pages: StepCache[Any] | None = None

    def read(self, keys: Iterable[str]) -> dict[str, npt.NDArray[Any]]:
        """Read buffers.

        Parameters
        ----------
        keys : iterable of str
            Awkward's names of them: form key, hyphen, attribute.

        Returns
        -------
        dict of str to ndarray
            The buffers by their names.
        """
        wanted = list(keys)
        found = self._cached(wanted)
        missing = [key for key in wanted if key not in found]
        with self.ntuple.located():
            buffers = read_buffers(
                self.ntuple.schema,
                [_form_key(key) for key in missing],
                self.entries,
                self.ntuple.manifest,
                partial(
                    self.ntuple.file.fetcher.fetch,
                    executor=self.executor,
                    even_closed=self.even_closed,
                ),
                self.pages,
            )
        for key in missing:
            found[key] = buffers[key]
            if self.array_cache is not None:
                self.array_cache[self._cache_key(key)] = copied(buffers[key])
        return found

    def _cached(self, keys: list[str]) -> dict[str, npt.NDArray[Any]]:
        if self.array_cache is None:
            return {}
        found = {key: self.array_cache.get(self._cache_key(key)) for key in keys}
        return {key: copied(buffer) for key, buffer in found.items() if buffer is not None}

    def _cache_key(self, key: str) -> str:
        start, stop = self.entries
        return f"{self.ntuple.cache_key}:{key}:{start}-{stop}"


def virtual_buffers(
    form: Any, buffers: NTupleBuffers, clusters: tuple[int, int], access_log: Any
) -> dict[str, Callable[[], npt.NDArray[Any]]]:
    """Give functions that read the buffers of a form, one column at a time.

    Parameters
    ----------
    form : ak.forms.Form
        The form, as `HasFields.to_akform` gives it.
    buffers : NTupleBuffers
        What reads them.
    clusters : tuple of int
        Half-open range of clusters, for the log.
    access_log : object with ``__iadd__``, optional
        Given an `Accessed` for each buffer that is touched.

    Returns
    -------
    dict of str to callable
        What `ak.from_buffers` wants.
    """
    by_form_key: dict[str, list[str]] = {}
    for key in form.expected_from_buffers():
        by_form_key.setdefault(_form_key(key), []).append(key)
    functions: dict[str, Callable[[], npt.NDArray[Any]]] = {}
    schema = buffers.ntuple.schema
    for form_key, keys in by_form_key.items():
        if not form_key.startswith("column-"):
            functions |= {key: partial(np.array, [-1], np.int64) for key in keys}
            continue
        column = int(form_key.split("-")[1])
        field = schema.columns[column].field
        name = schema.fields[field].name
        lazy = LazyBuffers(partial(buffers.read, keys), f"field {name!r}", access_log)
        accessed = Accessed(column, *clusters, field, name)
        functions |= {key: partial(lazy.touch, key, accessed) for key in keys}
    return functions


def _form_key(buffer_key: str) -> str:
    return buffer_key.rpartition("-")[0]
