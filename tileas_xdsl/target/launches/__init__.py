"""Predicates that select the specialization of a kernel, and the numbers that they read."""
