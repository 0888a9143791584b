"""Parallel loops: which thread runs which iterations, and the code of their bodies."""
