"""An open compiler for GPU tile kernels on xDSL."""
