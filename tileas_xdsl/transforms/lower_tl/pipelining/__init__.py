"""Pipelined loops: copies into shared memory that run iterations ahead, by cp.async or TMA."""
