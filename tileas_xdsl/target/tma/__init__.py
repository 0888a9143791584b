"""Tensor maps and the boxes that TMA moves by them."""
