"""Pointers and tiles of them: their addresses, runs along rows, and arrays that they are of."""
