"""Matrix products: wgmma, tcgen05, mma.sync and FMA, and what their operands need."""
