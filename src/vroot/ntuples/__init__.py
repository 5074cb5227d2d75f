"""RNTuples and their fields."""
