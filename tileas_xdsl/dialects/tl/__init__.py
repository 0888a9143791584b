"""The dialect of tile programs over buffers, in the style of TileLang.

A `tl.kernel` is the program of a thread block.  Buffers are builtin memrefs in global and shared
memory, in fragments (registers distributed over the threads) or private to each thread.  Which
thread runs an iteration or owns an element is left open, except by annotations;
`tl-layout-inference` decides it.
"""

from tileas_xdsl.dialects.registry import dialect_of

Tl = dialect_of(__name__, "tl")
