"""Cut the buffers of a kernel into parts whose extents are powers of two.

Extents of tiles are powers of two (Tile IR), those of TileLang's buffers any: 192 columns become
128 and 64. Every extent is cut in the same way, so that parts of operands meet parts of results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from xdsl.dialects import func
from xdsl.ir import Operation
from xdsl.rewriter import Rewriter

from tileas_xdsl.dialects.tl.base import shape_of
from tileas_xdsl.dialects.tl.buffers import AllocFragmentOp, AllocSharedOp
from tileas_xdsl.dialects.tl.compute import CumSumOp, GemmOp, ReduceOp
from tileas_xdsl.dialects.tl.loops import ParallelOp
from tileas_xdsl.dialects.tl.moves import CopyOp, FillOp
from tileas_xdsl.layout.integers import is_power_of_two
from tileas_xdsl.transforms.tl_parts.buffers import CutError, Parts
from tileas_xdsl.transforms.tl_parts.parallel_loops import accesses, parallel
from tileas_xdsl.transforms.tl_parts.whole_operations import copy, cumsum, fill, gemm, reduce

_HANDLERS: Mapping[type[Operation], Callable[[Parts, Any], None]] = {
    CopyOp: copy,
    CumSumOp: cumsum,
    FillOp: fill,
    GemmOp: gemm,
    ParallelOp: parallel,
    ReduceOp: reduce,
}


def in_powers_of_two(function: func.FuncOp) -> func.FuncOp:
    """Return a kernel whose buffers have extents that are powers of two; raises `CutError`.

    It is the kernel itself where all have.
    """
    if not _is_uneven(function):
        return function
    made, parts = function.clone(), Parts()
    allocations = [op for op in made.walk() if isinstance(op, AllocFragmentOp | AllocSharedOp)]
    for op in allocations:
        parts.allocate(op)
    for op in list(made.walk()):
        handler = _HANDLERS.get(type(op))
        if handler is not None and _touches(parts, op):
            handler(parts, op)
            Rewriter.erase_op(op)
    for buffer in parts.made:
        for use in buffer.uses:
            raise CutError(use.operation, "accesses a part of a buffer that is cut in several")
        assert isinstance(buffer.owner, Operation)
        Rewriter.erase_op(buffer.owner)
    return made


def _is_uneven(function: func.FuncOp) -> bool:
    """Whether a kernel has a buffer or a loop whose extents are no powers of two."""
    return any(not all(map(is_power_of_two, _extents(op))) for op in function.walk())


def _extents(op: Operation) -> Sequence[int]:
    match op:
        case AllocFragmentOp() | AllocSharedOp():
            return shape_of(op.buffer.type)
        case ParallelOp():
            return op.extents
        case _:
            return ()


def _touches(parts: Parts, op: Operation) -> bool:
    """Whether an operation is to be cut."""
    if isinstance(op, ParallelOp):
        is_uneven = not all(map(is_power_of_two, op.extents))
        return is_uneven or bool(accesses(parts, op))
    return any(map(parts.is_cut, op.operands))
