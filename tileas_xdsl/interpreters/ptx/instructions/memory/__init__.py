"""Loads, stores, atomics, asynchronous and tensor copies, tensor maps."""
