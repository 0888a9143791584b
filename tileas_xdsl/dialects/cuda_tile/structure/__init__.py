"""Modules, kernels, control flow, debug info."""
