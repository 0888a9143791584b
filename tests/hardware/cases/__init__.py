"""Small test kernels, one module per family of instructions."""
