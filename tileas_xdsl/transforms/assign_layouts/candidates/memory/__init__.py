"""Candidates of buffers in shared and tensor memory, and what accesses to them cost."""
