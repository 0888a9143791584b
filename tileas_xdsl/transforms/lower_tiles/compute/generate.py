"""Handlers of `tensor.generate` and `tensor.extract`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, tensor
from xdsl.ir import Block, SSAValue

from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, layout_role
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.ir_queries import enclosing
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.dialects.nv_tileas.enums import MemSemantic
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import StageOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.layout.registers.permuted_dimensions import permuted_dimensions
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.codegen.builder import Handlers, ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import Lowered, RegisterTile, Scalar, Splat, held_as
from tileas_xdsl.threads.convert.register_conversion import carried
from tileas_xdsl.threads.index.generate import Generation
from tileas_xdsl.threads.index.runtime_elements import from_carrier, scratch_element
from tileas_xdsl.threads.registers.layout_from_encoding import encoded_layout
from tileas_xdsl.threads.registers.register_tile import common_layout, in_registers
from tileas_xdsl.threads.registers.vector_split import vectors_of
from tileas_xdsl.threads.registers.vector_values import (
    element,
    one_vector,
    splat_scalar,
    tile_of_vector,
)
from tileas_xdsl.threads.smem.scratch_buffer import spilled
from tileas_xdsl.transforms.normalize_dot_operands.permutations import permuted


def generate(e: ThreadBuilder, op: GenerateOp) -> Sequence[Lowered]:
    """Lower a tile whose elements the body computes."""
    type_ = op.result.type
    if (renamed := _renamed(e, op)) is not None:
        return [renamed]
    models = [*_elementwise_operands(e, op), *_met(e, op)]
    work = Generation(e, op, common_layout(e, op, type_, models))
    work.sources.prepare()
    parts = [work.part(block) for block in range(vectors_of(work.layout).count)]
    return [RegisterTile(work.layout, held_as(type_.element_type), tuple(parts))]


def _renamed(e: ThreadBuilder, op: GenerateOp) -> RegisterTile | None:
    """A tile of permuted dimensions whose elements are in the registers of the one it is of."""
    found, wanted = permuted(op.result), encoded_layout(e, op, op.result.type)
    tile = None if found is None else e.values.get(found.source)
    if found is None or wanted is None or not isinstance(tile, RegisterTile):
        return None
    if permuted_dimensions(tile.layout, found.order) != wanted:
        return None
    return tile_of_vector(e, wanted, tile.element, one_vector(e, tile))


def _elementwise_operands(e: ThreadBuilder, op: GenerateOp) -> Sequence[Lowered]:
    """Return the tiles whose elements are read at the coordinates of the new ones."""
    arguments = tuple(op.body.block.args)
    return [
        e.get(inner.tensor)
        for inner in instances_in(op.body.block, tensor.ExtractOp)
        if tuple(inner.indices) == arguments
        and shape_of(inner.tensor.type) == shape_of(op.result.type)
    ]


def _met(e: ThreadBuilder, op: GenerateOp) -> Sequence[Lowered]:
    """Return the tiles in registers that the new one is combined with, element by element.

    A tile without a layout in its type is made in the registers of those that it meets.
    """
    users = [use.operation for use in op.result.uses]
    values = [
        v for user in users if layout_role(user) is LayoutRole.ELEMENTWISE for v in user.operands
    ]
    found = [e.values.get(value) for value in values]
    return [one for one in found if isinstance(one, RegisterTile)]


def extract(e: ThreadBuilder, op: tensor.ExtractOp) -> Sequence[Lowered]:
    """Lower the extraction of one element, which all threads get."""
    found = e.get(op.tensor)
    if isinstance(found, Splat):
        return [Scalar(splat_scalar(e, found))]
    if enclosing(op, GenerateOp) is not None:
        raise op_error(
            op,
            "takes an element in a loop of a generated tile, where threads do not meet: generate "
            "the tile inside of the loop, or take the element under an scf.if",
        )
    tile = in_registers(e, op, op.tensor)
    if not tile.layout.shape or (_is_everywhere(tile.layout) and _is_one_value(op.tensor)):
        return [Scalar(element(e, tile.parts[0], 0))]
    indices = [e.scalar(value) for value in op.indices]
    scratch = spilled(e, op, carried(e, tile))
    value = scratch_element(e, scratch, tile.layout.shape, indices)
    return [Scalar(from_carrier(e, value, tile.element))]


def _is_everywhere(layout: RegisterLayout) -> bool:
    """Whether the first register of each thread holds the only element of a tile."""
    return layout.elements == 1 and not layout.held[:, 0].any()


@memoized_walk
def _is_one_value(tile: SSAValue) -> bool:
    """Whether copies of an element in several threads are equal: weak loads see no other writes.

    Threads that poll a flag may see it change one after the other: one of them reads for all.
    """
    made = tile.owner
    if isinstance(made, LoadOp | TiledLoadOp):
        return made.mem_semantic is None or made.mem_semantic.data is MemSemantic.WEAK
    if isinstance(made, arith.ConstantOp | tensor.SplatOp):
        return True
    if isinstance(made, ViewOp | ConvertLayoutOp):
        return _is_one_value(made.source)
    if isinstance(made, Block):  # A stage, which nobody writes until it is released.
        return isinstance(made.parent_op(), StageOp)
    is_elementwise = layout_role(made) is LayoutRole.ELEMENTWISE
    return is_elementwise and all(map(_is_one_value, made.operands))


HANDLERS: Handlers = {
    GenerateOp: generate,
    tensor.ExtractOp: extract,
}
