"""The semantics of `tl`: TileLang-style kernels, tile programs over buffers.

A program means the same whatever the layouts of its buffers and loops: a buffer is an array, and
the iterations of a parallel loop run at once, each operation on all of them.
"""
