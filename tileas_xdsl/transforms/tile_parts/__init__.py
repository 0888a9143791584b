"""Tiles computed in parts: which dimensions go together, and operations that take one part."""
