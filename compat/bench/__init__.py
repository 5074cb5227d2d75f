"""Benchmarks against uproot."""
