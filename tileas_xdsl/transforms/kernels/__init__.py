"""Passes on a whole kernel: its target, its CTAs, how it divides its tiles, what it is given.

Their parts: `plan_cta`, `chunk_tiles`.
"""
