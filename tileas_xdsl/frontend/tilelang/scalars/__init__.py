"""Scalar expressions: types, ranges, arithmetic, conversions and calls."""
