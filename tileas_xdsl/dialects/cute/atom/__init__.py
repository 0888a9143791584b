"""Atoms, their calls, copies and products of whole views by atoms, and tiled atoms."""
