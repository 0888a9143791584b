"""Accesses of buffers: fragments in registers, shared and global memory."""
