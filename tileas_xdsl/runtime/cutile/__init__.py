"""Launches of cuTile kernels: what `cuda.tile.launch` does, on this compiler."""
