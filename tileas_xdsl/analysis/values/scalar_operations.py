"""Pure scalar operations, which any thread of any agent may recompute."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects import gpu, scf
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.walking import operands_of
from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.dialects.kinds import Kinds

_TENSORS = Kinds(TensorType)


def is_of_scalars(op: Operation) -> bool:
    """Whether an operation computes numbers only, so that any thread can run it."""
    if op.regions:
        return False
    for value in (*operands_of(op), *op.results):
        if _TENSORS[type(value.type)]:
            return False
    return is_side_effect_free(op)


def operations_behind(values: Iterable[SSAValue]) -> Iterator[Operation]:
    """The operations that values are computed by, directly or not; each once."""
    seen: set[Operation] = set()
    pending = list(values)
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, Operation) and owner not in seen:
            seen.add(owner)
            pending += owner.operands
            yield owner


def steps_by_grid(loop: scf.ForOp) -> bool:
    """Whether the step of a loop is computed from the extents of the grid, as of one over tiles."""
    return any(isinstance(op, gpu.GridDimOp) for op in operations_behind([loop.step]))


def grid_axes_behind(values: Iterable[SSAValue]) -> set[str]:
    """The axes of the grid along which tile blocks have others of these values."""
    ids = (op for op in operations_behind(values) if isinstance(op, gpu.BlockIdOp))
    return {str(op.dimension.data) for op in ids}
