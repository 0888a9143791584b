"""Launches on a GPU: plans, their parameters in one block of memory."""
