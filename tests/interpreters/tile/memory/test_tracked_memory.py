"""Memory against a naive model of happens-before, byte by byte; what stories say."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

import numpy as np
import pytest
from xdsl.dialects.builtin import f32

from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.interpreters.tile.memory.byte_regions import Region
from tileas_xdsl.interpreters.tile.memory.tracked_memory import (
    WEAK,
    Access,
    AccessError,
    Actor,
    Memory,
)
from tileas_xdsl.interpreters.tile.memory.views import View
from tileas_xdsl.interpreters.tile.synchronization.vector_clocks import Clock

SIZE, CELL = 64, 16
RELAXED = Access(is_strong=True)
ACQUIRE = Access(is_strong=True, acquires=True)
RELEASE = Access(is_strong=True, releases=True)
UPDATES = [
    Access(is_strong=True, acquires=a, releases=r, updates=True)
    for a in (False, True)
    for r in (False, True)
]


@dataclass
class Event:
    """An access of the model."""

    number: int
    agent: int
    places: frozenset[int]
    is_write: bool
    is_strong: bool


@dataclass
class Model:
    """Every access ever made, and for each agent the accesses that happened before now."""

    agents: int
    written: set[int]
    events: list[Event] = field(default_factory=list[Event])
    before: list[set[int]] = field(default_factory=list[set[int]])
    released: list[tuple[frozenset[int], set[int]]] = field(
        default_factory=list[tuple[frozenset[int], set[int]]]
    )

    def __post_init__(self) -> None:
        self.before = [set() for _ in range(self.agents)]

    def hand_over(self, giver: int, taker: int) -> None:
        self.before[taker] |= self.before[giver]

    def problem(
        self, agent: int, places: frozenset[int], access: Access, *, is_write: bool
    ) -> str | None:
        """What is wrong with an access; None where it is fine."""
        if access.acquires:
            for cell, known in self.released:
                if cell & places:
                    self.before[agent] |= known
        for event in self.events:
            apart = not (event.places & places) or event.number in self.before[agent]
            both_read = not (event.is_write or is_write)
            if apart or both_read or (event.is_strong and access.is_strong):
                continue
            return "race"
        return None if is_write or places <= self.written else "nobody wrote it"

    def take_place(
        self, agent: int, places: frozenset[int], access: Access, *, is_write: bool
    ) -> None:
        number = len(self.events)
        self.events.append(Event(number, agent, places, is_write, access.is_strong))
        self.before[agent].add(number)
        if not is_write:
            return
        self.written |= places
        if not access.updates:
            self.released = [r for r in self.released if not r[0] <= places]
        if access.releases:
            self.released.append((places, set(self.before[agent])))


def window(rng: random.Random) -> tuple[Region, frozenset[int]]:
    """A window of elements of 1, 2 or 4 bytes, no run of which covers a cell unless it is one."""
    item = rng.choice([1, 2, 4])
    kind = rng.randrange(4)
    if kind == 0:
        count = rng.randint(1, SIZE // item)
        offset = rng.randint(0, SIZE - count * item)
        shape, strides = (count,), (item,)
    elif kind == 1:
        shape, strides = (rng.randint(1, 3), rng.randint(1, 3)), (CELL, item)
        offset = rng.randint(0, SIZE - 2 * CELL - 3 * item)
    else:
        offsets = np.array(
            [rng.randrange(SIZE // item) * item for _ in range(rng.randint(1, 5))], dtype=np.int64
        )
        places = frozenset(int(o) + k for o in offsets for k in range(item))
        return Region.of_elements(offsets, item), places
    starts = np.indices(shape).reshape(len(shape), -1).T @ np.array(strides) + offset
    places = frozenset(int(start) + k for start in starts for k in range(item))
    return Region.of_window(offset, shape, strides, item), places


def cell(rng: random.Random) -> tuple[Region, frozenset[int]]:
    low = rng.randrange(SIZE // CELL) * CELL
    return Region.of_window(low, (4,), (4,), 4), frozenset(range(low, low + CELL))


class Play:
    """The same accesses, by the memory and by the model."""

    def __init__(self, rng: random.Random, *, is_initialised: bool) -> None:
        self.rng = rng
        data = np.zeros(SIZE, np.uint8)
        self.memory = Memory("m", Space.SMEM, data, is_initialised=is_initialised)
        self.actors = [Actor(f"a{n}", f"a{n}", Clock(f"a{n}")) for n in range(3)]
        self.model = Model(3, set(range(SIZE)) if is_initialised else set())
        self.outcomes: dict[str, int] = {}

    def step(self) -> None:
        rng, agent = self.rng, self.rng.randrange(3)
        what = rng.randrange(10)
        if what < 3:
            self.hand_over(agent, rng.randrange(3))
        elif what < 6:
            region, places = cell(rng)
            if rng.random() < 0.4:
                access = rng.choice(UPDATES)
                self.access(agent, region, places, access, is_write=False)
                self.access(agent, region, places, access, is_write=True)
            else:
                is_write = rng.random() < 0.5
                access = rng.choice([RELAXED, RELEASE if is_write else ACQUIRE])
                self.access(agent, region, places, access, is_write=is_write)
        else:
            region, places = window(rng) if rng.random() < 0.7 else cell(rng)
            self.access(agent, region, places, WEAK, is_write=rng.random() < 0.5)

    def hand_over(self, giver: int, taker: int) -> None:
        self.actors[taker].clock.join(self.actors[giver].clock.snapshot())
        self.actors[giver].clock.tick()
        self.model.hand_over(giver, taker)

    def access(
        self, agent: int, region: Region, places: frozenset[int], access: Access, *, is_write: bool
    ) -> None:
        problem = self.model.problem(agent, places, access, is_write=is_write)
        check = self.memory.check_write if is_write else self.memory.check_read
        self.outcomes[problem or "fine"] = self.outcomes.get(problem or "fine", 0) + 1
        if problem is not None:
            with pytest.raises(AccessError, match=problem):
                check(region, self.actors[agent], access)
            return
        check(region, self.actors[agent], access)
        self.model.take_place(agent, places, access, is_write=is_write)


@pytest.mark.parametrize("is_initialised", [True, False])
def test_every_race_is_found_and_nothing_else(is_initialised: bool) -> None:
    outcomes: dict[str, int] = {}
    for seed in range(150):
        play = Play(random.Random(seed), is_initialised=is_initialised)
        for _ in range(50):
            play.step()
        for kind, count in play.outcomes.items():
            outcomes[kind] = outcomes.get(kind, 0) + count
    assert min(outcomes.get(kind, 0) for kind in ("race", "fine")) > 500, outcomes
    assert is_initialised or outcomes["nobody wrote it"] > 500


def test_a_write_to_a_part_ends_no_release_of_the_rest() -> None:
    memory = Memory("m", Space.GMEM, np.zeros(16, np.float32), is_initialised=True)
    a, b = (Actor(name, name, Clock(name)) for name in "ab")
    data, flags = Region.of_window(0, (8,), (4,), 4), Region.of_window(32, (8,), (4,), 4)
    memory.check_write(data, a)
    memory.check_write(flags, a, RELEASE)
    memory.check_write(Region.of_window(32, (1,), (4,), 4), a)
    memory.check_read(Region.of_window(36, (7,), (4,), 4), b, ACQUIRE)
    memory.check_read(data, b)
    memory.check_write(flags, a, RELAXED)
    assert memory._released == []


def test_engines_see_what_they_were_told() -> None:
    memory = Memory("m", Space.SMEM, np.zeros(8, np.float32))
    agent = Actor("agent", "agent", Clock("agent"))
    region = Region.of_window(0, (8,), (4,), 4)
    memory.check_write(region, agent)
    told = agent.clock.snapshot()
    agent.clock.tick()
    engine = Actor("TMA 0", "agent", Clock("TMA 0", dict(told)))
    memory.check_read(region, engine)
    with pytest.raises(AccessError, match=r"race on m\[0\]: agent overwrites what TMA 0 read"):
        memory.check_write(region, agent)
    agent.clock.join(engine.clock.snapshot())
    memory.check_write(region, agent)


def test_records_do_not_pile_up() -> None:
    memory = Memory("m", Space.SMEM, np.zeros(64, np.float32))
    a, b = (Actor(name, name, Clock(name)) for name in "ab")
    whole, half = Region.of_window(0, (64,), (4,), 4), Region.of_window(0, (8, 4), (32, 4), 4)
    for _ in range(100):
        memory.check_write(whole, a)
        memory.check_read(half, a)
        b.clock.join(a.clock.snapshot())
        a.clock.tick()
        for _ in range(5):
            memory.check_read(half, b)
            memory.check_read(whole, b)
        a.clock.join(b.clock.snapshot())
        b.clock.tick()
    assert len(memory.records()) <= 16
    for _ in range(100):
        for actor in (a, b):
            memory.check_read(half, actor, ACQUIRE)
            memory.check_read(half, actor, UPDATES[3])
            memory.check_write(half, actor, UPDATES[3])
    assert len(memory.records()) <= 24
    assert len(memory._released) <= 2


def test_a_story_names_the_place_and_both_sides() -> None:
    memory = Memory("%s", Space.SMEM, np.zeros((4, 8), np.float16))
    a, b = (Actor(name, name, Clock(name)) for name in ("agent 0", "agent 1"))
    with pytest.raises(AccessError, match=r"%s\[1, 3\] is read, and nobody wrote it"):
        memory.check_read(Region.of_window(22, (1,), (2,), 2), a)
    memory.check_write(Region.of_window(16, (8,), (2,), 2), a)
    with pytest.raises(AccessError) as caught:
        memory.check_read(Region.of_window(20, (1,), (2,), 2), b)
    assert str(caught.value) == (
        "race on %s[1, 2]: agent 1 reads what agent 0 wrote, and nothing orders the two"
    )
    assert [n.message for n in caught.value.notes] == ["agent 0 wrote it here"]


def test_copies_keep_what_is_unset_unset() -> None:
    memory = Memory("m", Space.RMEM, np.arange(12, dtype=np.float32).reshape(3, 4))
    view = View.whole(memory, f32)
    a, b = (Actor(name, name, Clock(name)) for name in "ab")
    view.part((1, 1), (2, 2)).write(np.float32(9), a)
    copy = view.copied(a)
    copy.part((1, 1), (2, 2)).read(a)
    with pytest.raises(AccessError, match=r"m\[0, 0\] is read, and nobody wrote it"):
        copy.read(a)
    copy.part((0, 0), (1, 4)).write(np.float32(1), a)
    with pytest.raises(AccessError, match=r"m\[1, 0\] is read"):
        copy.read(a)
    with pytest.raises(AccessError, match=r"m\[0, 0\] is read"):
        view.read(a)
    with pytest.raises(AccessError, match="b reads what a wrote"):
        view.copied(b)
