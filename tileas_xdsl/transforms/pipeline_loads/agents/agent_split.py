"""Split loops into a producer agent, which loads tiles into stages, and a consumer agent.

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

A loop behind it that loads the same tiles goes on with the stage that it ends at, in both agents;
so do the iterations of loops around it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial

from xdsl.builder import Builder
from xdsl.dialects import scf
from xdsl.dialects.builtin import UnitAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.memory.copied_chunks import is_line
from tileas_xdsl.dialects.nv_tileaa.attributes import KERNEL_SPEC, KernelSpecAttr, spec_of
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import STAGES_ARE_A_HINT
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    ConsumeOneOp,
    CreateIteratorOp,
    IncIterOp,
    PipelineYieldOp,
    ProduceOneAsyncOp,
    ProduceOneOp,
    ProducerCommitOp,
)
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.types import IteratorType
from tileas_xdsl.threads.pipeline.late_products import RUNS_ON
from tileas_xdsl.transforms.pipeline_loads.agent_registers import PRODUCER_WARPS
from tileas_xdsl.transforms.pipeline_loads.agents.agent_control import (
    Stages,
    carry_stages,
    drop_dead,
    write_producer,
)
from tileas_xdsl.transforms.pipeline_loads.agents.outer_rings import OuterRings
from tileas_xdsl.transforms.pipeline_loads.agents.stage_buffer import (
    CONSUMER,
    create_pipeline,
    payload_of,
)
from tileas_xdsl.transforms.pipeline_loads.agents.stage_fills import (
    fill_of,
    replace_load,
    stage_tile,
)
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import LoadLoop
from tileas_xdsl.transforms.pipeline_loads.resources import Resources


def divide(found: LoadLoop, resources: Resources) -> None:
    """Write both agents in the place of the loops."""
    _Division(found, resources).write()


class _Division:
    """The kernel while it is split into a producer and a consumer."""

    def __init__(self, found: LoadLoop, resources: Resources) -> None:
        self.found, self.resources = found, resources
        self.loops = [found, *found.following]
        self.tiles = [stage_tile(load) for load in found.loads]
        self.iterator = IteratorType(payload_of(self.tiles), resources.stages, Space.SMEM)

    def write(self) -> None:
        """Pipeline and agents in the place of what is divided."""
        operations = self.found.divided()
        builder = Builder(InsertPoint.after(operations[-1]))
        pipeline = create_pipeline(builder, self.tiles, self.resources.stages)
        pipeline.attributes[STAGES_ARE_A_HINT] = UnitAttr()
        producer, consumer = Block(), Block()
        inner = Builder(InsertPoint.at_end(producer))
        needed = self.found.needed
        outer = OuterRings.of(needed, self.resources.ahead, builder, first=2)
        first = self._first_stage(pipeline.producer, inner)
        fills = {one.loop: partial(self._fill, one) for one in self.loops}
        stages = [*first, *outer.begin(inner, produces=True)]
        write_producer(operations, needed, fills, outer.hands, stages, inner, len(first))
        move(operations, consumer)
        inner = Builder(InsertPoint.at_start(consumer))
        first = self._first_stage(pipeline.consumer, inner)
        reads = {one.loop: partial(self._consume, one) for one in self.loops}
        stages = [*first, *outer.begin(inner, produces=False)]
        ends = outer.streamed.ends
        carry_stages(consumer, needed.control, reads, outer.takes, ends, stages, len(first))
        drop_dead(consumer)
        resources = self.resources
        switch = AgentSwitchOp(
            [Region(producer), Region(consumer)],
            resources.registers,
            num_warps=[PRODUCER_WARPS, resources.warps],
        )
        switch.location = self.found.loop.location
        builder.insert(switch)
        spec = replace(
            spec_of(self.found.function), num_warps=resources.all_warps, occupancy=resources.blocks
        )
        self.found.function.attributes[KERNEL_SPEC] = KernelSpecAttr(spec)

    def _first_stage(self, token: SSAValue, builder: Builder) -> Stages:
        """What loops carry: the token of the last step and the iterator over the stages."""
        return [token, builder.insert(CreateIteratorOp(token, self.iterator)).iterator]

    # the agent that loads

    def _fill(
        self,
        one: LoadLoop,
        stage: Stages,
        values: Mapping[SSAValue, SSAValue],
        builder: Builder,
    ) -> Stages:
        """Each round fills a stage."""
        token, iterator = stage
        fill = Region(fill_of(one.loads, values))
        if any(isinstance(load, ConvertLayoutOp) for load in one.loads):
            filled = builder.insert(ProduceOneOp(token, iterator, body=fill))
            return [filled.result_token, builder.insert(IncIterOp(iterator)).next]
        filled = builder.insert(ProduceOneAsyncOp(token, iterator, body=fill))
        committed = builder.insert(ProducerCommitOp(filled.result_token)).result_token
        return [committed, builder.insert(IncIterOp(iterator)).next]

    # the agent that multiplies

    def _consume(
        self, one: LoadLoop, loop: scf.ForOp, stage: Stages, builder: Builder
    ) -> scf.ForOp:
        """A loop without its loads; each round reads a stage."""
        old, carried = loop.body.block, [*stage, *loop.iter_args]
        body = Block(arg_types=(loop.lb.type, *(value.type for value in carried)))
        index, token, iterator, *now = body.args
        for before, after in zip(old.args, (index, *now), strict=True):
            before.replace_all_uses_with(after)
        end = old.last_op
        assert isinstance(end, scf.YieldOp)
        given = [value for value in end.operands if value.owner.parent is old]
        kept = [*end.operands]
        Rewriter.erase_op(end)
        consumed = ConsumeOneOp(
            token,
            iterator,
            CONSUMER,
            consumer_types=self.tiles,
            payload=[value.type for value in given],
            body=Region(self._read(one, given)),
        )
        if self.resources.runs_on:
            consumed.attributes[RUNS_ON] = UnitAttr()
        inner = Builder(InsertPoint.at_end(body))
        inner.insert(consumed)
        known = dict(zip(given, consumed.payload, strict=True))
        following = inner.insert(IncIterOp(iterator)).next
        results = [known.get(value, value) for value in kept]
        inner.insert(scf.YieldOp(consumed.result_token, following, *results))
        made = builder.insert(scf.ForOp(loop.lb, loop.ub, loop.step, carried, body))
        made.location = loop.location
        for before, after in zip(loop.results, made.results[len(stage) :], strict=True):
            after.name_hint = before.name_hint
            before.replace_all_uses_with(after)
        return made

    def _read(self, one: LoadLoop, given: Sequence[SSAValue]) -> Block:
        """The operations of a round, with the tiles of the stage in the place of the loads."""
        block = Block(arg_types=self.tiles)
        for load, tile in zip(one.loads, block.args, strict=True):
            tile.name_hint = load.result.name_hint
            replace_load(load, tile)
        # Lines are there when the product in front of what reads them is waited for.
        move([op for tile in block.args for op in _reads_of_line(tile)], block)
        move([*one.loop.body.block.ops], block)
        block.add_op(PipelineYieldOp(*given) if given else PipelineYieldOp(*block.args))
        return block


def _reads_of_line(tile: SSAValue) -> Sequence[Operation]:
    """Return what loads a tile of one row or column into registers."""
    reads = [use.operation for use in tile.uses if isinstance(use.operation, ConvertLayoutOp)]
    return reads if is_line(shape_of(tile.type) or ()) else ()


def move(operations: Sequence[Operation], block: Block) -> None:
    """Move operations to the end of a block."""
    for op in operations:
        op.detach()
        block.add_op(op)
