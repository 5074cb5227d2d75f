"""What vroot is held against: uproot, real files, users' scripts, frameworks, and the clock."""
