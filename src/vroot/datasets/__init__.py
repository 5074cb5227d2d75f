"""Several files as one."""
