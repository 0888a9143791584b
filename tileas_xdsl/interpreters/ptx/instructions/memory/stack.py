"""Local memory that grows at run time: `stacksave`, `stackrestore`, `alloca`.

    stacksave.u64 %s;  alloca.u64 %p, %n, 16;  ... st.local.u32 [%p], %v; ...  stackrestore.u64 %s;

Each lane has a stack behind its variables.  It grows upwards here, where hardware's grows down:
addresses differ, what is in bounds does not.  What a function allocates is gone when it returns
(`parsing/inlining.py` saves and restores around it).  Source: PTX ISA 9.7.20, stack manipulation.
"""

from __future__ import annotations

import numpy as np

from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, Value, indices
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup, Warpgroup
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.memory.variable_addresses import MAX_LOCAL
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import UNSIGNED
from tileas_xdsl.layout.integers import align_up

FRAME_ALIGNMENT = 8
"""Of any allocation, and where none is given."""

MAX_ALIGNMENT = 1 << 23


def _save(site: Site) -> Step:
    type_ = site.type()
    dest, out, begin = site.destination(0, type_), UNSIGNED[type_.bits], _begin(site)

    def step(f: ConvergenceGroup) -> None:
        f.r[dest] = _tops(f.warpgroup, begin).astype(out)

    return step


def _restore(site: Site) -> Step:
    saved, begin = site.source(0, site.type()), _begin(site)

    def step(f: ConvergenceGroup) -> None:
        warpgroup, lanes = f.warpgroup, indices(f.mask)
        tops, wanted = _tops(warpgroup, begin), _of_lanes(f.r[saved], lanes)
        wrong = (wanted > tops[lanes]) | (wanted < begin)
        if wrong.any():
            raise Fault(
                "invalid",
                f"stackrestore of {int(wanted[wrong][0]):#x}, which is no address of the stack of "
                f"lane {int(lanes[wrong][0]) % 32}",
                ("hint: the value is that of a stacksave whose allocations are still there",),
            )
        for lane, low in zip(lanes.tolist(), wanted.tolist(), strict=True):
            warpgroup.local_written[lane, low : tops[lane]] = False
        tops[lanes] = wanted

    return step


def _allocate(site: Site) -> Step:
    type_ = site.type()
    dest, size = site.destination(0, type_), site.source(1, type_)
    given = site.immediate(2) if len(site.operands) > 2 else FRAME_ALIGNMENT
    if given < 1 or given & (given - 1) or given > MAX_ALIGNMENT:
        site.fail(f"the alignment is a power of two up to {MAX_ALIGNMENT}, not {given}")
    alignment, out, begin = max(given, FRAME_ALIGNMENT), UNSIGNED[type_.bits], _begin(site)

    def step(f: ConvergenceGroup) -> None:
        warpgroup, lanes = f.warpgroup, indices(f.mask)
        tops = _tops(warpgroup, begin)
        starts = (tops[lanes] + alignment - 1) // alignment * alignment
        sizes = _of_lanes(f.r[size], lanes)
        ends = starts + np.minimum(sizes, MAX_LOCAL + 1)
        if int(ends.max()) > MAX_LOCAL:
            raise Fault(
                "illegal-address",
                f"alloca of {int(sizes.max())} bytes: the stack of a thread has no more than "
                f"{MAX_LOCAL}",
                ("hint: stackrestore gives back what is not used any more",),
            )
        _grow(warpgroup, int(ends.max()))
        tops[lanes] = ends
        found = np.zeros(warpgroup.lanes, out)
        found[lanes] = starts
        f.r[dest] = found

    return step


def _of_lanes(value: Value, lanes: Array) -> Array:
    """Return a register of the active lanes, as int64; what is larger than those as the largest."""
    every = np.minimum(value, np.uint64(np.iinfo(np.int64).max)).astype(np.int64)
    return every[lanes] if every.ndim else np.full(len(lanes), every)


def _begin(site: Site) -> int:
    """Return where stacks begin: behind the local variables."""
    return site.program.variables.local_size


def _tops(warpgroup: Warpgroup, begin: int) -> Array:
    """Return the end of each lane's stack."""
    if warpgroup.stack_tops is None:
        warpgroup.stack_tops = np.full(warpgroup.lanes, begin, np.int64)
    return warpgroup.stack_tops


def _grow(warpgroup: Warpgroup, size: int) -> None:
    """Make local memory at least that large."""
    local = warpgroup.local
    before = 0 if local is None else local.shape[1]
    if size <= before:
        return
    extent = align_up(max(size, 2 * before), 16)
    memory = np.zeros((warpgroup.lanes, extent), np.uint8)
    written = np.zeros((warpgroup.lanes, extent), np.bool_)
    if local is not None:
        memory[:, :before], written[:, :before] = local, warpgroup.local_written
    warpgroup.local, warpgroup.local_written = memory, written


TABLE = (
    Semantics("stacksave", _save),
    Semantics("stackrestore", _restore),
    Semantics("alloca", _allocate),
)
