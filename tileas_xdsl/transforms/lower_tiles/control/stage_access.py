"""The stages behind a token, who of an agent reads them, and the tiles of one for a body."""

from __future__ import annotations

from xdsl.ir import Block, SSAValue

from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import multiply
from tileas_xdsl.threads.codegen.lowered_values import OrderToken, SharedTile, StageIndex, Stages
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.pipeline.stage_consumers import BY_THREADS, StageReader
from tileas_xdsl.threads.smem.smem_layout import ALIGNMENT


def reader_of(e: ThreadBuilder, stages: Stages) -> StageReader:
    """Return who of an agent reads stages: its threads, or the tensor core."""
    return stages.readers.get(e.agent.number, BY_THREADS)


def stages_of(e: ThreadBuilder, token: SSAValue) -> Stages:
    """Return the stages whose order a token is."""
    found = e.get(token)
    assert isinstance(found, OrderToken)
    assert found.stages is not None
    return found.stages


def bind_stage(e: ThreadBuilder, body: Block, stages: Stages, index: StageIndex) -> None:
    """Bind the arguments of a body to the tiles of the stage."""
    slot = advance(e, stages.slots, multiply(e, index.stage, stages.slot_bytes), ALIGNMENT)
    tiles = [
        SharedTile(advance(e, slot, tile.offset), tile.layout, tile.element)
        for tile in stages.tiles
    ]
    e.values.update(zip(body.args, tiles, strict=True))
    e.stage = (stages, index)
