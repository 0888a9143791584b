"""Upper limits on what a file may request; everything else is bounded by its size in bytes."""

MAX_NESTING = 100
"""Regions inside regions, attributes inside attributes, types inside types, scopes and call sites.

cuTile nests about ten deep; each level costs the reader, and later every walk, a Python frame."""

MAX_RANK = 64
"""Dimensions of a shape."""

MAX_INT_LIST = 1 << 16
"""Numbers of a list inside an operation or a type."""

MAX_LOCATION = 1024
"""Scopes, files and positions that one location consists of, each counted as often as it is used.

A call site names two locations; without a limit, few bytes could name more than fits in memory."""

FREE_ARGUMENTS = 1 << 16
"""Upper limit on the parameters of all functions, beyond one for each byte of the file.

Functions share their types, so that a few bytes could request any number of parameters.
"""

MAX_CONSTANT_BYTES = 1 << 28
"""Bytes of the elements of all constants.

In a file equal elements take the bytes of one, in memory those of all: 16777216 of them at most."""
