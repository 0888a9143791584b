"""Liveness: registers of tiles (before threads) and of threads, and the uses that it is made of."""
