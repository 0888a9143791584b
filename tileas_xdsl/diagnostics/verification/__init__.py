"""Verification of whole modules: dominance, cached constraints, expected diagnostics."""
