"""Tile schedulers: their parameters, the tiles of a block, and what blocks share (stream-K)."""
