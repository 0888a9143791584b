"""Builders: recurring pieces of `nv_tileas` programs, from what a person has in hand."""
