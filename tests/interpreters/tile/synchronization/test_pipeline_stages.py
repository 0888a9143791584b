"""The stages of a pipeline: every right history passes, every step out of turn is a sentence."""

from __future__ import annotations

import random

import pytest

from tileas_xdsl.interpreters.tile.execution.engines import Task
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Actor
from tileas_xdsl.interpreters.tile.synchronization.mbarrier import BarrierError, MBarrier
from tileas_xdsl.interpreters.tile.synchronization.pipeline_stages import (
    ConsumerLease,
    ProducerLease,
    ProtocolError,
    Slot,
    State,
)
from tileas_xdsl.interpreters.tile.synchronization.vector_clocks import Clock


def slot(consumers: int = 1) -> Slot:
    return Slot(
        "%p",
        1,
        64,
        128,
        MBarrier("full[1]", 1),
        MBarrier("empty[1]", consumers),
        range(consumers),
    )


def actor(name: str, holder: str = "") -> Actor:
    return Actor(name, holder or name, Clock(name))


def fill(stage: Slot, phase: int, agent: str = "p") -> None:
    stage.acquire(agent, phase)
    stage.commit(agent)
    stage.full.arrive()


def drain(stage: Slot, phase: int, consumer: int = 0, agent: str = "c") -> None:
    stage.wait(agent, consumer, phase)
    stage.release(agent, consumer, phase)
    stage.empty.arrive()
    stage.leave(phase)


def test_laps_follow_one_another() -> None:
    rng = random.Random(0)
    for consumers in (1, 2, 3):
        stage = slot(consumers)
        for phase in range(6):
            assert stage.state is State.FREE
            fill(stage, phase)
            for consumer in rng.sample(range(consumers), consumers):
                assert stage.state is State.PUBLISHED
                drain(stage, phase, consumer, f"c{consumer}")
        assert (stage.full.phase, stage.empty.phase, stage.phase) == (6, 6, 6)


def out_of_turn() -> list[tuple[str, list[object]]]:
    """Steps, the last of which is wrong, by what is said of it."""

    def acquire(phase: int = 0, agent: str = "p") -> object:
        return lambda s: s.acquire(agent, phase)

    def commit(agent: str = "p") -> object:
        return lambda s: s.commit(agent)

    def wait(phase: int = 0, consumer: int = 0, agent: str = "c") -> object:
        return lambda s: s.wait(agent, consumer, phase)

    def release(phase: int = 0, consumer: int = 0, agent: str = "c") -> object:
        return lambda s: s.release(agent, consumer, phase)

    filled = [lambda s: fill(s, 0)]
    drained = [*filled, lambda s: drain(s, 0)]
    two = [*drained, lambda s: fill(s, 1), lambda s: drain(s, 1)]
    return [
        ("q acquires stage 1 of %p, which p is filling", [acquire(), acquire(agent="q")]),
        ("p acquires stage 1 of %p, which .* not .*released", [*filled, acquire()]),
        ("p waits for phase 0 of empty.* parity 0 is satisfied by phase 1", [*two, acquire(1)]),
        ("satisfied by phase -1, two back: it has not completed", [acquire(2)]),
        ("p commits stage 1 of %p twice, or without acquiring it", [commit()]),
        ("p commits stage 1 of %p twice", [acquire(), commit(), commit()]),
        ("q commits stage 1 of %p twice, or without", [acquire(), commit("q")]),
        ("c waits for phase 0 of full.* satisfied by phase -1, two back", [wait()]),
        ("satisfied by phase 1, a later one", [*two, wait(0)]),
        ("c waits twice for phase 0 of stage 1 of %p as consumer 0", [*filled, wait(), wait()]),
        ("d, like c, waits twice for phase 0", [*filled, wait(), wait(agent="d")]),
        ("c releases stage 1 of %p, for which it did not wait", [*filled, release()]),
        ("c releases stage 1 of %p twice", [*filled, wait(), release(), release()]),
        ("c releases stage 1 of %p twice", [*drained, release()]),
        (
            "d releases stage 1 of %p, for which it did not wait",
            [*filled, wait(), release(agent="d")],
        ),
    ]


@pytest.mark.parametrize(("message", "steps"), out_of_turn())
def test_steps_out_of_turn(message: str, steps: list) -> None:
    stage = slot()
    for step in steps[:-1]:
        step(stage)
    with pytest.raises(ProtocolError, match=message):
        steps[-1](stage)


def test_errors_tell_the_last_events_of_a_barrier() -> None:
    stage = slot()
    fill(stage, 0)
    with pytest.raises(ProtocolError) as caught:
        stage.commit("p")
    assert str(caught.value).endswith("(phase 0)")
    assert "phase 0 (parity 0) completed" in "\n".join(caught.value.trace)


def test_bytes_are_counted() -> None:
    stage = slot()
    stage.acquire("p", 0)
    stage.announce("p", 96, 5)
    stage.issued = 64
    with pytest.raises(ProtocolError, match=r"p announces 96 bytes on full\[1\], .* deliver 64"):
        stage.commit("p")
    stage.issued = 96
    stage.commit("p")
    stage.full.arrive()
    stage.deliver(32, 0, actor("TMA"), 6)
    assert stage.full.phase == 0
    with pytest.raises(ProtocolError, match="delivers 16 bytes more than were announced"):
        stage.deliver(80, 0, actor("TMA"), 7)
    stage = slot()
    fill(stage, 0)
    with pytest.raises(ProtocolError, match="whose phase 0 has completed without them"):
        stage.deliver(8, 0, actor("TMA"), 7)
    with pytest.raises(BarrierError):
        MBarrier("b", 0)


def test_who_may_touch_a_stage() -> None:
    """In each state: the producer, its engine, a consumer before and after, anybody else."""
    stage = slot(2)

    def refused(name: str, message: str, *, writes: bool, holder: str = "") -> None:
        with pytest.raises(ProtocolError, match=message):
            stage.check(actor(name, holder), writes=writes)

    for name in ("p", "c", "x"):
        stage.check(actor(name), writes=True)
    stage.acquire("p", 0)
    stage.check(actor("p"), writes=True)
    stage.check(actor("TMA 0", "p"), writes=True)
    refused("x", "x overwrites stage 1 of %p before it was committed", writes=True)
    refused("c", "c reads stage 1 of %p before it was committed", writes=False)
    stage.commit("p")
    stage.check(actor("TMA 0", "p"), writes=True)
    refused("p", "p overwrites stage 1 of %p after it was committed", writes=True)
    refused("c", "before it was committed", writes=False)
    stage.full.arrive()
    refused("TMA 0", "after it was committed", writes=True, holder="p")
    refused("c", "c reads stage 1 of %p without waiting for it", writes=False)
    refused("x", "x overwrites stage 1 of %p before it was released", writes=True)
    stage.wait("c", 0, 0)
    stage.check(actor("c"), writes=False)
    stage.check(actor("tensor core", "c"), writes=False)
    stage.release("c", 0, 0)
    refused("c", "c reads stage 1 of %p after releasing it", writes=False)
    stage.empty.arrive()
    stage.leave(0)
    assert stage.state is State.PUBLISHED
    drain(stage, 0, 1, "d")
    stage.check(actor("x"), writes=True)


def test_leases_end() -> None:
    stage = slot()
    stage.acquire("p", 0)
    filling = ProducerLease(stage, 0, "p")
    assert (filling.low, filling.high) == (64, 128)
    filling.check(actor("p"), writes=True)
    stage.commit("p")
    filling.check(actor("TMA", "p"), writes=True)
    with pytest.raises(ProtocolError, match="p writes stage 1 of %p after it was committed"):
        filling.check(actor("p"), writes=True)
    stage.full.arrive()
    with pytest.raises(ProtocolError, match="TMA writes stage 1 of %p after it was committed"):
        filling.check(actor("TMA", "p"), writes=True)
    stage.wait("c", 0, 0)
    reading = ConsumerLease(stage, 0, "c", 0)
    assert (reading.low, reading.high) == (64, 128)
    reading.check(actor("c"), writes=False)
    task = Task("a product", lambda _: None, 0, 1)
    stage.readers[0].tasks.append(task)
    stage.release("c", 0, 0)
    reading.check(actor("tensor core", "c"), writes=False)
    with pytest.raises(ProtocolError, match="c uses stage 1 of %p after c released it"):
        reading.check(actor("c"), writes=False)
    stage.leave(0)
    assert stage.state is State.PUBLISHED
    task.landed = True
    stage.leave(0)
    assert stage.state is State.FREE
    with pytest.raises(ProtocolError, match="tensor core overwrites stage 1 of %p after c"):
        reading.check(actor("tensor core", "c"), writes=True)
    fill_next = ProducerLease(stage, 1, "p")
    with pytest.raises(ProtocolError, match="after it was committed"):
        fill_next.check(actor("p"), writes=True)
