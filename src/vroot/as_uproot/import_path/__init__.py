"""A folder for `sys.path`, in which the module named uproot is vroot."""
