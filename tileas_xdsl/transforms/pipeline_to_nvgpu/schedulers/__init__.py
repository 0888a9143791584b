"""Tile schedulers of `cutlass`, and what stream-K adds up through its workspace."""
