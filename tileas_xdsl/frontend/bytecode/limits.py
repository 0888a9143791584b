"""What a file may ask for at most; everything else is bounded by the bytes that it has."""

MAX_NESTING = 256
"""Regions inside regions, attributes inside attributes, types inside types, scopes and call sites.

cuTile nests about ten deep; each level costs the reader, and later every walk, a Python frame."""

MAX_RANK = 64
"""Dimensions of a shape."""

MAX_INT_LIST = 1 << 16
"""Numbers of a list inside an operation or a type."""
