"""Split scheduled loops into agents: a producer of loads, consumers for everything else.

    scf.for %j {                                    // k and v have a ring of stages each
      %k = tiled_load; %s = dot %q, %k
      ...
      %v = tiled_load; %o = dot %p, %v, %acc
    }

becomes

    agent_switch {
      scf.for %j { produce_one %ring_k { tiled_load }; produce_one %ring_v { tiled_load } }
    } {
      scf.for %j {
        consumer_wait %ring_k; %s = consumer_read %ring_k { dot %q, %k }; consumer_release %ring_k
        ...
        consumer_wait %ring_v; %o = consumer_read %ring_v { dot %p, %v, %acc }; consumer_release
      }
    }

A stage is waited for at the first operation that reads it and released behind the last one.  Loops
that follow, with the same loads, go on with the stages that the one before ends at.
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

from tileas_xdsl.analysis.memory.shared_memory import aligned_bytes
from tileas_xdsl.dialects.nv_tileaa.attributes import KERNEL_SPEC, KernelSpecAttr, spec_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import STAGES_ARE_A_HINT
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    ConsumerReadOp,
    ConsumerReleaseOp,
    ConsumerWaitOp,
    CreateIteratorOp,
    IncIterOp,
    PipelineYieldOp,
    ProduceOneAsyncOp,
    ProducerCommitOp,
)
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.scheduling.schedule import SCHEDULE, Role, RolePlan, Schedule
from tileas_xdsl.scheduling.schedule_attributes import clear_placement, read_pin
from tileas_xdsl.target.arch import Target
from tileas_xdsl.transforms.materialize_schedule.stage_rings import StageRing, views_of
from tileas_xdsl.transforms.pipeline_loads.agents.agent_control import (
    Stages,
    carry_stages,
    drop_dead,
    write_producer,
)
from tileas_xdsl.transforms.pipeline_loads.agents.agent_split import move
from tileas_xdsl.transforms.pipeline_loads.agents.outer_rings import OuterRings
from tileas_xdsl.transforms.pipeline_loads.agents.stage_buffer import CONSUMER, create_pipeline
from tileas_xdsl.transforms.pipeline_loads.agents.stage_fills import fill_of
from tileas_xdsl.transforms.pipeline_loads.candidate_loop import LoadLoop
from tileas_xdsl.transforms.pipeline_loads.stage_memory import stages_ahead


def write_agents(
    found: LoadLoop,
    schedule: Schedule,
    rings: Sequence[Sequence[StageRing]],
    target: Target,
    *,
    defers: bool,
) -> Sequence[scf.ForOp]:
    """Write pipelines and agents in the place of the loops; return the loops of the consumers.

    `rings` are those of the scheduled loop, then those of each loop that follows it.  With `defers`
    the stages of a product that only accumulates are released a round later.  As many blocks share
    a multiprocessor as the registers of all roles leave room for.
    """
    return _Agents(found, schedule, rings, target, defers=defers).write()


class _Agents:
    """The kernel while it is split into agents."""

    def __init__(
        self,
        found: LoadLoop,
        schedule: Schedule,
        rings: Sequence[Sequence[StageRing]],
        target: Target,
        *,
        defers: bool,
    ) -> None:
        self.found, self.schedule, self.target = found, schedule, target
        self.rings = rings[0]
        self.consumers: list[scf.ForOp] = []
        self.loops = list(zip((found, *found.following), rings, strict=True))
        self.deferred = {
            k for k, ring in enumerate(self.rings) if defers and _only_accumulates(ring)
        }

    def write(self) -> Sequence[scf.ForOp]:
        """Pipelines and agents in the place of what is divided."""
        operations, ahead = self.found.divided(), self._ahead()
        builder = Builder(InsertPoint.after(operations[-1]))
        pipelines = [create_pipeline(builder, ring.tiles, ring.stages) for ring in self.rings]
        for made in pipelines:
            made.attributes[STAGES_ARE_A_HINT] = UnitAttr()
        producer, consumer = Block(), Block()
        inner = Builder(InsertPoint.at_end(producer))
        needed = self.found.needed
        outer = OuterRings.of(needed, ahead, builder, first=2 * len(self.rings))
        first = _with_iterators(inner, [one.producer for one in pipelines], self.rings)
        fills = {one.loop: partial(self._fill, rings) for one, rings in self.loops}
        stages = [*first, *outer.begin(inner, produces=True)]
        write_producer(operations, needed, fills, outer.hands, stages, inner, len(first))
        move(operations, consumer)
        inner = Builder(InsertPoint.at_start(consumer))
        first = _with_iterators(inner, [one.consumer for one in pipelines], self.rings)
        reads = {one.loop: partial(self._consume, one, rings) for one, rings in self.loops}
        stages = [*first, *outer.begin(inner, produces=False)]
        ends = outer.streamed.ends
        carry_stages(consumer, needed.control, reads, outer.takes, ends, stages, len(first))
        drop_dead(consumer)
        self._switch(builder, producer, consumer)
        return self.consumers

    @property
    def _plans(self) -> Sequence[RolePlan]:
        plans = (self.schedule.plan.role(name) for name in (Role.PRODUCER, Role.CONSUMER))
        return [plan for plan in plans if plan is not None]

    def _blocks(self) -> int:
        """The blocks that share a multiprocessor, by the registers of all roles.

        They are fewer than a hint asks for where a schedule gives roles more registers.
        """
        needed = sum(plan.warps * plan.replicas * WARP * plan.registers for plan in self._plans)
        return max(self.target.registers_per_multiprocessor // needed, 1)

    def _ahead(self) -> int:
        """The stages of tiles that loops around load."""
        held = sum(aligned_bytes(tile) * ring.stages for ring in self.rings for tile in ring.tiles)
        return stages_ahead(self.found, held, self._blocks(), self.target)

    def _switch(self, builder: Builder, producer: Block, consumer: Block) -> None:
        warps = [plan.warps * plan.replicas for plan in self._plans]
        registers = [plan.registers for plan in self._plans]
        switch = AgentSwitchOp([Region(producer), Region(consumer)], registers, num_warps=warps)
        switch.location = self.found.loop.location
        builder.insert(switch)
        spec = replace(spec_of(self.found.function), num_warps=sum(warps), occupancy=self._blocks())
        self.found.function.attributes[KERNEL_SPEC] = KernelSpecAttr(spec)

    # the agent that loads

    def _fill(
        self,
        rings: Sequence[StageRing],
        stages: Stages,
        values: Mapping[SSAValue, SSAValue],
        builder: Builder,
    ) -> Stages:
        """Each round fills a stage of each ring."""
        ended = [*stages]
        for k in sorted(range(len(rings)), key=self._order_of_ring):
            token, stage = stages[2 * k], stages[2 * k + 1]
            fill = Region(fill_of(rings[k].loads, values))
            filled = builder.insert(ProduceOneAsyncOp(token, stage, body=fill))
            ended[2 * k] = builder.insert(ProducerCommitOp(filled.result_token)).result_token
            ended[2 * k + 1] = builder.insert(IncIterOp(stage)).next
        return ended

    def _order_of_ring(self, k: int) -> int:
        """The first place of a ring's loads in the order of the producer."""
        placements = self.schedule.placements
        return min(
            (placements[load].order for load in self.rings[k].loads if load in placements),
            default=k,
        )

    # the agent that computes

    def _consume(
        self,
        one: LoadLoop,
        rings: Sequence[StageRing],
        loop: scf.ForOp,
        stages: Stages,
        builder: Builder,
    ) -> scf.ForOp:
        """A loop without its loads, which waits for stages, reads and releases them."""
        old, count = loop.body.block, len(stages)
        # Iterators over the stages come first among the carried values, so that arguments and
        # results of the old loop follow at a fixed distance of `count`.
        carried = [*stages, *loop.iter_args]
        body = Block(arg_types=[loop.lb.type, *(value.type for value in carried)])
        for before, now in zip(old.args, (body.args[0], *body.args[1 + count :]), strict=True):
            before.replace_all_uses_with(now)
        reading = _Reading(rings, list(body.args[1 : 1 + count]), body, self.deferred)
        views = {view for load in one.tma_loads for view in views_of(old, load)}
        end = old.last_op
        assert isinstance(end, scf.YieldOp)
        for op in list(old.ops):
            if op is not end and op not in one.loads and op not in views:
                reading.add(op)
        body.add_op(scf.YieldOp(*reading.carried, *end.operands))
        _drop(one)
        drop_dead(body)
        made = builder.insert(scf.ForOp(loop.lb, loop.ub, loop.step, carried, body))
        made.location = loop.location
        for before, now in zip(loop.results, made.results[count:], strict=True):
            now.name_hint = before.name_hint
            before.replace_all_uses_with(now)
        self.consumers.append(made)
        return made


def _drop(one: LoadLoop) -> None:
    """Erase the loads and their views, which bodies of reads have as arguments now."""
    for load in one.tma_loads:
        if load.out_token is not None and load.token is not None:
            load.out_token.replace_all_uses_with(load.token)
    for op in reversed(list(one.loop.body.block.ops)):
        Rewriter.erase_op(op)


class _Reading:
    """The body of the consumers' loop while it is written, and the rings' tokens on the way."""

    def __init__(
        self,
        rings: Sequence[StageRing],
        carried: list[SSAValue],
        body: Block,
        deferred: set[int],
    ) -> None:
        self.rings, self.carried, self.body = rings, carried, body
        self.deferred = deferred
        self.ring_of = {op: k for k, ring in enumerate(rings) for op in ring.readers}

    def add(self, op: Operation) -> None:
        """Move an operation of the old body, with the steps on a stage that it reads."""
        op.detach()
        k = self.ring_of.get(op)
        if k is None:
            self.body.add_op(op)
            return
        ring, iterator = self.rings[k], self.carried[2 * k + 1]
        if op is ring.readers[0]:
            self._step(k, ConsumerWaitOp(self.carried[2 * k], iterator, CONSUMER), op)
        self._step(k, self._read(ring, op, self.carried[2 * k], iterator), op)
        if op is ring.readers[-1]:
            release = ConsumerReleaseOp(self.carried[2 * k])
            self.body.add_op(release)
            _schedule_as(release, op, later=k in self.deferred)
            following = IncIterOp(iterator)
            self.body.add_op(following)
            self.carried[2 * k + 1] = following.next
        clear_placement(op)

    def _step(self, k: int, step: Operation, reader: Operation) -> None:
        """Add a step on a stage, scheduled as the operation that it is for."""
        _schedule_as(step, reader)
        self.body.add_op(step)
        self.carried[2 * k] = step.results[0]

    def _read(
        self, ring: StageRing, op: Operation, token: SSAValue, iterator: SSAValue
    ) -> ConsumerReadOp:
        """The operation in the body of a read, which has the tiles of the stage as arguments."""
        block = Block(arg_types=ring.tiles)
        known: dict[SSAValue, SSAValue] = {}
        for load, tile in zip(ring.loads, block.args, strict=True):
            tile.name_hint = load.result.name_hint
            known[load.result] = tile
            old = load.parent
            assert old is not None
            for view in views_of(old, load):
                block.add_op(seen := view.clone(known))
                clear_placement(seen)
        for inner in op.walk():
            for position, operand in enumerate(inner.operands):
                if operand in known:
                    inner.operands[position] = known[operand]
        block.add_op(op)
        drop_dead(block)
        given = [result for result in op.results if result.uses.get_length() > 0]
        read = ConsumerReadOp(
            token, iterator, CONSUMER, payload=[v.type for v in given], body=Region(block)
        )
        for result, payload in zip(given, read.payload, strict=True):
            payload.name_hint = result.name_hint
            result.replace_all_uses_with(payload)
        block.add_op(PipelineYieldOp(*given) if given else PipelineYieldOp(*block.args))
        return read


def _schedule_as(step: Operation, reader: Operation, *, later: bool = False) -> None:
    """Schedule a step on a stage as the operation that it is for, or a round behind it."""
    if SCHEDULE not in reader.attributes:
        return
    step.attributes[SCHEDULE] = reader.attributes[SCHEDULE]
    placement = read_pin(reader).placement
    if later and placement is not None:
        step.attributes[SCHEDULE] = replace(placement, stage=placement.stage + 1).attribute


def _only_accumulates(ring: StageRing) -> bool:
    """Whether the stages of a ring feed one product, which only the next round's accumulates on.

    It then runs while the next product is issued, and its stage is released behind that.
    """
    (product, *others) = ring.readers
    if others or not isinstance(product, DotOp) or product.promote is not None:
        return False
    uses = list(product.result.uses)
    if len(uses) != 1 or not isinstance(end := uses[0].operation, scf.YieldOp):
        return False
    loop = end.parent_op()
    if not isinstance(loop, scf.ForOp) or ring.stages < DEFERRED_STAGES:
        return False
    return product.c is loop.body.block.args[uses[0].index + 1] and product.c.has_one_use()


DEFERRED_STAGES = 3
"""The fewest stages where two are held by products: one more is filled meanwhile."""


def _with_iterators(
    builder: Builder, tokens: Sequence[SSAValue], rings: Sequence[StageRing]
) -> Sequence[SSAValue]:
    """The token and a fresh iterator of each ring, in turn."""
    carried: list[SSAValue] = []
    for token, ring in zip(tokens, rings, strict=True):
        carried += (token, builder.insert(CreateIteratorOp(token, ring.iterator)).iterator)
    return carried
