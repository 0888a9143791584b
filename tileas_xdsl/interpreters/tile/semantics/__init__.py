"""What every operation of `nv_tileas` means, one family a file."""
