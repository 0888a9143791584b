"""Agents and engines of thread blocks, their scheduler, and structured control flow."""
