"""Masks of tiles that compare affine functions of coordinates and of a loop's index."""
