"""Rows of tiles of integers and pointers: contiguous, aligned, or apart by a stride."""
