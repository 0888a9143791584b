"""Scalars of the block: indices as affine forms, affine maps, known numbers."""
