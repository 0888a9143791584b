"""Layouts of parallel loops, and of fragments that a loop is the first to use."""
