"""Loads, stores, atomics, and asynchronous copies."""
