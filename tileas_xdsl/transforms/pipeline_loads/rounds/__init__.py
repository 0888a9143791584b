"""Loads that threads do themselves: of the next round, of several together, once for all."""
