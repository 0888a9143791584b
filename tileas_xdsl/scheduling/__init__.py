"""Modulo scheduling of loops over tiles: graphs, reservations, solvers, schedules.

Import from the module that owns the name; this package loads nothing by itself.
"""
