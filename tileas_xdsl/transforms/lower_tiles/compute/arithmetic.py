"""Handlers of `arith`, `math`, `gpu`: scalars as they are, tiles register by register."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

from xdsl.dialects import arith, gpu, math, memref
from xdsl.dialects.builtin import (
    IndexType,
    TensorType,
)
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.values.integer_bounds import is_never_negative
from tileas_xdsl.analysis.values.operand_ranges import RANGED, keep_operand_ranges
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import BlockIdxOp, GridDimOp
from tileas_xdsl.dialects.interned import vector_of
from tileas_xdsl.dialects.ir_queries import constant_integer, uniform_constant
from tileas_xdsl.dialects.nv_tileaa.grid import GetNumProgramsOp
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.xdsl_ops import constant_op
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.elementwise_ops import on_scalars, on_vectors, recreate
from tileas_xdsl.threads.codegen.integer_ops import cast_index, index_constant
from tileas_xdsl.threads.codegen.kernel_signature import tile_blocks
from tileas_xdsl.threads.codegen.lowered_values import (
    GlobalView,
    Lowered,
    RegisterTile,
    Scalar,
    Splat,
    held_as,
)
from tileas_xdsl.threads.registers.register_tile import common_layout, in_registers
from tileas_xdsl.threads.registers.vector_split import vectors_of


def constant(e: ThreadBuilder, op: arith.ConstantOp) -> Sequence[Lowered]:
    """Lower a constant; a splat tile gets registers at its uses."""
    tile = as_tile(op.result.type)
    if tile is None:
        return [Scalar(e.insert(constant_op(op.value)).result)]
    constant = uniform_constant(op.result)
    if constant is None:
        raise op_error(op, "a constant tile has one value in all of its elements")
    return [Splat(tile.get_shape(), tile.element_type, constant)]


UNSIGNED: Mapping[type[Operation], type[Any]] = {
    arith.CeilDivSIOp: arith.CeilDivUIOp,
    arith.DivSIOp: arith.DivUIOp,
    arith.FloorDivSIOp: arith.DivUIOp,
    arith.RemSIOp: arith.RemUIOp,
}
"""Divisions of integers that are not negative: by a power of two a shift, or a mask."""


def division(e: ThreadBuilder, op: Operation) -> Sequence[Lowered]:
    """Lower a division with a sign; of numbers that are never negative one without."""
    if is_on_tiles(op) or not all(map(is_never_negative, op.operands)):
        return elementwise(e, op)
    made = UNSIGNED[type(op)](*(e.scalar(v) for v in op.operands))
    return [Scalar(value) for value in on_scalars(e, made, made.operands)]


def elementwise(e: ThreadBuilder, op: Operation) -> Sequence[Lowered]:
    """An operation of `arith` or `math`: on scalars as it is, on tiles register by register."""
    if not is_on_tiles(op):
        return [Scalar(v) for v in on_scalars(e, op, [e.scalar(v) for v in op.operands])]
    result: Any = op.results[0].type
    found = [e.get(v) for v in op.operands]
    layout = common_layout(e, op, result, found)
    tiles = [
        None if isinstance(value, Scalar) else in_registers(e, op, operand, layout)
        for operand, value in zip(op.operands, found, strict=True)
    ]
    elements = [held_as(cast(Any, value.type).element_type) for value in op.results]
    split = vectors_of(layout)
    vectors = [vector_of(element, split.length) for element in elements]
    blocks: list[Sequence[SSAValue]] = []
    for k in range(split.count):
        operands = [
            e.scalar(operand) if tile is None else tile.parts[k]
            for operand, tile in zip(op.operands, tiles, strict=True)
        ]
        if len(vectors) == 1:
            blocks.append([on_vectors(e, op, operands, vectors[0])])
        else:
            blocks.append(recreate(e, op, operands, vectors))
    parts = zip(*blocks, strict=True)
    return [RegisterTile(layout, *part) for part in zip(elements, parts, strict=True)]


def extension(e: ThreadBuilder, op: arith.ExtFOp) -> Sequence[Lowered]:
    """Extend floats, but those of a line that is kept in the wider type."""
    found, result = e.get(op.input), as_tile(op.result.type)
    if result is not None and isinstance(found, RegisterTile):
        is_extended = found.element == result.element_type
        if is_extended:
            return [found]
    return elementwise(e, op)


def ranged(e: ThreadBuilder, op: Operation) -> Sequence[Lowered]:
    """Lower what is expanded by the ranges of its operands, which are known of tiles."""
    if is_on_tiles(op):
        keep_operand_ranges(op)
    return elementwise(e, op)


def is_on_tiles(op: Operation) -> bool:
    """Whether an operation takes or gives tiles."""
    return any(isinstance(v.type, TensorType) for v in (*op.operands, *op.results))


def block_id(e: ThreadBuilder, op: gpu.BlockIdOp) -> Sequence[Lowered]:
    """Lower the CTA id in the grid."""
    value = e.insert(BlockIdxOp(str(op.dimension.data))).result
    return [Scalar(cast_index(e, value, IndexType()))]


def grid_dim(e: ThreadBuilder, op: gpu.GridDimOp) -> Sequence[Lowered]:
    """Lower the grid extent in CTAs."""
    value = e.insert(GridDimOp(str(op.dimension.data))).result
    return [Scalar(cast_index(e, value, IndexType()))]


def num_programs(e: ThreadBuilder, op: GetNumProgramsOp) -> Sequence[Lowered]:
    """Lower the extent of the grid in tile blocks, which a launch of a persistent kernel passes."""
    return [Scalar(tile_blocks(e, op.axis.value.data))]


def dim(e: ThreadBuilder, op: memref.DimOp) -> Sequence[Lowered]:
    """Lower `memref.dim` of an argument."""
    source, axis = e.get(op.source), constant_integer(op.index)
    if not isinstance(source, GlobalView) or axis is None or axis >= len(source.extents):
        raise op_error(op, "asks for a constant dimension of an argument of the kernel")
    extent = source.extents[axis]
    if isinstance(extent, int):
        return [Scalar(index_constant(e, extent))]
    return [Scalar(cast_index(e, extent, IndexType()))]


HANDLERS: Handlers = {
    **dict.fromkeys((*arith.Arith.operations, *math.Math.operations), elementwise),
    arith.ConstantOp: constant,
    arith.ExtFOp: extension,
    **dict.fromkeys(UNSIGNED, division),
    **dict.fromkeys(RANGED, ranged),
    gpu.BlockIdOp: block_id,
    GetNumProgramsOp: num_programs,
    gpu.GridDimOp: grid_dim,
    memref.DimOp: dim,
}
