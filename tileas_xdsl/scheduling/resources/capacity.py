"""What a multiprocessor offers to one loop: shared memory, warps, resident blocks."""

from __future__ import annotations

from xdsl.dialects import func, scf
from xdsl.ir import Operation

from tileas_xdsl.analysis.memory.shared_memory import aligned_bytes, allocated_tiles
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileaa.attributes import spec_of
from tileas_xdsl.target.arch import Target

RESERVED = 1024
"""Bytes of shared memory for barriers."""


@dataclass(frozen=True)
class LoopCapacity:
    """Resources of a multiprocessor that are available to a loop."""

    target: Target
    warps: int
    """Of the kernel."""
    blocks: int
    """Those that share a multiprocessor."""
    shared_bytes: int
    """Shared memory for the buffers of the loop."""


def capacity_of(
    function: func.FuncOp, loop: scf.ForOp, target: Target, most_blocks: int | None = None
) -> LoopCapacity:
    """Return what a kernel leaves to a loop: shared memory beside the tiles outside of loops.

    Loops run one after another: tiles that another innermost loop loads take nothing from this one.
    As many blocks share a multiprocessor as a hint asks for, but `most_blocks` where that is known.
    """
    spec = spec_of(function)
    others = sum(
        aligned_bytes(type_)
        for op, type_ in allocated_tiles(function)
        if op.parent is not loop.body.block and not _is_of_another(op, loop)
    )
    blocks = min(max(spec.occupancy, 1), most_blocks or spec.occupancy or 1)
    shared = target.shared_memory_per_block // blocks - RESERVED - others
    return LoopCapacity(target, spec.num_warps, blocks, shared)


def _is_of_another(op: Operation, loop: scf.ForOp) -> bool:
    """Whether a tile is alive inside of another loop alone, which runs before or after this one."""
    around = op.parent_op()
    return isinstance(around, scf.ForOp) and not around.is_ancestor(loop)
