"""From ROOT files to reference stores: the only part of vroot that imports uproot."""
