"""The semantics of every operation of `nv_tileas` and `nv_tileaa`, one file per family."""
