"""Entries, branches, declarations and calls."""
