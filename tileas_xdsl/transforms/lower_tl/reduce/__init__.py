"""Reductions and scans of fragments."""
