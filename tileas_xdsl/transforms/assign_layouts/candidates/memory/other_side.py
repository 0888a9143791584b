"""The memory on the other side of an operation on registers, and how its rows are aligned.

%x = tiled_load %view             global memory, rows aligned as `assume` states of the strides
%y = load %pointers               global memory, as offsets are divisible (`row_divisor`)
%z = convert_layout %s            shared memory, where %s is a buffer
%w = reduce %x                    none: registers on both sides
"""

from __future__ import annotations

from math import gcd

from xdsl.dialects.builtin import DYNAMIC_INDEX, MemRefType
from xdsl.ir import Operation

from tileas_xdsl.analysis.layouts.tile_groups import TileGroup
from tileas_xdsl.analysis.values.launches.pointer_base_arrays import (
    stated_divisor,
    without_promises,
)
from tileas_xdsl.analysis.values.rows.column_runs import counts_up_in_vectors
from tileas_xdsl.analysis.values.rows.divisors import row_divisor
from tileas_xdsl.analysis.values.rows.strides import row_step
from tileas_xdsl.dialects.nv_tileaa.base import as_array
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import pointer_of
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp, strides_of
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadBase, StoreBase
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.threads.pipeline.tile_properties import origin
from tileas_xdsl.transforms.assign_layouts.request import Assignment


def stores_tile(op: Operation, group: TileGroup) -> bool:
    """Whether an operation writes a tile of a group to memory, rather than reads it from there."""
    if isinstance(op, ConvertLayoutOp):
        return op.source in group.values
    return isinstance(op, TiledStoreOp | StoreBase)


def memory_of(a: Assignment, op: Operation, group: TileGroup) -> Space | None:
    """The memory whose rows an operation loads or stores; None if it has no such part."""
    if isinstance(op, ConvertLayoutOp):
        other = a.groups.of(op.source if op.result in group.values else op.result)
        is_shared = other is not None and a.kind(other) == frozenset({Space.SMEM})
        return Space.SMEM if is_shared else None
    return memory_of_access(op)


def memory_of_access(op: Operation) -> Space | None:
    """The memory whose rows a load or a store accesses; None of any other operation."""
    if isinstance(op, TiledLoadBase | TiledStoreOp):
        return space_of(op.view.type) or Space.GMEM
    if isinstance(op, LoadBase | StoreBase) and pointer_of(op.base.type) is not None:
        is_row = row_step(op.base) == 1 or counts_up_in_vectors(op.base, ACCESS_BYTES)
        return Space.GMEM if is_row else None
    return None


def row_alignment(op: Operation, bits: int) -> int:
    """Return the alignment in bytes of the rows that an operation accesses, as types guarantee it.

    Dynamic sizes and strides are taken as aligned: the generated code tests them at run time and
    has a scalar path.
    """
    if not isinstance(op, TiledLoadBase | TiledStoreOp) or op.rotated is not None:
        return ACCESS_BYTES
    array = origin(op.view)
    if not isinstance(array.type, MemRefType):
        return ACCESS_BYTES
    type_ = as_array(array)
    strides = [stride for stride in strides_of(type_)[:-1] if stride != DYNAMIC_INDEX]
    return gcd(ACCESS_BYTES, *(stride * bits // 8 for stride in strides))


def stated_alignment(op: Operation, bits: int) -> int:
    """Return the alignment in bytes that `assume` operations guarantee for rows.

    The front end states there what a launch knows of its arguments. Where nothing is stated, the
    run-time test of alignment mostly fails, so accesses are costed as single elements. Rows of
    pointers are aligned as far as their offsets are divisible (`row_divisor`).
    """
    if isinstance(op, LoadBase | StoreBase):
        return gcd(ACCESS_BYTES, row_divisor(op.base))
    if not isinstance(op, TiledLoadBase | TiledStoreOp) or op.rotated is not None:
        return ACCESS_BYTES
    made = without_promises(origin(op.view)).owner
    if not isinstance(made, MakeMemrefOp):
        return ACCESS_BYTES
    *outer, inner = (made.stride(axis) for axis in range(made.array.get_num_dims()))
    if inner != 1:
        return ACCESS_BYTES
    apart = (stated_divisor(stride) * bits // 8 for stride in outer)
    return gcd(ACCESS_BYTES, stated_divisor(made.pointer), *apart)
