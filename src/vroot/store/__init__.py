"""Input and output: byte ranges of the sources, and the reference stores."""
