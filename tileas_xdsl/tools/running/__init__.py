"""Runs of kernels on every level, and the comparison of their results."""
