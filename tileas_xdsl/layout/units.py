"""Sizes that are the same on every NVIDIA GPU."""

BYTE_BITS = 8

WORD_BITS = 32
"""Of a register, of a bank of shared memory, and of a cell of tensor memory."""

WORD_BYTES = 4

WARP = 32
"""Threads of a warp, which are its lanes."""

WARPGROUP_WARPS = 4
"""Warps that issue a `wgmma` together (PTX ISA, wgmma)."""
