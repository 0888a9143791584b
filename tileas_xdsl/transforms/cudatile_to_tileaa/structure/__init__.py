"""Kernels, control flow, assumptions, and what the target sets."""
