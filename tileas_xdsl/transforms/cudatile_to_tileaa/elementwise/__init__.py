"""Arithmetic and conversions, element by element."""
