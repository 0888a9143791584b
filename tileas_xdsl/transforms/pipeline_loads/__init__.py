"""Loops that load and multiply become two agents: which, what they need, how it is written."""
