"""From what the user wrote to a store: paths, sidecars, the catalog."""
