"""Shared memory beyond its shadow: whole tiles, layouts of tensor copies, flags and locks."""
