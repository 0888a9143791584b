"""Make a pipeline with its buffer: as many stages of the same tiles in shared memory.

%stages = nv_tileas.alloc_tensor : tensor<4x4096xf16, smem>
%slots = nv_tileas.view %stages
%p, %c = nv_tileas.async.pipeline.create_pipeline %slots {numStages = 4}
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.dialects.builtin import ArrayAttr, TensorType, TupleType, i8
from xdsl.ir import Attribute

from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType

CONSUMER = 0
"""The only one of its group."""


def create_pipeline(
    builder: Builder,
    tiles: Sequence[TensorType[Attribute]],
    stages: int,
    *,
    is_backwards: bool = False,
) -> CreatePipelineOp:
    """Insert a buffer of so many stages of these tiles, and the pipeline over it.

    The agent that loads fills it, or where it is `backwards` reads it.
    """
    elements = {tile.element_type for tile in tiles}
    element = elements.pop() if len(elements) == 1 else i8
    bits = sum(prod(tile.get_shape()) * bits_of(tile.element_type) for tile in tiles)
    shape = (stages, bits // bits_of(element))
    buffer = builder.insert(AllocTensorOp(TensorType(element, shape, SpaceAttr(Space.SMEM))))
    buffer.result.name_hint = "stages"
    slots = builder.insert(ViewOp(buffer.result, TiledViewType(shape, element, Space.SMEM)))
    fills, reads = (1, 0) if is_backwards else (0, 1)
    made = CreatePipelineOp(slots.result, stages, producer_group=fills, consumer_group=reads)
    return builder.insert(made)


def payload_of(tiles: Sequence[TensorType[Attribute]]) -> Attribute:
    """The payload of a stage: its tile, or a tuple of several."""
    return tiles[0] if len(tiles) == 1 else TupleType(ArrayAttr(tiles))
