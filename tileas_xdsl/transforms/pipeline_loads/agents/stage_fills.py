"""The body that fills a stage, and what stands in the place of its loads in other bodies."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, SSAValue
from xdsl.rewriter import Rewriter

from tileas_xdsl.dialects.interned import tensor_of
from tileas_xdsl.dialects.nv_tileas.atoms import UNKNOWN_COPY
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import PipelineYieldOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.transforms.pipeline_loads.agents.producer_slice import StageLoad, copied_by


def replace_load(load: StageLoad, tile: SSAValue) -> None:
    """Let the users of what was loaded read the tile of the stage."""
    made = copied_by(load) if isinstance(load, ConvertLayoutOp) else load
    load.result.replace_all_uses_with(tile)
    assert made is not None
    if made.out_token is not None and made.token is not None:
        made.out_token.replace_all_uses_with(made.token)
    Rewriter.erase_op(load)
    if made is not load:
        Rewriter.erase_op(made)


def fill_of(loads: Sequence[StageLoad], values: Mapping[SSAValue, SSAValue]) -> Block:
    """The body that fills a stage: the loads, each the tile of the stage in its place."""
    block = Block(arg_types=[stage_tile(load) for load in loads])
    filled: list[SSAValue] = []
    for load, tile in zip(loads, block.args, strict=True):
        if isinstance(load, ConvertLayoutOp):
            made = copied_by(load)
            assert made is not None
            block.add_op(copied := made.clone({**values}))
            block.add_op(CopyOp(copied.result, tile, atom=UNKNOWN_COPY))
            filled.append(tile)
        else:
            block.add_op(by_tma := _load_of_stage(load, values))
            filled.append(by_tma.result)
    block.add_op(PipelineYieldOp(*filled))
    return block


def _load_of_stage(load: TiledLoadOp, values: Mapping[SSAValue, SSAValue]) -> TiledLoadOp:
    made = TiledLoadOp(
        values.get(load.view, load.view),
        [values.get(value, value) for value in load.coords],
        atom=load.atom,
        result_type=stage_tile(load),
        offsets=[values.get(value, value) for value in load.offsets],
        padding=load.padding_value,
        allow_tma=True,
    )
    made.attributes |= load.attributes
    made.location = load.location
    made.result.name_hint = load.result.name_hint
    return made


def stage_tile(load: StageLoad) -> TensorType[Attribute]:
    """The tile of a stage; where it lies is said by the pipeline."""
    element, shape = element_of(load.result.type), shape_of(load.result.type)
    assert element is not None
    assert shape is not None
    return tensor_of(element, shape)
