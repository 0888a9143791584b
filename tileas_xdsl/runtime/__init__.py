"""Running compiled kernels."""
