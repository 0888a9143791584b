"""Lowering of laid-out `nv_tileas` kernels to threads (`convert-tileas-to-cute-nvgpu`)."""
