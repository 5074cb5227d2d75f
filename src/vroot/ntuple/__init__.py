"""RNTuples: what the store says of them, the reading of their pages, and uproot's facade."""
