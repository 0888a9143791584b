"""Buffers: memory spaces, strides, regions, accesses to elements."""
