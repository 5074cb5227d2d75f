"""Byte ranges: transports, merging of ranges, the sources of a store."""
