"""Barriers of a block, counters of a grid, and groups that proceed one after the other."""
