"""vroot under uproot's name, for what `vroot.as_uproot.running` runs."""

from vroot.as_uproot.running import take_the_name

take_the_name()
