"""Matrix instructions: mma.sync, wgmma, tcgen05, and the matrices that they read."""
