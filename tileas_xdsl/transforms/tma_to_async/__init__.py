"""Tiled memory operations become bulk copies: a module for each of the steps."""
