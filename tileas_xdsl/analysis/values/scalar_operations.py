"""Pure scalar operations, which any thread of any agent may recompute."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from xdsl.dialects import gpu, memref
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Operation, SSAValue
from xdsl.traits import is_side_effect_free

_NUMBERS = (gpu.BlockIdOp, gpu.GridDimOp, memref.DimOp)
"""What the upstream dialects do not call free of effects, beside division."""


def is_of_scalars(op: Operation) -> bool:
    """Whether an operation computes numbers only, so that any thread can run it."""
    types = (*op.operand_types, *op.result_types)
    if op.regions or any(isinstance(type_, TensorType) for type_ in types):
        return False
    return isinstance(op, _NUMBERS) or op.name.startswith("arith.") or is_side_effect_free(op)


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
