"""Tiny kernels, one table a family of instructions."""
