"""Buffers, shared and tensor memory, TMA descriptors."""
