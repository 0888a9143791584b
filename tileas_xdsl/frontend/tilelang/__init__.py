"""TileLang kernels as `tl`: traced by the package `tilelang`, imported from their serialised form.

`tracing` asks the package for the PrimFunc right after tracing and for its JSON; everything else
reads that JSON (`graph`) and needs no package.
"""
