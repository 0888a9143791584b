"""Loops that load and multiply become two agents: which loops, what they need, how it is written."""
