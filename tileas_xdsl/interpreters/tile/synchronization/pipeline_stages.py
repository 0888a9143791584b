"""The stages of a pipeline at run time: two mbarriers each, their owners, and the protocol checks.

A stage is free, then filled by a producer, then published, then read by each consumer of its
pipeline, then free again; `phase` counts the rounds.  `full` completes a phase when the producer
has committed and all announced bytes have landed, `empty` when every consumer has released:

    FREE --acquire--> FILLING --commit--> PUBLISHED --wait, read, release by all--> FREE, phase + 1
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from enum import Enum

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.tile.execution.engines import Task
from tileas_xdsl.interpreters.tile.faults import RuleBroken
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Actor
from tileas_xdsl.interpreters.tile.synchronization.async_tokens import AsyncToken
from tileas_xdsl.interpreters.tile.synchronization.mbarrier import MBarrier


class ProtocolError(RuleBroken):
    """A pipeline operation out of order."""


class State(Enum):
    """The state of a stage; a published one can be read once `full` has completed."""

    FREE = "free"
    FILLING = "being filled"
    PUBLISHED = "published"


@dataclass(eq=False)
class Reader:
    """A consumer of a stage, in one phase."""

    agent: str
    released: bool = False
    tasks: list[Task] = field(default_factory=list[Task])
    """Engines that read the stage on its behalf."""

    @property
    def unfinished(self) -> Sequence[Task]:
        """Engines that still read."""
        return [task for task in self.tasks if not task.landed]


@dataclass(eq=False)
class Slot:
    """One stage: the bytes [`low`, `high`) of the memory of its pipeline."""

    pipeline: str
    index: int
    low: int
    high: int
    full: MBarrier
    empty: MBarrier
    consumers: Sequence[int]
    group: int = 1
    """The blocks whose loads land in this stage."""
    phase: int = 0
    state: State = State.FREE
    producer: str = ""
    readers: dict[int, Reader] = field(default_factory=dict[int, Reader])
    announced: int | None = None
    """The bytes of this phase, where the program says them; else every load announces its own."""
    issued: int = 0
    """The bytes of loads that were issued for this phase by this block."""
    filling: list[AsyncToken] = field(default_factory=list[AsyncToken])
    """Copies into the stage that were issued in this phase."""
    copies: list[Task] = field(default_factory=list[Task])
    """Those among them that tell no barrier of their bytes: a commit comes after them."""

    @property
    def name(self) -> str:
        """Its name in diagnostics."""
        return f"stage {self.index} of {self.pipeline}"

    def acquire(self, agent: str, phase: int) -> None:
        """Acquire the stage for its producer, after its wait for `empty`."""
        if self.empty.phase != phase:
            raise self._stale(agent, self.empty, phase - 1)
        if self.state is State.FILLING:
            raise self.error(f"{agent} acquires {self.name}, which {self.producer} is filling")
        if self.state is State.PUBLISHED:
            raise self.error(
                f"{agent} acquires {self.name}, which {self.producer} filled and its consumers "
                f"have not released",
                self.empty,
            )
        self.state, self.producer, self.phase = State.FILLING, agent, phase
        self.announced, self.issued, self.filling, self.copies = None, 0, [], []

    def announce(self, agent: str, count: int, time: int) -> None:
        """The program says how many bytes will land in this phase."""
        self.announced = count
        self.full.expect_tx(count, agent, time)

    def check_filling(self, agent: str, phase: int) -> None:
        """The agent is filling the stage in this phase."""
        if self.state is State.FILLING and self.producer == agent and self.phase == phase:
            return
        raise self.error(f"{agent} writes {self.name}, which it has not acquired", self.empty)

    def commit(self, agent: str) -> None:
        """Commit the stage; the caller arrives on `full`."""
        if self.state is not State.FILLING or self.producer != agent:
            raise self.error(f"{agent} commits {self.name} twice, or without acquiring it")
        if self.announced is not None and self.group == 1 and self.announced != self.issued:
            raise self.error(
                f"{agent} announces {self.announced} bytes on {self.full.name}, but its loads "
                f"deliver {self.issued}"
            )
        self.state = State.PUBLISHED

    def deliver(self, count: int, phase: int, actor: Actor, time: int) -> None:
        """Bytes of a load of `phase` have landed."""
        if self.full.phase != phase:
            raise self.error(
                f"{actor.title} delivers {count} bytes to {self.full.name}, whose phase {phase} "
                f"has completed without them"
            )
        self.full.complete_tx(count, actor.title, time, actor.clock.snapshot())
        if self.full.phase == phase and not self.full.pending and self.full.tx_count < 0:
            raise self.error(
                f"{actor.title} delivers {-self.full.tx_count} bytes more than were announced on "
                f"{self.full.name}"
            )

    def wait(self, agent: str, consumer: int, phase: int) -> None:
        """Let a consumer read, after its wait for `full`."""
        if self.full.phase != phase + 1:
            raise self._stale(agent, self.full, phase)
        reader = self.readers.get(consumer)
        if self.phase == phase and reader is None:
            self.readers[consumer] = Reader(agent)
            return
        who = agent if reader is None or reader.agent == agent else f"{agent}, like {reader.agent},"
        raise self.error(
            f"{who} waits twice for phase {phase} of {self.name} as consumer {consumer}"
        )

    def check_reading(self, agent: str, consumer: int, phase: int) -> Reader:
        """The consumer has waited for the stage and not released it."""
        reader = self.readers.get(consumer) if self.phase == phase else None
        if reader is not None and reader.agent == agent and not reader.released:
            return reader
        if self.phase > phase or (reader is not None and reader.released):
            raise self.error(f"{agent} uses {self.name} after releasing it", self.empty)
        raise self.error(f"{agent} reads {self.name} without waiting for it as consumer {consumer}")

    def release(self, agent: str, consumer: int, phase: int) -> Reader:
        """Release the stage by a consumer; the caller arrives on `empty`."""
        reader = self.readers.get(consumer) if self.phase == phase else None
        if self.phase > phase or (reader is not None and reader.released):
            raise self.error(
                f"{agent} releases {self.name} twice as consumer {consumer}", self.empty
            )
        if reader is None or reader.agent != agent:
            raise self.error(
                f"{agent} releases {self.name}, for which it did not wait as consumer {consumer}"
            )
        reader.released = True
        return reader

    def leave(self, phase: int) -> None:
        """Free the stage once all consumers have released it and their engines have read it."""
        readers = [self.readers.get(consumer) for consumer in self.consumers]
        if self.phase == phase and all(
            reader is not None and reader.released and not reader.unfinished for reader in readers
        ):
            self.state, self.producer, self.readers = State.FREE, "", {}
            self.phase = phase + 1

    def check(self, actor: Actor, *, writes: bool) -> None:
        """Raise the protocol error of an access that does not come through the pipeline."""
        if self.state is State.FREE:
            return
        readers = [r for r in self.readers.values() if r.agent == actor.holder]
        if any(not reader.released for reader in readers) or self._may_fill(actor):
            return
        # From the most specific cause to the least: an actor that has read the stage gave it back
        # too early; a producer wrote after its commit; else the data is not there yet.
        verb = "overwrites" if writes else "reads"
        if readers:
            raise self.error(f"{actor.name} {verb} {self.name} after releasing it", self.empty)
        if self.producer == actor.holder:
            raise self.error(f"{actor.name} {verb} {self.name} after it was committed")
        if self.state is State.FILLING or self.full.phase == self.phase:
            raise self.error(f"{actor.name} {verb} {self.name} before it was committed")
        if writes:
            raise self.error(
                f"{actor.name} overwrites {self.name} before it was released", self.empty
            )
        raise self.error(f"{actor.name} reads {self.name} without waiting for it")

    def _may_fill(self, actor: Actor) -> bool:
        """Whether the producer may write; what it has in flight may land after the commit."""
        if self.producer != actor.holder:
            return False
        landing = actor.name != actor.holder and self.full.phase == self.phase
        return self.state is State.FILLING or (self.state is State.PUBLISHED and landing)

    def error(self, text: str, barrier: MBarrier | None = None) -> ProtocolError:
        """A protocol error with the last events of a barrier, by default those of `full`."""
        return ProtocolError(f"{text} (phase {self.phase})", (barrier or self.full).event_trace())

    def _stale(self, agent: str, barrier: MBarrier, wanted: int) -> ProtocolError:
        """The wait of `agent` passed, but not because the phase it is for has completed."""
        done = barrier.phase - 1
        how = "two back: it has not completed" if done < wanted else "a later one"
        return self.error(
            f"{agent} waits for phase {wanted} of {barrier.name}, but parity {wanted & 1} is "
            f"satisfied by phase {done}, {how}",
            barrier,
        )


@dataclass(frozen=True, slots=True)
class _Lease:
    """The ownership of a stage by an agent, for one phase."""

    slot: Slot
    phase: int
    agent: str

    @property
    def low(self) -> int:
        """Where the stage begins."""
        return self.slot.low

    @property
    def high(self) -> int:
        """Where it ends."""
        return self.slot.high


@dataclass(frozen=True, slots=True)
class ProducerLease(_Lease):
    """The ownership of a stage by its producer, for one phase."""

    def check(self, actor: Actor, *, writes: bool) -> None:
        """The stage is still being filled; copies in flight may land after the commit."""
        slot = self.slot
        if slot.phase == self.phase and slot.producer == self.agent:
            landing = actor.name != self.agent and slot.full.phase == self.phase
            if slot.state is State.FILLING or (slot.state is State.PUBLISHED and landing):
                return
        verb = "writes" if writes else "reads"
        raise slot.error(f"{actor.name} {verb} {slot.name} after it was committed")


@dataclass(frozen=True, slots=True)
class ConsumerLease(_Lease):
    """The ownership of a stage by a consumer, for one phase."""

    consumer: int

    def check(self, actor: Actor, *, writes: bool) -> None:
        """The consumer still holds the stage."""
        slot = self.slot
        reader = slot.readers.get(self.consumer) if slot.phase == self.phase else None
        if reader is not None and reader.agent == self.agent:
            if not reader.released:
                return
            if actor.name != self.agent and reader.unfinished:
                return
        verb = "overwrites" if writes else "uses"
        raise slot.error(
            f"{actor.name} {verb} {slot.name} after {self.agent} released it", slot.empty
        )
