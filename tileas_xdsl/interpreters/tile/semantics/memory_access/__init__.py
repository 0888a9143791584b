"""Tiled, gathered and atomic accesses of global and shared memory."""
