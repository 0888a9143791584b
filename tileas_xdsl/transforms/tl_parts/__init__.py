"""Buffers of `tl` kernels cut into parts whose extents are powers of two, as tiles have them."""
