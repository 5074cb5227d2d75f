"""TTrees and their branches."""
