"""Implementation of `tileas-slicing`: requested slice counts, legality, plan, rewrite."""
