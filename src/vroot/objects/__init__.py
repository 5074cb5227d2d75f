"""Objects that are not trees: plain data in the store, and what behaves like uproot's objects."""
