"""Read a column of a ROOT file with fsspec and zarr alone: no vroot, no uproot, no ROOT.

The store is made first, since there is none yet; after that vroot is not needed any more.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import uproot as writer

import vroot

ENTRIES = 100_000


def make_store(folder: Path) -> Path:
    """Write a ROOT file and scan it."""
    with writer.recreate(folder / "data.root", compression=writer.ZSTD(3)) as file:
        tree = file.mktree("tree", {"time": np.dtype("i8")})
        # Baskets of one size make a regular chunk grid, which every version of zarr reads.
        for start in range(0, ENTRIES, 10_000):
            tree.extend({"time": np.arange(start, start + 10_000) ** 2})
    # Beside the file, references name it relatively, which fsspec takes from the current folder.
    data = folder / "data.root"
    vroot.scan(data, folder / "refs.json", url=f"file://{data}")
    return folder / "refs.json"


def main() -> None:
    """Run the example."""
    with tempfile.TemporaryDirectory() as folder:
        refs = make_store(Path(folder))

        import zarr  # noqa: PLC0415  # the point: from here on, only this

        options = {"fo": str(refs)}
        group = zarr.open_group("reference://", mode="r", storage_options=options)
        print(group.tree())
        time = group["tree/time"]
        assert isinstance(time, zarr.Array)
        print(time.info)
        print(time[9_998:10_003])


if __name__ == "__main__":
    main()
