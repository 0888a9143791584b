"""Pipelines of bare processes and engines: policies agree on right ones, find wrong ones."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from xdsl.dialects.builtin import i64

from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.interpreters.tile.execution.engines import Engine, Task
from tileas_xdsl.interpreters.tile.execution.scheduler import (
    Adversarial,
    Policy,
    Process,
    RoundRobin,
    Scheduler,
    SeededRandom,
    Steps,
    Wait,
)
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.memory.tracked_memory import AccessError, Actor, Memory
from tileas_xdsl.interpreters.tile.memory.views import View
from tileas_xdsl.interpreters.tile.synchronization.mbarrier import BarrierError, MBarrier
from tileas_xdsl.interpreters.tile.synchronization.vector_clocks import Clock

POLICIES = [RoundRobin, Adversarial, *(lambda s=s: SeededRandom(s) for s in range(50))]
DEPTH, ROUNDS, BYTES = 2, 7, 64


class Pipeline:
    """A ring of stages that an engine fills and one consumer adds up."""

    def __init__(self, policy: Policy, fault: str = "") -> None:
        self.fault = fault
        self.scheduler = Scheduler(policy)
        self.engine = Engine("tma", policy)
        self.engine.start(self.scheduler)
        self.full = [MBarrier(f"full[{s}]", 1) for s in range(DEPTH)]
        self.empty = [MBarrier(f"empty[{s}]", 1) for s in range(DEPTH)]
        self.stages = [
            View.whole(Memory(f"stage{s}", Space.SMEM, np.zeros(8, np.int64)), i64)
            for s in range(DEPTH)
        ]
        self.total = 0
        self.producer = self.scheduler.add("producer", self.produce())
        self.consumer = self.scheduler.add("consumer", self.consume())

    def wait(self, barrier: MBarrier, parity: int) -> Wait:
        return Wait(
            lambda: barrier.test_parity(parity), f"{barrier.name} parity {parity}", barrier=barrier
        )

    def produce(self) -> Steps:
        for i in range(ROUNDS):
            stage, parity = i % DEPTH, (i // DEPTH) & 1
            if self.fault != "no acquire":
                yield self.wait(self.empty[stage], parity ^ 1)
                self.producer.clock.join(self.empty[stage].released_clock)
            announced = BYTES - 8 if self.fault == "few bytes" else BYTES
            self.full[stage].arrive_expect_tx(announced, "producer", self.producer.time)
            self.engine.issue(
                Task(f"load {i}", self.land(stage, i), 0, 10, 0, self.producer.clock.snapshot())
            )
            self.producer.clock.tick()

    def land(self, stage: int, i: int):
        def effect(actor: Actor) -> None:
            self.stages[stage].write(i, actor)
            self.full[stage].complete_tx(BYTES, "tma", 0, actor.clock.snapshot())

        return effect

    def read(self, stage: int) -> None:
        actor = Actor("consumer", "consumer", self.consumer.clock)
        self.total += int(self.stages[stage].read(actor).sum())

    def consume(self) -> Steps:
        for i in range(ROUNDS):
            stage, parity = i % DEPTH, (i // DEPTH) & 1
            if self.fault == "wrong parity":
                parity ^= 1
            yield self.wait(self.full[stage], parity)
            self.consumer.clock.join(self.full[stage].released_clock)
            if self.fault != "early release":
                self.read(stage)
            if self.fault != "no release":
                self.empty[stage].arrive(1, "consumer", 0, self.consumer.clock.snapshot())
                self.consumer.clock.tick()
            if self.fault == "early release":
                self.read(stage)


@pytest.mark.parametrize("make", POLICIES)
def test_a_right_pipeline_runs_under_every_policy(make) -> None:
    pipeline = Pipeline(make())
    pipeline.scheduler.run()
    assert pipeline.total == 8 * sum(range(ROUNDS))
    assert pipeline.engine.landed == ROUNDS
    assert all(p.done for p in (pipeline.producer, pipeline.consumer))


@pytest.mark.parametrize("make", POLICIES[:12])
def test_a_missing_release_is_a_deadlock_with_its_story(make) -> None:
    with pytest.raises(SimulationError) as caught:
        Pipeline(make(), "no release").scheduler.run()
    report = caught.value.diagnostics[0]
    assert report.message == "deadlock: producer, consumer wait forever"
    notes = [n.message for n in report.notes]
    assert "producer waits for empty[0] parity 0" in notes
    story = "\n".join(notes)
    assert "empty[0] misses 1 of 1 arrivals" in story
    assert "full[0]" in story
    assert "delivered 64 bytes" in story


@pytest.mark.parametrize("fault", ["no acquire", "early release", "wrong parity", "few bytes"])
def test_other_faults_are_found_by_some_schedule(fault: str) -> None:
    found = []
    for make in POLICIES:
        pipeline = Pipeline(make(), fault)
        try:
            pipeline.scheduler.run()
        except (SimulationError, AccessError, BarrierError) as error:
            found.append(str(error))
            continue
        assert fault == "early release"
    assert len(found) >= len(POLICIES) // 3, fault
    if fault in ("no acquire", "early release"):
        assert any("race on stage" in text or "arrives 1 times" in text for text in found)


def test_the_same_seed_gives_the_same_run() -> None:
    class Recording(SeededRandom):
        def __init__(self, seed: int) -> None:
            super().__init__(seed)
            self.chosen: list[str] = []

        def choose(self, runnable):
            process = super().choose(runnable)
            self.chosen.append(process.name)
            return process

    def history(seed: int) -> tuple[str, ...]:
        policy = Recording(seed)
        Pipeline(policy).scheduler.run()
        return tuple(policy.chosen)

    assert history(3) == history(3)
    assert len({history(s) for s in range(8)}) > 1


def test_engines_that_keep_order_land_the_oldest() -> None:
    landed: list[int] = []
    for in_order in (True, False):
        landed.clear()
        engine = Engine("store", Adversarial(), in_order=in_order)
        scheduler = Scheduler(Adversarial())
        engine.start(scheduler)
        for i in range(3):
            engine.issue(Task(str(i), lambda _, i=i: landed.append(i), issued=i, latency=5))
        scheduler.run()
        assert landed == ([0, 1, 2] if in_order else [2, 1, 0])
        assert engine.last_end == 7


def test_tasks_come_after_what_they_wait_for() -> None:
    """A task that is not ready is overtaken, but not by an engine that keeps order."""
    for in_order in (False, True):
        landed: list[str] = []
        engine = Engine("copies", RoundRobin(), in_order=in_order)
        scheduler = Scheduler(RoundRobin())
        engine.start(scheduler)

        def task(name: str, ready: Callable[[], bool] | None, landed: list[str] = landed) -> Task:
            return Task(name, lambda _: landed.append(name), 0, 5, ready=ready)

        engine.issue(task("first", lambda landed=landed: "second" in landed))
        engine.issue(task("second", None))
        scheduler.run()
        assert landed == ([] if in_order else ["second", "first"])
        assert len(engine.in_flight) == 2 - len(landed)


def test_an_engine_that_is_busy_begins_later() -> None:
    scheduler = Scheduler(RoundRobin())
    engine = Engine("TMA", RoundRobin())
    engine.start(scheduler)
    tasks = [engine.issue(Task(str(i), lambda _: None, 3, 100, 40)) for i in range(3)]
    late = engine.issue(Task("late", lambda _: None, 500, 100, 40))
    assert [(t.begun, t.ended) for t in (*tasks, late)] == [
        (3, 103),
        (43, 143),
        (83, 183),
        (500, 600),
    ]
    told: list[str] = []
    tasks[0].on_landing.append(lambda actor: told.append(actor.name))
    scheduler.run()
    assert all(task.landed for task in tasks)
    assert (told, engine.last_end) == (["TMA 0"], 600)
    assert tasks[0].released_clock["TMA 0"] == 1


# Looking again and again


def looker(scheduler: Scheduler, name: str, box: list[int], wanted: int, then: int) -> Process:
    """Look into a box until it holds a number, then put another one there."""

    def steps() -> Steps:
        while True:
            yield Wait(lambda: True, "the box to change", observed=lambda: box[0])
            if box[0] == wanted:
                box[0] = then
                return

    return scheduler.add(name, steps())


@pytest.mark.parametrize("make", POLICIES[:12])
def test_all_who_look_have_their_turn(make) -> None:
    scheduler, box = Scheduler(make()), [0]
    processes = [looker(scheduler, str(n), box, n, n + 1) for n in (3, 1, 0, 2, 4)]
    scheduler.run()
    assert box == [5]
    assert all(process.done for process in processes)


@pytest.mark.parametrize("make", POLICIES[:12])
def test_those_who_look_in_vain_are_stuck_in_the_end(make) -> None:
    scheduler, box = Scheduler(make()), [0]
    looker(scheduler, "a", box, 0, 2)
    looker(scheduler, "b", box, 1, 2)
    with pytest.raises(SimulationError) as caught:
        scheduler.run()
    assert caught.value.diagnostics[0].message == "deadlock: b waits forever"


def test_whoever_looks_lets_the_others_go_on_first() -> None:
    scheduler, box, log = Scheduler(Adversarial()), [0], list[str]()

    def work() -> Steps:
        for k in range(5):
            yield Wait(lambda: True, "nothing")
            log.append(f"work {k}")
        box[0] = 1

    looker(scheduler, "a", box, 1, 2)
    scheduler.add("worker", work())
    scheduler.run()
    assert log == [f"work {k}" for k in range(5)]
    assert box == [2]


def test_looking_often_is_not_being_stuck() -> None:
    """As long as something changes, those who look may do so for ever."""
    scheduler, box = Scheduler(RoundRobin()), [0]

    def count(parity: int) -> Steps:
        while box[0] < 4000:
            yield Wait(lambda: True, "the box to change", observed=lambda: box[0])
            if box[0] % 2 == parity:
                box[0] += 1

    scheduler.add("even", count(0))
    scheduler.add("odd", count(1))
    scheduler.run()
    assert box[0] >= 4000


def test_virtual_time_does_not_run_back() -> None:
    scheduler, seen = Scheduler(RoundRobin()), list[tuple[int, int]]()
    clock = Clock("a")

    def steps() -> Steps:
        yield Wait(lambda: True, "early", ready_time=lambda: 5)
        yield Wait(lambda: True, "late", ready_time=lambda: 40)

    process = scheduler.add("a", steps(), time=20)
    process.on_wait = lambda wait, began, ended: seen.append((began, ended))
    scheduler.run()
    assert (process.time, seen) == (40, [(20, 40)])
    assert process.clock.known == clock.known
