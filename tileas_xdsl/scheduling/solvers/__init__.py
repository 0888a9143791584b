"""Solvers of modulo scheduling problems behind one interface: `search.find_schedule`."""
