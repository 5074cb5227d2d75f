"""Run the scripts beside this folder with uproot, and with vroot in its place."""
