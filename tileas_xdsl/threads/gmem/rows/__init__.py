"""Rows that begin between vectors, or stay in shared memory: loaded whole, read at a shift."""
