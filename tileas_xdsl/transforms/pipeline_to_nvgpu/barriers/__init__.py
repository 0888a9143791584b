"""Barriers of `cutlass`: mbarriers of stages, counters in memory, ordered sequences."""
