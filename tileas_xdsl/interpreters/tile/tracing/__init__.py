"""Traces of a run in virtual cycles, as an SVG timeline and for Perfetto."""
