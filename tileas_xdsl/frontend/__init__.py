"""Ways in: Tile IR bytecode, and kernels of cuTile Python."""
