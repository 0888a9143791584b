"""From `cuda_tile` to `nv_tileaa`, one family of operations a file."""
