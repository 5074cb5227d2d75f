"""vroot in the place of uproot: its names and options, its abstract classes, its scripts."""
