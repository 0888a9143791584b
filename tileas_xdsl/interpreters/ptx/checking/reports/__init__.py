"""Findings of a run, and the diagnosis of each: who accessed what, and what would order the two."""
