"""The dialect of scheduled tile programs: async pipelines, tiled memory, TMA, tile compute."""

from tileas_xdsl.dialects.registry import dialect_of

NvTileas = dialect_of(__name__, "nv_tileas")
