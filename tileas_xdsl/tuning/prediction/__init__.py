"""Predicted times of launches: units and latencies of loops, traffic, resident blocks."""
