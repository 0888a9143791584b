"""Tiles in memory: element types, byte swizzles, bank conflicts."""
