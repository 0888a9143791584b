"""MMA atoms, and products of whole views."""
