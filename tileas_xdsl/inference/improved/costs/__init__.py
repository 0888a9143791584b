"""Estimated cycles of operations and conversions, and register pressure."""
