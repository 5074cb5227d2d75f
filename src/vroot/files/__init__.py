"""Opened files and their directories."""
