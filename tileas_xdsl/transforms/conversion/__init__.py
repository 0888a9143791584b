"""Passes from one dialect to the next: tiles, then threads, then what `backend.ptx` prints.

    cuda_tile, tl  ->  nv_tileaa  ->  nv_tileas  ->  cute, cute_nvgpu, cutlass  ->  ptx

The rules are in folders beside: `cudatile_to_tileaa`, `tl_to_tiles`, `tileaa_to_tileas`,
`lower_tiles`, `lower_tl`, `pipeline_to_nvgpu`, `cute_to_nvgpu`, `cute_lowering`.
"""
