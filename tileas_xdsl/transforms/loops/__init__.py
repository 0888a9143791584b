"""Passes on single loops: invariants, ranges, slices, register loops; `slicing` has the parts."""
