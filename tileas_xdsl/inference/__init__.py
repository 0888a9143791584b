"""Layout inference: the thread-value layouts of fragments and loops of a tile program.

`program` defines the input, `decisions` the result; both know no IR beyond affine maps.
"""
