"""Make a ROOT file, scan it into references, read them as with uproot, and look at the physics.

The data are pairs of muons, a tenth of them from the decay of a Z boson.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import awkward as ak
import numpy as np
import uproot as writer

import vroot
import vroot as uproot

EVENTS = 200_000
Z_MASS_GEV, Z_WIDTH_GEV = 91.19, 2.5


def make_root_file(path: Path) -> None:
    """Write a tree "Events" with the transverse momentum, direction and charge of muons."""
    rng = np.random.default_rng(2012)
    mass = np.where(
        rng.random(EVENTS) < 0.1,
        Z_MASS_GEV + Z_WIDTH_GEV / 2 * rng.standard_cauchy(EVENTS),
        20 + rng.exponential(30, EVENTS),
    ).clip(5, 200)
    # Two massless muons at opposite azimuth: m^2 = 2 pt1 pt2 (cosh(eta1 - eta2) + 1).
    eta = rng.normal(0, 1.2, (EVENTS, 2)).astype("f4")
    phi = rng.uniform(-np.pi, np.pi, EVENTS).astype("f4")
    pt = mass / np.sqrt(2 * (np.cosh(eta[:, 0] - eta[:, 1]) + 1))
    single = rng.random(EVENTS) < 0.05
    counts = np.where(single, 1, 2)
    keep = np.stack([np.ones(EVENTS, bool), ~single], axis=1)
    muons = {
        "pt": np.stack([pt, pt], axis=1).astype("f4"),
        "eta": eta,
        "phi": np.stack([phi, phi + np.float32(np.pi)], axis=1),
        "charge": np.tile(np.array([1, -1], "i4"), (EVENTS, 1)),
    }
    jagged = {name: ak.unflatten(values[keep], counts) for name, values in muons.items()}
    columns = {"run": np.full(EVENTS, 194_050, "u4"), "Muon": ak.zip(jagged)}
    with writer.recreate(path, compression=writer.ZLIB(1)) as file:
        types = {"run": np.dtype("u4"), "Muon": ak.type(columns["Muon"]).content}
        tree = file.mktree("Events", types, title="pairs of muons")
        for start in range(0, EVENTS, 20_000):
            part = slice(start, start + 20_000)
            tree.extend({name: column[part] for name, column in columns.items()})


def draw(values: np.ndarray, low: float, high: float, bins: int = 30) -> None:
    """Print a histogram, lying on its side."""
    counts, edges = np.histogram(values, bins, (low, high))
    for count, edge in zip(counts, edges, strict=False):
        print(f"{edge:6.0f} GeV |{'█' * round(50 * count / counts.max())} {count}")


def main() -> None:
    """Run the example; a folder may be given, where the files then stay."""
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(sys.argv[1] if len(sys.argv) > 1 else temporary)
        make_root_file(folder / "muons.root")
        vroot.scan(folder / "muons.root", folder / "refs.json")
        sizes = [(folder / name).stat().st_size for name in ("muons.root", "refs.json")]
        print(f"muons.root has {sizes[0]:,} bytes, its references {sizes[1]:,}\n")

        tree = uproot.open(folder / "refs.json")["Events"]
        tree.show()
        events = tree.arrays(filter_name="Muon_*")
        pairs = events[ak.num(events.Muon_pt) == 2]
        print(f"\n{len(pairs)} of {tree.num_entries} events have two muons; their mass:\n")
        pt, eta, phi = pairs.Muon_pt, pairs.Muon_eta, pairs.Muon_phi
        mass_squared = (
            2
            * pt[:, 0]
            * pt[:, 1]
            * (np.cosh(eta[:, 0] - eta[:, 1]) - np.cos(phi[:, 0] - phi[:, 1]))
        )
        draw(ak.to_numpy(np.sqrt(mass_squared)), 40, 130)


if __name__ == "__main__":
    main()
