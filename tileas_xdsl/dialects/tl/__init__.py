"""The dialect of tile programs over buffers, in the style of TileLang.

A `tl.kernel` is the program of a thread block.  Buffers are builtin memrefs in global and shared
memory, in fragments (registers distributed over the threads) or private to each thread.  Which
thread runs an iteration or owns an element is left open, except by annotations;
`tl-layout-inference` decides it.  Operations are in the file of their family; each file ends with
its tuple `OPERATIONS`.
"""

from xdsl.ir import Dialect

from tileas_xdsl.dialects.tl import buffers, compute, kernel, loops, moves
from tileas_xdsl.dialects.tl.attributes import FragmentAttr, SharedAttr
from tileas_xdsl.dialects.tl.enums import PolicyAttr, ReductionAttr, SpaceAttr

FAMILIES = (buffers, compute, kernel, loops, moves)

Tl = Dialect(
    "tl",
    [op for family in FAMILIES for op in family.OPERATIONS],
    [FragmentAttr, PolicyAttr, ReductionAttr, SharedAttr, SpaceAttr],
)
