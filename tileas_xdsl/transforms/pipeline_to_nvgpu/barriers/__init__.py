"""Barriers of `cutlass`: full and empty mbarriers of stages, counters in memory, ordered sequences."""
