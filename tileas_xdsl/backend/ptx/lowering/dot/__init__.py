"""Matrix products: mma.sync, wgmma, tcgen05."""
