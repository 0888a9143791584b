"""Named barriers against a count of threads, on random histories; and their messages."""

from __future__ import annotations

import random

import pytest

from tileas_xdsl.interpreters.tile.faults import RuleBroken
from tileas_xdsl.interpreters.tile.synchronization.mbarrier import BarrierError
from tileas_xdsl.interpreters.tile.synchronization.named_barrier import BARRIERS, NamedBarrier
from tileas_xdsl.interpreters.tile.synchronization.vector_clocks import Clock


def test_random_rounds_end_when_all_threads_have_come() -> None:
    rng = random.Random(0)
    barrier = NamedBarrier(3)
    for round_ in range(200):
        shares = [32 * rng.randint(1, 4) for _ in range(rng.randint(1, 6))]
        total, come = sum(shares), 0
        for k, share in enumerate(shares):
            assert barrier.generation == round_
            assert not barrier.passed(round_)
            assert barrier.arrive(f"agent {k}", share, total, time=10 * round_ + k) == round_
            come += share
            if come < total:
                assert barrier.missing().startswith(f"{total - come} of {total} threads")
        assert barrier.passed(round_)
        assert barrier.completed_at == 10 * round_ + len(shares) - 1


def test_a_meeting_hands_on_what_all_knew() -> None:
    barrier = NamedBarrier(0)
    clocks = [Clock(name) for name in "abc"]
    events = [clock.now() for clock in clocks]
    for clock in clocks:
        barrier.arrive(clock.owner, 32, 96, 5, clock.snapshot())
        clock.tick()
    late = clocks[0].now()
    reader = Clock("reader")
    reader.join(barrier.released_clock)
    assert all(reader.happens_after(event) for event in events)
    assert not reader.happens_after(late)


def test_whoever_is_late_meets_in_the_next_round() -> None:
    barrier = NamedBarrier(1)
    assert barrier.arrive("a", 64, 64) == 0
    assert barrier.arrive("a", 64, 128) == 1
    assert barrier.missing() == "64 of 128 threads; here: a (64)"
    assert barrier.arrive("b", 64, 128) == 1
    assert barrier.generation == 2
    assert barrier.missing() == "0 of 0 threads; here: nobody"


@pytest.mark.parametrize(
    ("threads", "expected", "message"),
    [
        (31, 64, "whole warps meet on barrier 2: 31 threads are none"),
        (32, 100, "100 threads are none"),
        (0, 64, "0 threads are none"),
        (32, 128, "b meets 128 threads on barrier 2, others 96"),
        (96, 96, "b brings 128 threads to barrier 2, where 96 meet"),
    ],
)
def test_misuse_is_a_sentence(threads: int, expected: int, message: str) -> None:
    barrier = NamedBarrier(2)
    barrier.arrive("a", 32, 96)
    with pytest.raises(RuleBroken, match=message):
        barrier.arrive("b", threads, expected)
    assert barrier.arrived == 32


@pytest.mark.parametrize("number", [-1, BARRIERS])
def test_there_are_sixteen(number: int) -> None:
    with pytest.raises(BarrierError, match=f"numbers 0 to 15, not {number}"):
        NamedBarrier(number)
    assert NamedBarrier(15, "block 1 barrier 15").name == "block 1 barrier 15"
