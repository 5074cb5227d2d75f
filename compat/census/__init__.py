"""The comparison of vroot with uproot, over real files."""
