"""Loads and stores that TMA can do are done by TMA, where that is preferred.

What TMA moves is in shared memory: what is stored is put there first, and what reads the values of
a loaded tile brings them into registers.  Source: PTX ISA, cp.async.bulk.tensor.
"""

from __future__ import annotations

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Operation

from tileas_xdsl.analysis.values.launches.pointer_base_arrays import array_of
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.enums import MemSemantic, Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.memory.arguments import flag_attribute
from tileas_xdsl.dialects.nv_tileas.memory.atoms import is_zero
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.target.tma.tensor_map_rules import BOX_LIMIT
from tileas_xdsl.transforms.assign_layouts.spaces.space_requirements import UNDECIDED
from tileas_xdsl.transforms.tma_to_async.global_arrays import stride_problem

ROW_BITS = 128
"""Rows of boxes are multiples of 16 bytes."""

MAX_DIMENSIONS = 5


def prefer_tma(root: Operation) -> None:
    """Give TMA atoms to the accesses that have none and that TMA can do."""
    for op in operations_in(root):
        if isinstance(op, TiledLoadBase) and _is_eligible(op, op.loaded_type()):
            if op.mask is None and is_zero(op.padding_value):
                _set_atom(op, "tma_load")
        elif isinstance(op, TiledStoreOp) and _is_eligible(op, op.value.type):
            _put_in_shared_memory(op)
            _set_atom(op, "tma_store")


def _is_eligible(op: TiledLoadBase | TiledStoreOp, type_: Attribute) -> bool:
    """Whether TMA can move a tile of this type between shared memory and the view."""
    shape, bits = shape_of(type_) or (), bits_of(element_of(type_))
    is_weak = op.mem_semantic is None or op.mem_semantic.data is MemSemantic.WEAK
    is_global = space_of(op.view.type) in (None, Space.GMEM)
    if op.atom != UNDECIDED or not is_weak or not is_global:
        return False
    if op.offsets and isinstance(op, TiledStoreOp):
        return False
    if stride_problem(array_of(op.view).type, bits) is not None:
        return False
    if not shape or len(shape) > MAX_DIMENSIONS or not all(1 <= n <= BOX_LIMIT for n in shape):
        return False
    return bits % 8 == 0 and shape[-1] * bits % ROW_BITS == 0


def _set_atom(op: TiledLoadBase | TiledStoreOp, direction: str) -> None:
    rank = len(shape_of(op.view.type) or ())
    op.atom = AtomAttr.of(f"{direction}_{rank}d")
    op.properties["allow_tma"] = flag_attribute(True)


def _put_in_shared_memory(op: TiledStoreOp) -> None:
    tile = as_tile(op.value.type)
    if tile is None or space_of(tile) is Space.SMEM:
        return
    shared = TensorType(tile.element_type, tile.get_shape(), SpaceAttr(Space.SMEM))
    conversion = ConvertLayoutOp(op.value, shared)
    conversion.location = op.location
    assert op.parent is not None
    op.parent.insert_op_before(conversion, op)
    op.operands[op.operands.index(op.value)] = conversion.result
