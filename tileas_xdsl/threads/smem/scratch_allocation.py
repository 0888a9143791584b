"""Scratch buffers in shared memory through which threads exchange tiles, with reuse."""

from __future__ import annotations

from xdsl.ir import Operation

from tileas_xdsl.threads.codegen.barriers import synchronize_agent, synchronize_warp
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import ScratchAllocation
from tileas_xdsl.threads.pipeline.tile_properties import runs_again

REUSE_THRESHOLD = 32 * 1024
"""Bytes of scratch per agent above which buffers are reused, at the cost of a barrier."""


def allocate_scratch(
    e: ThreadBuilder, op: Operation, size: int, alignment: int, *, by_warp: bool = False
) -> int:
    """Return the offset of a scratch buffer that no thread still reads.

    Buffers of the operation being lowered are not reused.  With `by_warp` each warp reads only what
    it wrote itself; in a loop such a buffer is not reused, as there is no barrier between the
    warps.
    """
    owner, again = e.source or op, runs_again(op)
    mine = e.rooms.setdefault(e.agent.number, [])
    if sum(room.bytes for room in mine) + size > REUSE_THRESHOLD:
        fits = [
            room
            for room in mine
            if room.bytes >= size
            and room.owner is not owner
            and not room.is_kept
            and room.offset % alignment == 0
        ]
        if fits:
            room = min(fits, key=lambda room: room.bytes)
            room.owner = owner
            synchronize_agent(e)
            return room.offset
    offset = e.plan.shared.allocate(op, "exchange", size, f"of {op.name}", alignment)
    mine.append(ScratchAllocation(offset, size, owner, is_kept=by_warp and again))
    if again:
        synchronize_warp(e) if by_warp else synchronize_agent(e)
    return offset
