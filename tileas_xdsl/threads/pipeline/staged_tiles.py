"""The tiles of a pipeline stage, and their offsets in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from xdsl.ir import SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.pipelines.checks import stage_types
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import StageOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.target.mma.matrix_units import PAIR
from tileas_xdsl.threads.codegen.lowered_values import StagedTile
from tileas_xdsl.threads.pipeline.stage_consumers import halved_axis, is_read_by_threads, users_of
from tileas_xdsl.threads.smem.smem_encoding import layout_of_buffer
from tileas_xdsl.threads.smem.smem_layout import ALIGNMENT, SharedLayout


def staged_tiles(op: CreatePipelineOp) -> tuple[Sequence[StagedTile], int]:
    """Return the tiles of a stage as its users declare them, each aligned to the swizzle period."""
    users = users_of(op)
    if not users:
        raise op_error(op, "has no operation that fills or reads a stage")
    readers = [user for user in users if "consumer_idx" in user.properties]
    tiles: list[StagedTile] = []
    offset = 0
    for k, type_ in enumerate(stage_types(users[0])):
        shape, element = shape_of(type_), element_of(type_)
        if shape is None or element is None or not shape:
            raise op_error(op, f"stages hold tiles, not {type_}")
        layout = layout_of_buffer(op, type_, _seen_as(users, k))
        layout = _held_layout(op, layout, _seen_as(readers, k))
        tiles.append(StagedTile(offset, layout, element))
        offset += align_up(layout.bytes, ALIGNMENT)
    return tiles, offset


def _held_layout(
    op: CreatePipelineOp, whole: SharedLayout, read: Sequence[SSAValue]
) -> SharedLayout:
    """Return the layout of what a CTA has of a tile: half of it, where the peer has the other."""
    axis = next((axis for tile in read if (axis := halved_axis(tile)) is not None), None)
    if axis is None or any(map(is_read_by_threads, read)):  # Reported at the product.
        return whole
    shape = list(whole.shape)
    shape[axis] //= PAIR
    if shape[-1] % whole.panel or shape[axis] * PAIR != whole.shape[axis]:
        raise op_error(op, f"has no half for each of two blocks of {whole.describe()}")
    return replace(whole, shape=tuple(shape))


def _seen_as(users: Sequence[StageOp], position: int) -> list[SSAValue]:
    """The arguments of bodies that are a tile of a stage."""
    blocks = [user.regions[0].block for user in users if user.regions and user.regions[0].blocks]
    return [block.args[position] for block in blocks if position < len(block.args)]
