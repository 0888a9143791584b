"""Which operations of `nv_tileaa` are legal after the conversion."""

from __future__ import annotations

from xdsl.ir import Operation

from tileas_xdsl.dialects.kinds import Kinds
from tileas_xdsl.dialects.nv_tileaa import facts, messages
from tileas_xdsl.dialects.nv_tileaa.base import element_of
from tileas_xdsl.dialects.nv_tileaa.compute import conversions
from tileas_xdsl.dialects.nv_tileaa.memory import block_memory, globals, pointers, tokens, views
from tileas_xdsl.dialects.nv_tileaa.types import PtrType

STAY: tuple[type[Operation], ...] = (
    block_memory.AllocaOp,
    conversions.BitcastOp,
    conversions.IntToPtrOp,
    conversions.PtrToIntOp,
    facts.AssumeOp,
    globals.GetGlobalOp,
    globals.GlobalOp,
    messages.PrintOp,
    pointers.AddPtrOp,
    pointers.BasePointerOp,
    tokens.JoinMemTokenOp,
    views.MakeMemrefOp,
)
"""What `nv_tileas` has no operation for: addresses, globals, facts, and the order of memory."""

_STAY = Kinds(*STAY)


def is_legal(op: Operation) -> bool:
    """Whether an operation may stay."""
    if not op.name.startswith("nv_tileaa."):
        return True
    if isinstance(op, conversions.BitcastOp):
        return isinstance(element_of(op.source.type), PtrType)
    return _STAY[type(op)]
