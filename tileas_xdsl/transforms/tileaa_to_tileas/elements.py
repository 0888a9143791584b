"""Convert element conversions and grid queries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects import arith, gpu
from xdsl.dialects.builtin import f32, i32
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.dialects.nv_tileaa import grid
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of, tile_of
from tileas_xdsl.dialects.nv_tileaa.compute import conversions
from tileas_xdsl.threads.codegen.integer_ops import bit_width
from tileas_xdsl.transforms.tileaa_to_tileas.rules import Insert, Rule

_AXES = ("x", "y", "z")


def _dimension(op: grid.GridOp) -> gpu.DimensionAttr:
    return gpu.DimensionAttr(gpu.DimensionEnum(_AXES[op.axis.value.data]))


def program_id(op: grid.GetProgramIdOp, insert: Insert) -> Sequence[SSAValue]:
    """The number of the block."""
    return [insert.cast(insert(gpu.BlockIdOp(_dimension(op))).result, i32)]


def num_programs(op: grid.GetNumProgramsOp, insert: Insert) -> Sequence[SSAValue]:
    """The extent of the grid."""
    return [insert.cast(insert(gpu.GridDimOp(_dimension(op))).result, i32)]


def fp_to_fp(op: conversions.FpToFpOp, insert: Insert) -> Sequence[SSAValue]:
    """Wider, or narrower; between types of one width by way of `f32`, which has both exactly.

    The last step has the rounding; those before are exact.
    """
    value, target = op.source, element_of(op.result.type)
    if bit_width(element_of(value.type)) == bit_width(target):
        value = insert(arith.ExtFOp(value, tile_of(f32, shape_of(value.type)))).result
    widens = bit_width(element_of(value.type)) < bit_width(target)
    convert = arith.ExtFOp if widens else arith.TruncFOp
    made = convert(value, op.result.type)
    made.attributes.update(op.attributes)
    return [insert(made).result]


ELEMENTS: Mapping[type[Operation], Rule] = {
    conversions.FpToFpOp: fp_to_fp,
    grid.GetNumProgramsOp: num_programs,
    grid.GetProgramIdOp: program_id,
}
