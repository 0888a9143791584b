"""Matrix products of buffers: mma.sync and wgmma."""
