"""What trees, RNTuples and directories share as mappings: filters, look-up, listings."""
