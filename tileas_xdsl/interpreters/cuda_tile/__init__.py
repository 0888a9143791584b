"""What Tile IR itself means: the dialect `cuda_tile`, run on numpy block by block.

An oracle above the first lowering.  It knows the dialect and its specification, and nothing of
what the compiler makes of it.
"""
