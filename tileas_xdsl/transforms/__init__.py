"""Passes, one a file, named as on the command line, in a folder for each job.

`conversion` between dialects, `layouts` of tiles, `memory` and TMA, single `loops`, `pipelining` of
copies and products, whole `kernels`, `arithmetic`; `tileas_canonicalize.py` runs the patterns of
`canonicalization`.  The folders beside them have the parts of passes that are too long for a file.
"""
