"""The bytecode of CUDA Tile IR, versions 13.1 to 13.4: a reader and a writer.

Import from the module that owns the name; this package loads nothing by itself.
"""
