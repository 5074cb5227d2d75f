"""From bytes to arrays: pure functions without I/O."""
