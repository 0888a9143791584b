"""Matrix products (`mma.sync`, `wgmma`, `tcgen05.mma`), their descriptors, and tensor memory."""
