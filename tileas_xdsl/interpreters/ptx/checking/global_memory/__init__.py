"""Races on global memory, between all warps, copies and parts of a launch (PTX ISA 8).

`shadow.py` keeps the accesses, `release_patterns.py` and `foreign_clocks.py` what orders them,
`races.py` compares; `conflicts.py` is about two accesses: moral strength, and the report.
"""
