"""What a store says of a ROOT file, as frozen plain data."""
