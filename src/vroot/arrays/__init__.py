"""Decoded columns as arrays of Awkward, NumPy or pandas."""
