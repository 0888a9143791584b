"""Arithmetic of scalars and fragments."""
