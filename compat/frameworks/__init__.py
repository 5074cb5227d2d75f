"""Frameworks that read ROOT files with uproot, with vroot in its place."""
