"""Kernels of TileLang that name their threads: branches, loops and statements of each."""
