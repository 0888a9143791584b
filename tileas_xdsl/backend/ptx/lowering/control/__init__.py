"""Kernels, control flow, thread indices, barriers, print and assert."""
