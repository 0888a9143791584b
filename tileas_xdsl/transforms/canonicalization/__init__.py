"""Canonicalisation by dialect; operations load the patterns of their own when they are asked."""
