"""Tiles that a load keeps in shared memory, and parts of them: read where they are used.

%f = async.tiled_load %v[%i] {nv_tileas.kept_in_shared_memory}
%x = async.wait %f                              kept
%k = extract_slice %x[0, %c][1, 8192]           kept
%w = extf %k                                    in registers
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import enclosing_function
from tileas_xdsl.dialects.nv_tileas.memory.tiled import (
    KEPT,
    AsyncTiledLoadOp,
    TiledLoadBase,
    TiledLoadOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import outflows
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES


def is_kept(value: SSAValue) -> bool:
    """Whether a tile is in shared memory and read part by part, or such a part."""
    made = value.owner
    if isinstance(made, ExtractSliceOp):
        return is_kept(made.source)
    if not isinstance(made, WaitOp):
        return False
    load = made.token.owner
    is_there = isinstance(load, AsyncTiledLoadOp) and KEPT in load.attributes
    return is_there and all(isinstance(use.operation, ExtractSliceOp) for use in value.uses)


def reads_kept(op: Operation) -> bool:
    """Whether a load reads what another one has copied to shared memory."""
    return isinstance(op, TiledLoadOp) and KEPT in op.attributes


def is_aligned(op: TiledLoadBase) -> bool:
    """Whether a row is rotated so that its vectors are aligned; of others, as lines, none are."""
    return op.rotated is not None and op.rotated.value.data % ACCESS_BYTES == 0


def free_numbers(op: Operation, count: int) -> range:
    """Return `count` ids of kept tiles that the function around `op` does not use yet."""
    function = op if op.parent_op() is None else enclosing_function(op) or op
    used = [one.attributes.get(KEPT) for one in operations_in(function)]
    first = 1 + max((one.value.data for one in used if isinstance(one, IntegerAttr)), default=-1)
    return range(first, first + count)


def readers_of(op: AsyncTiledLoadOp) -> Sequence[TiledLoadOp]:
    """The loads, each of a part, that read the rotated row which a load keeps in shared memory."""
    function, number = enclosing_function(op), op.attributes[KEPT]
    inside = () if function is None else operations_in(function)
    loads = (one for one in inside if isinstance(one, TiledLoadOp))
    return [one for one in loads if one.attributes.get(KEPT) == number]


def waits_for(token: SSAValue) -> Sequence[Operation]:
    """Return all users of a token, followed through control flow that forwards it."""
    found: dict[Operation, None] = {}
    pending, seen = [token], {token}
    while pending:
        for use in pending.pop().uses:
            carried = outflows(use)
            if carried is None:
                found[use.operation] = None
            pending += [value for value in carried or () if value not in seen]
            seen.update(carried or ())
    return list(found)
