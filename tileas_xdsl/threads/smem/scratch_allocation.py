"""Allocate the scratch buffers through which the threads of an agent exchange tiles.

Each exchange gets memory of its own as long as that is cheap: a buffer may be overwritten only when
all threads have read it, which costs a barrier. Above `REUSE_THRESHOLD`, or where the kernel is
short of shared memory (`plan.is_thrifty`), the smallest free buffer that fits is reused behind a
barrier, and a large one is split. All exchanges of a warp reuse them where several warps are to
share a CTA (`share-ctas`): its barrier is one of the warp. 64x64 f16 exchanges (8 KiB) in a kernel
that is not short:

    1st to 4th    8 KiB each of their own           no barrier before the store
    5th           one of the four                   barrier, then store: 40 KiB would pass 32 KiB

Thrifty kernels also use memory of tiles and pipeline stages that are dead by then
(`dead_memory.py`). An exchange within one warp needs no block barrier, only `bar.warp.sync`; in a
loop its buffer is kept, because warps do not wait for one another there.
"""

from __future__ import annotations

from xdsl.ir import Operation

from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.threads.codegen.barriers import (
    separate_rounds,
    synchronize_agent,
    synchronize_warp,
)
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.shared_allocations import ScratchAllocation
from tileas_xdsl.threads.pipeline.tile_properties import runs_again
from tileas_xdsl.threads.smem.dead_memory import dead_memory, is_free
from tileas_xdsl.threads.smem.smem_layout import ALIGNMENT

REUSE_THRESHOLD = 32 * 1024
"""Bytes of scratch per agent above which buffers are reused, at the cost of a barrier."""

SMALL_PART = 8
"""A buffer this many times smaller than a free one does not take a part of it."""


def allocate_scratch(
    e: ThreadBuilder, op: Operation, size: int, alignment: int, *, by_warp: bool = False
) -> int:
    """Return the offset of a scratch buffer that no thread still reads.

    Buffers of the operation being lowered are not reused.  With `by_warp` each warp reads only what
    it wrote itself; in a loop such a buffer is not reused, as there is no barrier between the
    warps.
    """
    owner, again, is_alone = e.source or op, runs_again(op), _waits_for_itself(e)
    buffers = e.scratch_buffers.setdefault(e.agent.number, [])
    if e.plan.is_thrifty:
        _add_dead_memory(e, op, buffers)
    is_scarce = sum(buffer.bytes for buffer in buffers) + size > REUSE_THRESHOLD
    if e.plan.is_thrifty or is_alone or is_scarce:
        fits = [
            buffer
            for buffer in buffers
            if buffer.bytes >= size
            and buffer.owner is not owner
            and (is_alone or not buffer.is_kept)
            and buffer.offset % alignment == 0
            and not (e.plan.is_thrifty and _is_better_kept(e, buffer, size))
        ]
        if fits:
            buffer = min(fits, key=lambda buffer: buffer.bytes)
            buffer.owner, buffer.is_shared = owner, True
            if e.plan.is_thrifty:
                _split(buffer, size, buffers)
            synchronize_agent(e)
            return buffer.offset
    offset = e.plan.shared.allocate(op, "exchange", size, f"of {op.name}", alignment)
    made = ScratchAllocation(offset, size, owner, is_kept=by_warp and again)
    buffers.append(made)
    if again:
        # The previous iteration may still be reading the buffer.
        synchronize_warp(e) if by_warp else separate_rounds(e, made)
    return offset


def _waits_for_itself(e: ThreadBuilder) -> bool:
    """Whether an agent is a warp of a CTA that several share: a barrier is one of the warp."""
    return e.agent.threads == WARP and bool(e.plan.facts.spec.persistent)


def release_scratch(e: ThreadBuilder, offset: int) -> None:
    """Let the operation being lowered reuse a buffer that it has read, where memory is scarce."""
    if e.plan.is_thrifty:
        for buffer in e.scratch_buffers[e.agent.number]:
            if buffer.offset == offset:
                buffer.owner = None


def _add_dead_memory(
    e: ThreadBuilder, op: Operation, scratch_buffers: list[ScratchAllocation]
) -> None:
    """Add the memory of dead tiles and stages to the free buffers, each range once."""
    known = [(buffer.offset, buffer.offset + buffer.bytes) for buffer in scratch_buffers]
    for offset, size in dead_memory(e, op):
        is_known = any(begin < offset + size and offset < end for begin, end in known)
        if not is_known and is_free(e, offset, size, op):
            scratch_buffers.append(ScratchAllocation(offset, size, None, is_kept=False))


def _is_better_kept(e: ThreadBuilder, buffer: ScratchAllocation, size: int) -> bool:
    """Whether a small buffer would cut a large one, and there is other memory for it."""
    has_memory = e.plan.shared.bytes + size <= e.plan.target.shared_memory_per_block
    return has_memory and SMALL_PART * size < buffer.bytes


def _split(buffer: ScratchAllocation, size: int, scratch_buffers: list[ScratchAllocation]) -> None:
    """Shrink a buffer to `size` bytes and make the rest a free buffer."""
    used = align_up(size, ALIGNMENT)
    if buffer.bytes > used:
        rest = ScratchAllocation(buffer.offset + used, buffer.bytes - used, None, is_kept=False)
        scratch_buffers.append(rest)
        buffer.bytes = used
