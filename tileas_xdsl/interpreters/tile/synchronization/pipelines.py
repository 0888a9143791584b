"""Pipelines at run time: stages of shared memory, and the values of tokens and iterators.

A pipeline of the program is, in each block, a buffer cut into slots, each with a `full` and an
`empty` mbarrier. An iterator is a stage and its phase; a token carries the state of its chain, so
that using one twice is found:

    StageIterator(count=2): (stage 0, phase 0), (1, 0), (0, 1), (1, 1), (0, 2), ...
    producer waits for empty[stage] with parity (phase & 1) ^ 1: in phase 0 it does not wait
    consumer waits for full[stage] with parity phase & 1

Waits join vector clocks (`released_clock`), by which races are found: what a producer wrote before
its arrival happens before what the consumer reads after its wait.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from math import prod
from typing import Any

from xdsl.ir import Attribute, Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.interpreters.tile.execution.engines import Task
from tileas_xdsl.interpreters.tile.execution.machine import Block, TileAgent
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Actor, Guard, Memory
from tileas_xdsl.interpreters.tile.memory.views import View, contiguous
from tileas_xdsl.interpreters.tile.numerics.element_types import dtype_of
from tileas_xdsl.interpreters.tile.synchronization.async_tokens import AsyncToken
from tileas_xdsl.interpreters.tile.synchronization.pipeline_stages import (
    ConsumerLease,
    ProducerLease,
    ProtocolError,
    Slot,
    State,
)
from tileas_xdsl.interpreters.tile.synchronization.vector_clocks import joined


@dataclass(eq=False)
class Pipeline:
    """The stages that one `create_pipeline` made in one block."""

    name: str
    key: tuple[Any, ...]
    block: Block
    memory: Memory
    slots: list[Slot]
    group: int
    _payloads: dict[Any, Sequence[View]] = field(default_factory=dict[Any, Sequence[View]])

    def payload(self, slot: Slot, types: Sequence[Attribute], lease: Guard) -> list[View]:
        """Return the tiles of a stage, one after another; `ProtocolError` if they do not fit."""
        key = (tuple(types), slot.index)
        if key not in self._payloads:
            self._payloads[key] = self._carve(slot, types)
        return [view.leased(lease) for view in self._payloads[key]]

    def _carve(self, slot: Slot, types: Sequence[Attribute]) -> Sequence[View]:
        views: list[View] = []
        offset, capacity, taken = slot.low, slot.high - slot.low, 0
        for type_ in types:
            shape, element = shape_of(type_), element_of(type_)
            if shape is None or element is None:
                raise slot.error(f"a stage holds tiles, not {type_}")
            views.append(contiguous(self.memory, offset, shape, element))
            size = prod(shape) * dtype_of(element).itemsize
            offset, taken = offset + size, taken + size
        if taken > capacity:
            raise slot.error(f"{slot.name} has {capacity} bytes, but its tiles have {taken}")
        return views

    def peers(self) -> Sequence[Pipeline]:
        """Return this pipeline in the blocks that share loads with this one."""
        if self.group == 1:
            return [self]
        return [block.pipelines[self.key] for block in self.block.peers(self.group)]


def check_consumed(block: Block) -> None:
    """Raise a fault for a stage that was filled and that no consumer has waited for.

    Its copies may still be in flight when the block ends, and would write shared memory that the
    next block on the multiprocessor owns: the producer fills one stage too many, or a consumer
    stops early.
    """
    for pipeline in block.pipelines.values():
        for slot in pipeline.slots:
            if slot.state is State.PUBLISHED and not slot.readers:
                op = pipeline.key[0] if isinstance(pipeline.key[0], Operation) else None
                raise fault(
                    op,
                    f"{slot.producer} fills {slot.name} (phase {slot.phase}), and the block ends "
                    "without any consumer having waited for it",
                    slot.full.event_trace(),
                )


@dataclass(eq=False)
class PipelineToken:
    """The value of a pipeline token: the state of its chain."""

    pipeline: Pipeline
    slot: Slot | None = None
    phase: int = 0
    consumer: int = 0
    users: set[tuple[str, int, str]] = field(default_factory=set[tuple[str, int, str]])
    done_with: Slot | None = None
    """The stage that was released before the token."""

    def use(self, agent: str, what: str, consumer: int = -1, step: str = "") -> None:
        """Check that an agent uses a token once, for each of its consumers.

        Only the next stage may be waited for before the one that the token holds is released.
        """
        before = [one for who, whose, one in self.users if (who, whose) == (agent, consumer)]
        if any({one, step} != {"wait", "release"} for one in before):
            raise ProtocolError(f"{agent} uses a {what} token of {self.pipeline.name} twice")
        self.users.add((agent, consumer, step))

    def at(self, slot: Slot | None, phase: int = 0, consumer: int = 0) -> PipelineToken:
        """Return the next token of the chain, which holds a stage."""
        return PipelineToken(self.pipeline, slot, phase, consumer)

    def behind(self, held: PipelineToken) -> PipelineToken:
        """Return the next token of the chain, after a stage that is released."""
        return PipelineToken(self.pipeline, None, held.phase, held.consumer, done_with=held.slot)


@dataclass(frozen=True, slots=True)
class StageIterator:
    """The value of an iterator: a stage and its phase."""

    count: int
    stage: int = 0
    phase: int = 0

    def next(self) -> StageIterator:
        """Return the next stage; after the last one the first of the next phase."""
        if self.stage + 1 < self.count:
            return StageIterator(self.count, self.stage + 1, self.phase)
        return StageIterator(self.count, 0, self.phase + 1)


@dataclass(frozen=True, slots=True)
class Arrival:
    """An arrival on a barrier: its actor, its time, and the released clock."""

    who: str
    time: int
    snapshot: dict[str, int]


def arrive_after(agent: TileAgent, tasks: Sequence[Task], then: Callable[[Arrival], None]) -> None:
    """Arrive now, or when the last of the tasks in flight lands.

    All that the agent and the tasks did happens before the arrival.
    """
    own = Arrival(agent.name, agent.now, agent.clock.snapshot())
    agent.clock.tick()

    def arrive(who: str) -> None:
        known = joined([own.snapshot, *[task.released_clock for task in tasks]])
        then(Arrival(who, max([own.time, *[task.ended for task in tasks]]), known))

    def landed(actor: Actor) -> None:
        if all(task.landed for task in tasks):
            arrive(actor.title)

    in_flight = [task for task in tasks if not task.landed]
    for task in in_flight:
        task.on_landing.append(landed)
    if not in_flight:
        arrive(own.who)


class TaskToken(AsyncToken):
    """A token of tasks in flight."""

    def __init__(self, what: str, tasks: Sequence[Task]) -> None:
        super().__init__(what)
        self.tasks = list(tasks)

    @property
    def done(self) -> bool:
        return all(task.landed for task in self.tasks)

    @property
    def ended_at(self) -> int:
        return max([task.ended for task in self.tasks], default=0)

    @property
    def snapshot(self) -> dict[str, int]:
        return joined([task.released_clock for task in self.tasks])

    def unfinished(self) -> Sequence[str]:
        return (self.what,)


def published(token: PipelineToken) -> AsyncToken:
    """Return a pipeline token as an asynchronous token."""
    slot = token.slot or token.done_with
    if slot is None:
        return AsyncToken(f"what {token.pipeline.name} published")
    return PublishedToken(slot, token.phase)


class PublishedToken(AsyncToken):
    """Done when the phase of `full` that a commit belongs to has completed."""

    def __init__(self, slot: Slot, phase: int) -> None:
        super().__init__(f"{slot.name} to be filled")
        self.slot = slot
        self.phase = phase

    @property
    def done(self) -> bool:
        return self.slot.full.phase > self.phase

    @property
    def ended_at(self) -> int:
        return self.slot.full.completed_at

    @property
    def snapshot(self) -> dict[str, int]:
        return self.slot.full.released_clock

    def unfinished(self) -> Sequence[str]:
        return (self.what,)


def slot_filled(agent: TileAgent, view: View) -> tuple[Slot, int] | None:
    """Return the stage that the agent is filling through a view, and its phase, if it is one."""
    if isinstance(view.lease, ProducerLease):
        return view.lease.slot, view.lease.phase
    for guard in view.memory.guards:
        if (
            isinstance(guard, Slot)
            and guard.producer == agent.who
            and guard.state is State.FILLING
            and guard.low <= view.offset < guard.high
        ):
            return guard, guard.phase
    return None


def register_reader(agent: TileAgent, value: Any, task: Task) -> None:
    """Register a task that reads a stage for the agent: the stage stays owned until it
    completes."""
    if not isinstance(value, View):
        return
    if isinstance(value.lease, ConsumerLease):
        lease = value.lease
        reader = lease.slot.check_reading(lease.agent, lease.consumer, lease.phase)
        if task not in reader.tasks:
            reader.tasks.append(task)
        return
    for guard in value.memory.guards:
        if isinstance(guard, Slot) and guard.low <= value.offset < guard.high:
            for reader in guard.readers.values():
                is_reading = reader.agent == agent.who and not reader.released
                if is_reading and task not in reader.tasks:
                    reader.tasks.append(task)
