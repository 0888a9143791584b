"""What a TMA store has to wait for, as attributes of the store: how far bulk copies are in order.

Bulk stores read their tile and write their array after they have been issued, in any order.
(PTX ISA, cp.async.bulk.commit_group and cp.async.bulk.wait_group{.read}.)
"""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.dialects import scf
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Attribute, Block, BlockArgument, Operation, OpResult, SSAValue
from xdsl.traits import MemoryWriteEffect

from tileas_xdsl.dialects.ir_queries import has_trait
from tileas_xdsl.dialects.nv_tileaa.types import AAMemTokenType
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.dialects.nv_tileas.tma.ops import TmaLoadBase, TmaTransferOp
from tileas_xdsl.dialects.nv_tileas.types import MemTokenType

UNTIL_READ = "nv_tileas.until_read"
"""Nothing reads or writes the array behind the store: to wait for it is to wait for its tile."""

AFTER_STORES = "nv_tileas.after_stores"
"""TMA stores before it may write the same elements: they end before it begins."""


def writes_unordered(op: Operation) -> bool:
    """Whether nothing but its place says what a store comes before."""
    if not has_trait(op, MemoryWriteEffect) or UNTIL_READ in op.attributes:
        return False
    if isinstance(op, CopyOp) and space_of(op.destination.type) is Space.SMEM:
        return False
    return not any(isinstance(t, AAMemTokenType | MemTokenType) for t in op.operand_types)


def store_of(token: SSAValue) -> TmaTransferOp | None:
    """The bulk store that a token is of: its own, that of a round before, or that of an arm."""
    seen, pending = set[SSAValue](), [token]
    while pending:
        token = pending.pop()
        if token in seen:
            continue
        seen.add(token)
        owner = token.owner
        if isinstance(owner, TmaTransferOp) and not isinstance(owner, TmaLoadBase):
            return owner
        pending += _yielded(token)
    return None


def _yielded(token: SSAValue) -> list[SSAValue]:
    """What a loop or branch, which gives a token, yields for it."""
    owner = token.owner
    parent = owner.parent_op() if isinstance(owner, Block) else owner
    if not isinstance(parent, scf.ForOp | scf.IfOp):
        return []
    position = token.index - 1 if isinstance(token, BlockArgument) else 0
    if isinstance(token, OpResult):
        position = token.index
    ends = [region.block.last_op for region in parent.regions if region.blocks]
    return [end.operands[position] for end in ends if end is not None and position >= 0]


def ordering(op: Operation) -> Mapping[str, Attribute]:
    """Return the attributes of order that a store has."""
    return {
        name: op.attributes[name] for name in (UNTIL_READ, AFTER_STORES) if name in op.attributes
    }


def set_flag(op: Operation, name: str) -> None:
    """Give a store one of these attributes."""
    op.attributes[name] = UnitAttr()
