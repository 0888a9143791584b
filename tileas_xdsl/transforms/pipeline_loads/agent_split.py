"""Split a loop into a producer agent, which loads tiles into stages, and a consumer agent.

    scf.for %k = ... iter_args(%acc) {
      %x = nv_tileas.tiled_load %a[%i, %k]             tma_load_2d
      %y = nv_tileas.tiled_load %b[%k, %j]
      %n = nv_tileas.dot %x, %y, %acc
      scf.yield %n
    }

becomes

    %prod, %cons = nv_tileas.async.pipeline.create_pipeline ...
    nv_tileas.async.pipeline.agent_switch {
      scf.for %k = ... { produce_one %prod { load %x; load %y } }
    } {
      scf.for %k = ... iter_args(%acc) { consume_one %cons { %n = dot %x, %y, %acc } }
    }
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import scf
from xdsl.dialects.builtin import ArrayAttr, TensorType, TupleType, UnitAttr, i8
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.dialects.nv_tileaa.attributes import KERNEL_SPEC, KernelSpecAttr
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import STAGES_ARE_A_HINT, CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    ConsumeOneOp,
    CreateIteratorOp,
    IncIterOp,
    PipelineYieldOp,
    ProduceOneAsyncOp,
    ProducerCommitOp,
)
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.nv_tileas.types import IteratorType, TiledViewType
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import LoadLoop
from tileas_xdsl.transforms.pipeline_loads.resources import PRODUCER_WARPS, Resources, spec_of

CONSUMER = 0
"""The only one of its group."""


def divide(found: LoadLoop, resources: Resources) -> None:
    """Write both agents in the place of the loop."""
    _Division(found, resources).write()


class _Division:
    """The parts of a kernel while they are taken apart."""

    def __init__(self, found: LoadLoop, resources: Resources) -> None:
        self.found, self.resources = found, resources
        self.loop = found.loop
        self.tiles = [stage_tile(load) for load in found.loads]
        self.iterator = IteratorType(payload_of(self.tiles), resources.stages, Space.SMEM)

    def write(self) -> None:
        """Pipeline and agents in front of the loop, which moves into one of them."""
        ahead, behind = self._moved()
        builder = Builder(InsertPoint.before(self.loop))
        pipeline = self._pipeline(builder)
        producer = Block()
        self._produce(pipeline.producer, Builder(InsertPoint.at_end(producer)))
        consumer = Block()
        move(ahead, consumer)
        self._consume(pipeline.consumer, Builder(InsertPoint.at_end(consumer)))
        move(behind, consumer)
        resources = self.resources
        builder.insert(
            AgentSwitchOp(
                [Region(producer), Region(consumer)],
                resources.registers,
                num_warps=[PRODUCER_WARPS, resources.warps],
                warp_id=[0, PRODUCER_WARPS],
            )
        )
        Rewriter.erase_op(self.loop)
        spec = replace(
            spec_of(self.found), num_warps=resources.all_warps, occupancy=resources.blocks
        )
        self.found.function.attributes[KERNEL_SPEC] = KernelSpecAttr(spec)

    def _moved(self) -> tuple[Sequence[Operation], Sequence[Operation]]:
        """What is not for all threads, in front of the loop and behind it."""
        body, staying = self.found.function.body.block, {*self.found.before}
        *operations, _ = body.ops
        place = operations.index(self.loop)
        return [op for op in operations[:place] if op not in staying], operations[place + 1 :]

    def _pipeline(self, builder: Builder) -> CreatePipelineOp:
        elements = {tile.element_type for tile in self.tiles}
        element = elements.pop() if len(elements) == 1 else i8
        bits = sum(prod(tile.get_shape()) * bits_of(tile.element_type) for tile in self.tiles)
        shape = (self.resources.stages, bits // bits_of(element))
        buffer = builder.insert(AllocTensorOp(TensorType(element, shape, SpaceAttr(Space.SMEM))))
        buffer.result.name_hint = "stages"
        slots = builder.insert(ViewOp(buffer.result, TiledViewType(shape, element, Space.SMEM)))
        made = builder.insert(CreatePipelineOp(slots.result, self.resources.stages))
        made.attributes[STAGES_ARE_A_HINT] = UnitAttr()
        return made

    # the agent that loads

    def _produce(self, token: SSAValue, builder: Builder) -> None:
        """The loop with the places of its loads only; each round fills a stage."""
        iterator = builder.insert(CreateIteratorOp(token, self.iterator)).iterator
        body = self._body(token, iterator)
        index, stage_token, stage = body.args
        inner = Builder(InsertPoint.at_end(body))
        values: dict[SSAValue, SSAValue] = {self.loop.body.block.args[0]: index}
        for op in self.found.places:
            inner.insert(op.clone(values))
        fill = Region(fill_of(self.found.loads, values))
        filled = inner.insert(ProduceOneAsyncOp(stage_token, stage, body=fill))
        committed = inner.insert(ProducerCommitOp(filled.result_token)).result_token
        inner.insert(scf.YieldOp(committed, inner.insert(IncIterOp(stage)).next))
        self._insert_loop(builder, (token, iterator), body)

    # the agent that multiplies

    def _consume(self, token: SSAValue, builder: Builder) -> None:
        """The loop without its loads; each round reads a stage."""
        loop, old = self.loop, self.loop.body.block
        iterator = builder.insert(CreateIteratorOp(token, self.iterator)).iterator
        body = self._body(token, iterator, *loop.iter_args)
        index, stage_token, stage, *carried = body.args
        for before, now in zip(old.args, (index, *carried), strict=True):
            before.replace_all_uses_with(now)
        end = old.last_op
        assert isinstance(end, scf.YieldOp)
        given = [value for value in end.operands if value.owner.parent is old]
        kept = [*end.operands]
        Rewriter.erase_op(end)
        consumed = ConsumeOneOp(
            stage_token,
            stage,
            CONSUMER,
            consumer_types=self.tiles,
            payload=[value.type for value in given],
            body=Region(self._read(old, given)),
        )
        inner = Builder(InsertPoint.at_end(body))
        inner.insert(consumed)
        known = dict(zip(given, consumed.payload, strict=True))
        following = inner.insert(IncIterOp(stage)).next
        results = [known.get(value, value) for value in kept]
        inner.insert(scf.YieldOp(consumed.result_token, following, *results))
        made = self._insert_loop(builder, (token, iterator, *loop.iter_args), body)
        for before, now in zip(loop.results, made.results[2:], strict=True):
            now.name_hint = before.name_hint
            before.replace_all_uses_with(now)

    def _read(self, old: Block, given: Sequence[SSAValue]) -> Block:
        """The operations of a round, with the tiles of the stage in the place of the loads."""
        block = Block(arg_types=self.tiles)
        for load, tile in zip(self.found.loads, block.args, strict=True):
            tile.name_hint = load.result.name_hint
            tokens = [] if load.out_token is None else [load.token]
            Rewriter.replace_op(load, [], [tile, *tokens])
        move([*old.ops], block)
        block.add_op(PipelineYieldOp(*given) if given else PipelineYieldOp(*block.args))
        return block

    # loops

    def _body(self, *carried: SSAValue) -> Block:
        """The body of a loop with the bounds of this one."""
        types = (self.loop.lb.type, *(value.type for value in carried))
        return Block(arg_types=types)

    def _insert_loop(self, builder: Builder, carried: Sequence[SSAValue], body: Block) -> scf.ForOp:
        loop = self.loop
        made = builder.insert(scf.ForOp(loop.lb, loop.ub, loop.step, carried, body))
        made.location = loop.location
        return made


def fill_of(loads: Sequence[TiledLoadOp], values: Mapping[SSAValue, SSAValue]) -> Block:
    """The body that fills a stage: the loads, each the tile of the stage in its place."""
    block = Block(arg_types=[stage_tile(load) for load in loads])
    for load in loads:
        made = TiledLoadOp(
            load.view,
            [values.get(value, value) for value in load.coords],
            atom=load.atom,
            result_type=stage_tile(load),
            padding=load.padding_value,
            allow_tma=True,
        )
        made.attributes |= load.attributes
        made.location = load.location
        made.result.name_hint = load.result.name_hint
        block.add_op(made)
    block.add_op(PipelineYieldOp(*(op.results[0] for op in block.ops)))
    return block


def move(operations: Sequence[Operation], block: Block) -> None:
    """Move operations to the end of a block."""
    for op in operations:
        op.detach()
        block.add_op(op)


def stage_tile(load: TiledLoadOp) -> TensorType[Attribute]:
    """The tile of a stage; where it lies is said by the pipeline."""
    element, shape = element_of(load.result.type), shape_of(load.result.type)
    assert element is not None
    assert shape is not None
    return TensorType(element, shape)


def payload_of(tiles: Sequence[TensorType[Attribute]]) -> Attribute:
    """The payload of a stage: its tile, or a tuple of several."""
    return tiles[0] if len(tiles) == 1 else TupleType(ArrayAttr(tiles))
