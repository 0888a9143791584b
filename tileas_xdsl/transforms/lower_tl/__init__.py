"""Lowering of laid-out `tl` kernels to the threads of a block (`tl-lower`)."""
