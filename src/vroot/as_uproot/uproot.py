"""vroot under uproot's name, for what `vroot.running` runs."""

from vroot.running import take_the_name

take_the_name()
