"""Tiles in registers: vectors of a thread, access chunks, coordinates, slices and reshapes."""
