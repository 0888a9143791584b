"""Whether accesses to memory that tokens order stay inside of one CTA when a tile block is divided.

    %x, %t = tiled_load %v[%i] : 128 rows
    tiled_store %y, %v[%i] after %t : 128 rows     // each CTA loads and stores its own 64 rows

Tokens order what one tile block does.  CTAs that divide it do not wait for each other, so each has
to have what it orders for itself: tiles of one array that are divided along the same dimension in
parts of one size.  Part `p` of any such tile begins at a row that is `p` times that size, beyond a
multiple of whole tiles: no row is of two parts.
"""

from __future__ import annotations

from xdsl.dialects import func
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.threads.gmem.token_order import tokens_before
from tileas_xdsl.transforms.chunk_tiles.repeated_operations import ACCESSES, WRITES
from tileas_xdsl.transforms.tile_parts.parts import Tiles


def crossing_access(kernel: func.FuncOp, tiles: Tiles) -> Operation | None:
    """Return an access that tokens may order with one of another CTA; None if there is none."""
    for op in kernel.walk():
        if not isinstance(op, ACCESSES) or op.token is None:
            continue
        owners = (value.owner for value in tokens_before(op.token))
        for before in (owner for owner in owners if isinstance(owner, ACCESSES)):
            writes = isinstance(op, WRITES) or isinstance(before, WRITES)
            if writes and not _are_of_one_part(before, op, tiles):
                return op
    return None


def _are_of_one_part(one: Operation, other: Operation, tiles: Tiles) -> bool:
    """Whether equal parts of the tiles of two accesses alone can overlap."""
    first, second = _place(one, tiles), _place(other, tiles)
    return first is not None and first == second


def _place(op: Operation, tiles: Tiles) -> tuple[SSAValue, int] | None:
    """The array of an access to parts of a tile, and the dimension that it is divided along."""
    if not isinstance(op, TiledLoadOp | TiledStoreOp):
        return None
    tile = op.result if isinstance(op, TiledLoadOp) else op.value
    view = op.view.owner
    if tile not in tiles or not isinstance(view, ViewOp):
        return None
    return view.source, tiles[tile]
