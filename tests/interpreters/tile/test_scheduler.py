"""Pipelines of bare processes and engines: policies agree on right ones, find wrong ones."""

import numpy as np
import pytest

from tileas_xdsl.interpreters.tile.clocks import Clock
from tileas_xdsl.interpreters.tile.engines import Engine, Task
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.mbarrier import BarrierError, MBarrier
from tileas_xdsl.interpreters.tile.memory import AccessError, Agents, Buffer
from tileas_xdsl.interpreters.tile.scheduler import (
    Adversarial,
    Policy,
    RoundRobin,
    Scheduler,
    SeededRandom,
    Steps,
    Wait,
)

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
        self.given = {id(b): {} for b in (*self.full, *self.empty)}
        agents = Agents()
        self.stages = [Buffer(f"stage{s}", np.zeros(8, np.int64), agents) for s in range(DEPTH)]
        self.total = 0
        self.producer = self.scheduler.add("producer", self.produce())
        self.consumer = self.scheduler.add("consumer", self.consume())

    def hand(self, barrier: MBarrier, clock: Clock) -> None:
        self.given[id(barrier)] = clock.snapshot()

    def wait(self, barrier: MBarrier, parity: int) -> Wait:
        return Wait(
            lambda: barrier.test_parity(parity), f"{barrier.name} parity {parity}", barrier=barrier
        )

    def produce(self) -> Steps:
        for i in range(ROUNDS):
            stage, parity = i % DEPTH, (i // DEPTH) & 1
            if self.fault != "no acquire":
                yield self.wait(self.empty[stage], parity ^ 1)
                self.producer.clock.learn(self.given[id(self.empty[stage])])
            announced = BYTES - 8 if self.fault == "few bytes" else BYTES
            self.full[stage].arrive_expect_tx(announced, "producer", self.producer.time)
            self.engine.issue(
                Task(f"load {i}", self.land(stage, i), 0, 10, self.producer.clock.snapshot())
            )
            self.producer.clock.tick()

    def land(self, stage: int, i: int):
        def effect() -> None:
            assert self.engine.process is not None
            clock = self.engine.process.clock
            self.stages[stage].write((slice(None),), i, clock)
            self.hand(self.full[stage], clock)
            self.full[stage].complete_tx(BYTES, "tma")

        return effect

    def consume(self) -> Steps:
        for i in range(ROUNDS):
            stage, parity = i % DEPTH, (i // DEPTH) & 1
            if self.fault == "wrong parity":
                parity ^= 1
            yield self.wait(self.full[stage], parity)
            self.consumer.clock.learn(self.given[id(self.full[stage])])
            if self.fault != "early release":
                self.total += int(
                    self.stages[stage].read((slice(None),), self.consumer.clock).sum()
                )
            if self.fault != "no release":
                self.hand(self.empty[stage], self.consumer.clock)
                self.empty[stage].arrive(1, "consumer")
                self.consumer.clock.tick()
            if self.fault == "early release":
                self.total += int(
                    self.stages[stage].read((slice(None),), self.consumer.clock).sum()
                )


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
    assert "empty[0] misses 1 of 1 arrivals in phase 0" in notes
    assert any("full[0]" in n and "delivered 64 bytes" in n for n in notes)


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
    scheduler = Scheduler(Adversarial())
    for in_order in (True, False):
        landed.clear()
        engine = Engine("store", Adversarial(), in_order=in_order)
        scheduler = Scheduler(Adversarial())
        engine.start(scheduler)
        for i in range(3):
            engine.issue(Task(str(i), lambda i=i: landed.append(i), issued=i, latency=5))
        scheduler.run()
        assert landed == ([0, 1, 2] if in_order else [2, 1, 0])
        assert engine.process is not None
        assert engine.process.time >= 7


# Memory


def test_memory_finds_what_is_not_ordered() -> None:
    agents = Agents()
    buffer = Buffer("b", np.zeros((4, 4), np.float32), agents)
    a, b = Clock("a"), Clock("b")
    with pytest.raises(AccessError, match=r"b\[1, 2\] is read, and nobody wrote it"):
        buffer.read((1, 2), a)
    buffer.write((slice(0, 2), slice(None)), 1.0, a)
    assert buffer.read((0, slice(None)), a).tolist() == [1.0] * 4
    with pytest.raises(AccessError, match=r"race on b\[0, 0\]: b reads what a wrote"):
        buffer.read((slice(0, 2), slice(None)), b)
    b.learn(a.snapshot())
    a.tick()
    buffer.read((slice(0, 2), slice(None)), b)
    with pytest.raises(AccessError, match=r"a overwrites what b read"):
        buffer.write((1, 1), 2.0, a)
    a.learn(b.snapshot())
    b.tick()
    buffer.write((1, 1), 2.0, a)
    with pytest.raises(AccessError, match=r"race on b\[1, 1\]: b writes what a wrote"):
        buffer.write((slice(None), slice(None)), 0.0, b)


def test_arguments_may_be_read_at_once() -> None:
    buffer = Buffer("arg0", np.arange(6).reshape(2, 3), Agents(), initialised=True)
    assert buffer.read((slice(None), 1), Clock("a")).tolist() == [1, 4]
