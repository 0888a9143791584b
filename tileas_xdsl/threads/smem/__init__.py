"""Tiles in shared memory: layouts, swizzled access, matrix loads and stores, scratch space."""
