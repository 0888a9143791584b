"""Async pipelines: agents, stages, tokens and iterators."""
