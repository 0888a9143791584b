"""The units of a multiprocessor that operations on tiles compete for."""

from __future__ import annotations

from enum import StrEnum


class Unit(StrEnum):
    """A unit that does one piece of work at a time; its time is counted in cycles."""

    TMA = "tma"
    """Bulk copies between global and shared memory, by one thread."""
    TENSOR_CORE = "tensor_core"
    """`wgmma`, `tcgen05.mma` and `mma.sync`."""
    MUFU = "mufu"
    """Exponentials, logarithms, roots, reciprocals and sines."""
    FMA = "fma"
    """Arithmetic of up to 32 bits: the lanes."""
    ISSUE = "issue"
    """The four warp schedulers, an instruction of a warp each in a cycle."""
    SHARED_MEMORY = "shared_memory"
    """Reads and writes of shared memory by threads and by tensor cores."""
    GLOBAL_MEMORY = "global_memory"
    """Reads and writes of global memory by threads: the path to the L2 cache."""
    TENSOR_MEMORY = "tensor_memory"
    """Reads and writes of tensor memory by threads (`tcgen05.ld`, `tcgen05.st`)."""
