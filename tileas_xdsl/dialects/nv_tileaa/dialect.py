"""The dialect: all operations, types and attributes of the package."""

from tileas_xdsl.dialects.registry import dialect_of

NvTileaa = dialect_of("tileas_xdsl.dialects.nv_tileaa", "nv_tileaa")
