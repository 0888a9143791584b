"""Register layouts of tiles: which operations fix, carry or change them."""
