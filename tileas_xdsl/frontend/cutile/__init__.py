"""cuTile Python: its kernels and their parameters (`kernels`), and their Tile IR (`tile_ir`)."""
