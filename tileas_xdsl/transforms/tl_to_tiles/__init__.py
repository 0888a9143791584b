"""Tile programs over buffers as programs over tile values: parts of `convert-tl-to-tileaa`."""
