"""The tiles of a pipeline stage, and their offsets in it."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.pipelines.checks import stage_types
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import StageOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.layout.integers import align_up
from tileas_xdsl.threads.codegen.lowered_values import StagedTile
from tileas_xdsl.threads.pipeline.stage_consumers import users_of
from tileas_xdsl.threads.smem.smem_encoding import layout_of_buffer
from tileas_xdsl.threads.smem.smem_layout import ALIGNMENT


def staged_tiles(op: CreatePipelineOp) -> tuple[Sequence[StagedTile], int]:
    """Return the tiles of a stage as its users declare them, each aligned to the swizzle period."""
    users = users_of(op)
    if not users:
        raise op_error(op, "has no operation that fills or reads a stage")
    tiles: list[StagedTile] = []
    offset = 0
    for k, type_ in enumerate(stage_types(users[0])):
        shape, element = shape_of(type_), element_of(type_)
        if shape is None or element is None or len(shape) < 2:
            raise op_error(op, f"stages hold tiles of two dimensions or more, not {type_}")
        layout = layout_of_buffer(op, type_, _seen_as(users, k))
        tiles.append(StagedTile(offset, layout, element))
        offset += align_up(layout.bytes, ALIGNMENT)
    return tiles, offset


def _seen_as(users: Sequence[StageOp], position: int) -> list[SSAValue]:
    """The arguments of bodies that are a tile of a stage."""
    blocks = [user.regions[0].block for user in users if user.regions and user.regions[0].blocks]
    return [block.args[position] for block in blocks if position < len(block.args)]
