"""The language of cuts and computed columns."""
