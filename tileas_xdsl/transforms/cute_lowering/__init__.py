"""Parts of the passes `cute-desugar` and `cute-to-llvm`."""
