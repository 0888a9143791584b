"""Semantics of the pipeline operations: a full and an empty mbarrier per stage.

    producer                                    consumer
    wait empty[s], parity (phase & 1) ^ 1       wait full[s], parity phase & 1
    own the stage: run the body, issue copies   own the stage: run the body
    commit: arrive on full[s]                   release: arrive on empty[s]
    (bulk copies complete its bytes)            (when its asynchronous readers are done)

Source: CUTLASS `PipelineTmaAsync` (include/cutlass/pipeline/sm90_pipeline.hpp). `produce_one` and
`consume_one` are all of a column; a program may also spell out the steps (`producer_acquire`,
`producer_write`, ...), inside of such a body too, where the enclosing operation then holds the
stage (`agent.brackets`) and leaves out what the body has done. Each step checks the protocol: wrong
phase, use of a token twice, a stage that the agent does not own.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from math import prod
from typing import Any, TypeAlias

from xdsl.dialects.builtin import IntegerAttr
from xdsl.interpreter import ReturnedValues
from xdsl.ir import Operation, Region

from tileas_xdsl.dialects.nv_tileas.pipelines.checks import stage_types
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import (
    ConsumeOneAsyncOp,
    ConsumeOneOp,
    ConsumerReadOp,
    ConsumerReleaseOp,
    ConsumerWaitOp,
    CreateIteratorOp,
    IncIterOp,
    PipelineYieldOp,
    ProduceOneAsyncOp,
    ProduceOneOp,
    ProducerAcquireOp,
    ProducerCommitOp,
    ProducerWriteOp,
    StageOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.queries import explicit_bytes
from tileas_xdsl.interpreters.tile.execution.agent import Language, Steps
from tileas_xdsl.interpreters.tile.execution.engines import Task
from tileas_xdsl.interpreters.tile.execution.machine import TileAgent
from tileas_xdsl.interpreters.tile.execution.scheduler import Wait
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.memory.views import View, as_tile
from tileas_xdsl.interpreters.tile.synchronization.async_tokens import AsyncToken
from tileas_xdsl.interpreters.tile.synchronization.mbarrier import MBarrier
from tileas_xdsl.interpreters.tile.synchronization.pipeline_stages import (
    ConsumerLease,
    ProducerLease,
    ProtocolError,
    Slot,
    State,
)
from tileas_xdsl.interpreters.tile.synchronization.pipelines import (
    Arrival,
    Pipeline,
    PipelineToken,
    StageIterator,
    TaskToken,
    arrive_after,
)

StageAcquisition: TypeAlias = Generator[Wait, None, PipelineToken]
"""A generator that waits and then owns a stage."""


def create_pipeline(agent: TileAgent, op: CreatePipelineOp, inputs: Sequence[Any]) -> Steps:
    """Create two mbarriers for each stage; blocks that share loads synchronise first."""
    view = agent.destination(op, inputs[0])
    block, program = agent.block, agent.block.device.program
    key = block.key_of(op, agent.name)
    consumers, group = program.consumers(op), program.group(op)
    hint = op.producer.name_hint
    name = f"{block.of_cluster}%{hint}" if hint else f"{block.of_cluster}the pipeline"
    size = _slot_size(op, view)
    slots = [
        Slot(
            name,
            stage,
            view.offset + stage * size,
            view.offset + (stage + 1) * size,
            MBarrier(f"full[{stage}] of {name}", 1),
            MBarrier(f"empty[{stage}] of {name}", len(consumers) * group),
            consumers,
            group,
        )
        for stage in range(op.stages)
    ]
    pipeline = Pipeline(name, key, block, view.memory, slots, group)
    block.pipelines[key] = pipeline
    view.memory.guards.extend(slots)
    if group > 1:
        yield from _synchronise_blocks(agent, op, pipeline)
    return PipelineToken(pipeline), PipelineToken(pipeline)


def _synchronise_blocks(agent: TileAgent, op: CreatePipelineOp, pipeline: Pipeline) -> Steps:
    peers = agent.block.peers(pipeline.group)

    def all_there() -> bool:
        return all(pipeline.key in peer.pipelines for peer in peers)

    yield Wait(all_there, f"the other blocks of the cluster to create {pipeline.name}", op)
    return ()


def _slot_size(op: CreatePipelineOp, view: View) -> int:
    size = prod(view.shape) * view.dtype.itemsize
    if not (view.is_contiguous and view.is_inside):
        raise fault(op, "the stages of a pipeline lie in a buffer without gaps")
    if size % op.stages:
        raise fault(op, f"{op.stages} stages do not share a buffer of {size} bytes evenly")
    return size // op.stages


def create_iterator(agent: TileAgent, op: CreateIteratorOp, inputs: Sequence[Any]) -> Any:
    """Return an iterator at the first stage, in phase 0."""
    return (StageIterator(len(inputs[0].pipeline.slots)),)


def increment(agent: TileAgent, op: IncIterOp, inputs: Sequence[Any]) -> Any:
    """Return the iterator of the next stage."""
    return (inputs[0].next(),)


def _slot(pipeline: Pipeline, iterator: StageIterator) -> Slot:
    if iterator.stage >= len(pipeline.slots):
        raise ProtocolError(f"{pipeline.name} has no stage {iterator.stage}")
    return pipeline.slots[iterator.stage]


def _acquire(
    agent: TileAgent, op: Operation, token: PipelineToken, iterator: StageIterator
) -> StageAcquisition:
    """Wait until the stage is empty, and acquire its ownership."""
    token.use(agent.who, "producer")
    slot, phase = _slot(token.pipeline, iterator), iterator.phase
    parity = (phase & 1) ^ 1
    why = f"{slot.name} to be released ({slot.empty.name}, parity {parity})"
    yield _barrier_wait(slot, slot.empty, parity, why, op)
    slot.acquire(agent.who, phase)
    agent.clock.join(slot.empty.released_clock)
    agent.work(op, agent.latencies.arrive, stage=slot.index)
    if (count := explicit_bytes(op)) is not None:
        slot.announce(agent.name, count, agent.now)
    return token.at(slot, phase)


def _barrier_wait(slot: Slot, barrier: MBarrier, parity: int, why: str, op: Operation) -> Wait:
    return Wait(
        lambda: barrier.test_parity(parity),
        why,
        op,
        barrier,
        lambda: barrier.completed_at,
        slot.index,
    )


def _await_full(
    agent: TileAgent, op: StageOp, token: PipelineToken, iterator: StageIterator
) -> StageAcquisition:
    """Wait until the stage is published, as one of its consumers."""
    consumer = _consumer(op)
    token.use(agent.who, "consumer", consumer, "wait")
    slot, phase = _slot(token.pipeline, iterator), iterator.phase
    why = f"{slot.name} to be filled ({slot.full.name}, parity {phase & 1})"
    yield _barrier_wait(slot, slot.full, phase & 1, why, op)
    slot.wait(agent.who, consumer, phase)
    agent.clock.join(slot.full.released_clock)
    agent.work(op, agent.latencies.arrive, stage=slot.index)
    return token.at(slot, phase, consumer)


def _consumer(op: Operation) -> int:
    index = op.properties["consumer_idx"]
    assert isinstance(index, IntegerAttr)
    return index.value.data


def _fill(agent: TileAgent, op: StageOp, payload: Sequence[View], values: Sequence[Any]) -> Any:
    """Return what a body yielded as the results, or else write it to the stage."""
    if len(op.results) > len(op.ENTRY.gives):
        return tuple(values)
    for view, value in zip(payload, values, strict=True):
        if isinstance(value, View) and _is_same_window(view, value):
            continue
        tile = as_tile(value, agent.actor(op))
        view.write(tile, agent.actor(op))
        agent.work(op, agent.latencies.shared(tile.nbytes))
    return ()


def _is_same_window(one: View, other: View) -> bool:
    return one.memory is other.memory and one.offset == other.offset and one.shape == other.shape


def _bodies(op: Operation) -> Region | None:
    return op.regions[0] if op.regions else None


def _produce(agent: TileAgent, op: StageOp, token: PipelineToken, slot: Slot, phase: int) -> Steps:
    """Run the body on the stage; return its results."""
    if (body := _bodies(op)) is None:
        return ()
    payload = token.pipeline.payload(slot, stage_types(op), ProducerLease(slot, phase, agent.who))
    values = yield from agent.run_region(body, payload)
    return _fill(agent, op, payload, values)


def produce_one(agent: TileAgent, op: ProduceOneOp, inputs: Sequence[Any]) -> Steps:
    """Acquire, run the body, commit unless the body did."""
    token: PipelineToken = inputs[0]
    held = yield from _acquire(agent, op, token, inputs[1])
    slot = held.slot
    assert slot is not None
    agent.brackets.append((token, held))
    payload = yield from _produce(agent, op, token, slot, held.phase)
    agent.brackets.pop()
    if slot.phase == held.phase and slot.state is State.FILLING:
        _commit(agent, op, token.pipeline, slot)
    return token.behind(held), *payload


def produce_one_async(agent: TileAgent, op: ProduceOneAsyncOp, inputs: Sequence[Any]) -> Steps:
    """Acquire and run the body; the token completes when the body's copies have landed."""
    token: PipelineToken = inputs[0]
    held = yield from _acquire(agent, op, token, inputs[1])
    slot = held.slot
    assert slot is not None
    payload = yield from _produce(agent, op, token, slot, held.phase)
    return held, AsyncToken(f"copies into {slot.name}", slot.filling), *payload


def producer_acquire(agent: TileAgent, op: ProducerAcquireOp, inputs: Sequence[Any]) -> Steps:
    """Wait until the stage is empty, and acquire its ownership."""
    if (held := _held(agent, inputs)) is not None:
        return (held,)
    return ((yield from _acquire(agent, op, inputs[0], inputs[1])),)


def _held(agent: TileAgent, inputs: Sequence[Any]) -> PipelineToken | None:
    """Return the stage that an enclosing operation holds for the token and the iterator."""
    for token, held in agent.brackets:
        slot = held.slot
        if token is inputs[0] and slot is not None and slot.index == inputs[1].stage:
            return token.at(slot, held.phase, held.consumer)
    return None


def producer_write(agent: TileAgent, op: ProducerWriteOp, inputs: Sequence[Any]) -> Steps:
    """Fill the stage that was acquired."""
    token, iterator = inputs
    token.use(agent.who, "producer")
    slot = _slot(token.pipeline, iterator)
    slot.check_filling(agent.who, iterator.phase)
    payload = yield from _produce(agent, op, token, slot, iterator.phase)
    return token.at(slot, iterator.phase), *payload


def producer_commit(agent: TileAgent, op: ProducerCommitOp, inputs: Sequence[Any]) -> Any:
    """Publish the stage."""
    token: PipelineToken = inputs[0]
    if token.slot is None:
        raise ProtocolError(f"{agent.who} commits a stage of {token.pipeline.name} twice")
    if token.slot.phase != token.phase:
        raise token.slot.error(f"{agent.who} commits {token.slot.name} twice")
    _commit(agent, op, token.pipeline, token.slot)
    token.use(agent.who, "producer")
    return (PipelineToken(token.pipeline, token.slot, token.phase),)


def _commit(agent: TileAgent, op: Operation, pipeline: Pipeline, slot: Slot) -> None:
    """Arrive on `full`, once the copies that complete no bytes on a barrier have landed."""
    slot.commit(agent.who)
    agent.work(op, agent.latencies.arrive, stage=slot.index)
    copies, slot.copies = slot.copies, []

    def arrive(by: Arrival) -> None:
        slot.full.arrive(1, by.who, by.time, by.snapshot)

    arrive_after(agent, copies, arrive)


def consume_one(agent: TileAgent, op: ConsumeOneOp, inputs: Sequence[Any]) -> Steps:
    """Wait, run the body, release unless the body did."""
    token: PipelineToken = inputs[0]
    held = yield from _await_full(agent, op, token, inputs[1])
    agent.brackets.append((token, held))
    values = yield from _consume(agent, op, held)
    agent.brackets.pop()
    wanted = len(op.results) > len(op.ENTRY.gives)
    payload = [as_tile(value, agent.actor(op)) for value in values] if wanted else ()
    if _still_holds(held):
        _release(agent, op, held)
    return token.behind(held), *payload


def _still_holds(held: PipelineToken) -> bool:
    """Whether the body has left the release to the operation around it."""
    slot = held.slot
    assert slot is not None
    reader = slot.readers.get(held.consumer)
    return slot.phase == held.phase and reader is not None and not reader.released


def _consume(agent: TileAgent, op: StageOp, held: PipelineToken) -> Steps:
    """Run the body on the stage; return what it yields."""
    if (body := _bodies(op)) is None:
        return ()
    slot = held.slot
    assert slot is not None
    lease = ConsumerLease(slot, held.phase, agent.who, held.consumer)
    payload = held.pipeline.payload(slot, stage_types(op), lease)
    return (yield from agent.run_region(body, payload))


def consume_one_async(agent: TileAgent, op: ConsumeOneAsyncOp, inputs: Sequence[Any]) -> Steps:
    """Wait and run the body; the token completes when the engines it used have read."""
    held = yield from _await_full(agent, op, inputs[0], inputs[1])
    values = yield from _consume(agent, op, held)
    slot = held.slot
    assert slot is not None
    reader = slot.check_reading(agent.who, held.consumer, held.phase)
    token = TaskToken(f"engines that read {slot.name}", reader.tasks)
    wanted = len(op.results) > len(op.ENTRY.gives)
    return held, token, *(values if wanted else ())


def consumer_wait(agent: TileAgent, op: ConsumerWaitOp, inputs: Sequence[Any]) -> Steps:
    """Wait until the stage is published."""
    if (held := _held(agent, inputs)) is not None:
        return (held,)
    return ((yield from _await_full(agent, op, inputs[0], inputs[1])),)


def consumer_read(agent: TileAgent, op: ConsumerReadOp, inputs: Sequence[Any]) -> Steps:
    """Read the stage that was waited for."""
    token, iterator = inputs
    consumer = _consumer(op)
    token.use(agent.who, "consumer", consumer)
    slot = _slot(token.pipeline, iterator)
    slot.check_reading(agent.who, consumer, iterator.phase)
    held = token.at(slot, iterator.phase, consumer)
    values = yield from _consume(agent, op, held)
    wanted = len(op.results) > len(op.ENTRY.gives)
    return held, *(values if wanted else ())


def consumer_release(agent: TileAgent, op: ConsumerReleaseOp, inputs: Sequence[Any]) -> Any:
    """Release the stage."""
    token: PipelineToken = inputs[0]
    if token.slot is None:
        raise ProtocolError(f"{agent.who} releases a stage of {token.pipeline.name} twice")
    _release(agent, op, token)
    token.use(agent.who, "consumer", token.consumer, "release")
    return (PipelineToken(token.pipeline, token.slot, token.phase, token.consumer),)


def _release(agent: TileAgent, op: Operation, held: PipelineToken) -> None:
    """Arrive on `empty` of every block whose loads land here, once tcgen05 has read."""
    slot = held.slot
    assert slot is not None
    holding = slot.readers.get(held.consumer) if _still_holds(held) else None
    busy: Sequence[Task] = () if holding is None else holding.unfinished
    if (early := next((task for task in busy if not _tells_barriers(task)), None)) is not None:
        raise slot.error(
            f"{agent.who} releases {slot.name} while {early.what} is still reading it", slot.empty
        )
    reader = slot.release(agent.who, held.consumer, held.phase)
    agent.work(op, agent.latencies.arrive, stage=slot.index)

    def arrive(by: Arrival) -> None:
        for peer in held.pipeline.peers():
            peer.slots[slot.index].empty.arrive(1, by.who, by.time, by.snapshot)
        slot.leave(held.phase)

    arrive_after(agent, [task for task in reader.tasks if _tells_barriers(task)], arrive)


def _tells_barriers(task: Task) -> bool:
    """Return whether the engine arrives on a barrier on completion, as `tcgen05.commit` does."""
    return task.what.startswith("tcgen05")


def yielded(op: PipelineYieldOp, inputs: Sequence[Any]) -> ReturnedValues:
    """Return what the body yields."""
    return ReturnedValues(tuple(inputs))


PIPELINES = Language(
    effects={
        ConsumerReleaseOp: consumer_release,
        CreateIteratorOp: create_iterator,
        IncIterOp: increment,
        ProducerCommitOp: producer_commit,
    },
    behaviours={
        ConsumeOneAsyncOp: consume_one_async,
        ConsumeOneOp: consume_one,
        ConsumerReadOp: consumer_read,
        ConsumerWaitOp: consumer_wait,
        CreatePipelineOp: create_pipeline,
        ProduceOneAsyncOp: produce_one_async,
        ProduceOneOp: produce_one,
        ProducerAcquireOp: producer_acquire,
        ProducerWriteOp: producer_write,
    },
    ends={PipelineYieldOp: yielded},
)
