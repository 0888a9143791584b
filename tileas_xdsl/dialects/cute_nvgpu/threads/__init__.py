"""Threads of a block: indices and roles, barriers, warp collectives, atomics."""
