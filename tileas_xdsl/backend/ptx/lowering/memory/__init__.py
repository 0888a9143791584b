"""Addresses, loads and stores, atomics, bulk copies, tensor maps."""
