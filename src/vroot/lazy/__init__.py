"""Collections of dask, whose partitions are read when they are computed."""
