"""Errors a user can act on: located parsing, verification, dominance, expected diagnostics.

Import from the module that owns the name; this package loads nothing by itself.
"""
