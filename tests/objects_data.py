"""Files with objects that uproot writes, and data of objects that it does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import boost_histogram as bh
import hist
import numpy as np
import uproot
from uproot.writing.identify import to_TList, to_TObjString


def as_type(dtype: str, counts: Any, *edges: Any) -> tuple[Any, ...]:
    """Give a histogram with another type: uproot does not write all that NumPy makes."""
    return (counts.astype(dtype), *edges)


def histograms() -> dict[str, Any]:
    """Histograms of every kind that uproot writes."""
    rng = np.random.default_rng(5)
    x, y, z = rng.normal(size=(3, 400))
    weights = rng.exponential(size=400)
    make: Any = hist.Hist  # its overloads do not know names of storages
    plain = make(hist.axis.Regular(7, -2, 2, name="x", label="the x"), name="h", label="H")
    labels = make(hist.axis.StrCategory(["b", "a", "ünï"], name="c"), storage="weight")
    numbers = make(hist.axis.IntCategory([7, 3, 5], name="c"))
    weighted_profile = make(hist.axis.Regular(5, -1, 1), storage=bh.storage.WeightedMean())
    return {
        "numpy": as_type("f8", *np.histogram(x, bins=9, range=(-3, 3))),
        "numpy_edges": as_type("f4", *np.histogram(x, bins=[-2, -1.5, 0, 0.1, 4])),
        "integers": as_type("i4", *np.histogram(x, bins=5)),
        "shorts": as_type("i2", *np.histogram2d(x, z, bins=(2, 3))),
        "bytes": as_type("i1", *np.histogram(x, bins=50)),
        "numpy_2d": np.histogram2d(x, y, bins=(4, 3)),
        "numpy_3d": np.histogramdd((x, y, z), bins=(4, 3, 2)),
        "regular": plain.fill(x),
        "variable": make(hist.axis.Variable([-1, 0, 0.5, 2])).fill(x),
        "weighted": make(hist.axis.Regular(6, -1, 1), storage="weight").fill(x, weight=weights),
        "labels": labels.fill(rng.choice(["a", "b", "ünï", "other"], 400).tolist(), weight=weights),
        "int_labels": numbers.fill(rng.integers(0, 9, 400)),
        "two": make(
            hist.axis.Regular(4, -1, 1), hist.axis.Variable([-1, 0, 3]), storage="weight"
        ).fill(x, y, weight=weights),
        "two_labels": make(hist.axis.StrCategory(["u", "v"]), hist.axis.Regular(3, 0, 1)).fill(
            rng.choice(["u", "v", "w"], 400).tolist(), y
        ),
        "three": make(
            hist.axis.Regular(4, -1, 1), hist.axis.Regular(3, -1, 1), hist.axis.Regular(2, -1, 1)
        ).fill(x, y, z),
        "profile": make(hist.axis.Regular(5, -1, 1), storage="mean").fill(x, sample=y),
        "weighted_profile": weighted_profile.fill(x, sample=y, weight=weights),
        "nothing": as_type("f8", *np.histogram([], bins=3, range=(0, 1))),
        "huge": (np.array([np.nan, np.inf, -1.0, 0.0]), np.arange(5.0)),
    }


def write_objects(path: Path) -> Path:
    """Write a file of histograms, strings and lists."""
    with uproot.recreate(path) as file:
        for name, histogram in histograms().items():
            file[f"hists/{name}"] = histogram
        file["text"] = "some text, ünï"
        file["long_text"] = "x" * 1000
        file["list"] = to_TList([to_TObjString("one"), to_TObjString("two")])
    return path


# --- data as stores have them


def tobject(**members: Any) -> dict[str, Any]:
    """Give the data of a TObject."""
    return {
        "kind": "object",
        "classname": "TObject",
        "members": {"@fUniqueID": 0, "@fBits": 0, **members},
    }


def tnamed(name: str = "n", title: str = "t") -> dict[str, Any]:
    """Give the data of a TNamed."""
    members = {"fName": name, "fTitle": title}
    return {"kind": "object", "classname": "TNamed", "bases": [tobject()], "members": members}


def parameter(kind: str, value: Any) -> dict[str, Any]:
    """Give the data of a TParameter."""
    return {
        "kind": "object",
        "classname": f"TParameter<{kind}>",
        "version": 2,
        "bases": [tobject()],
        "members": {"fName": "p", "fVal": value},
    }
