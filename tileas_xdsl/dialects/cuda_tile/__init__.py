"""Tile IR, the public input of the tile compiler: `cuda_tile` of NVIDIA/cuda-tile, version 13.4.

Operations on whole tiles, without layouts, threads or stages.  Formats, checks and messages are
those of the open dialect; `opcodes` lists which operation exists since when.
"""

from tileas_xdsl.dialects.registry import dialect_of

CudaTile = dialect_of(__name__, "cuda_tile")
