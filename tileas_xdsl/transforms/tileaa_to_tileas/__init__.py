"""From `nv_tileaa` to `nv_tileas`, one family of operations a file."""
