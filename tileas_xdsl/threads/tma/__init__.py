"""TMA: descriptors, boxes, bulk loads and stores, gathers, im2col, reductions."""
