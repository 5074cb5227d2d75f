"""The table of uproot's public names."""
