"""TMA descriptors, and the copies, reductions and im2col loads that use them."""
