"""Tiles in global memory: views, pointers, bounds, vector width, gathers and atomics."""
