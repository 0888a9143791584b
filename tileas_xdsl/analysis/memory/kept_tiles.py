"""Tiles that a load keeps in shared memory, and parts of them: read where they are used.

%f = async.tiled_load %v[%i] {nv_tileas.kept_in_shared_memory}
%x = async.wait %f                              kept
%k = extract_slice %x[0, %c][1, 8192]           kept
%w = extf %k                                    in registers
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.nv_tileas.memory.tiled import KEPT, AsyncTiledLoadOp
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import outflows
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp


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


def waits_for(token: SSAValue) -> Sequence[Operation]:
    """Return what uses a token, also where control flow carries it to."""
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
