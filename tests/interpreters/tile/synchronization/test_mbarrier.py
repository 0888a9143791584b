"""The mbarrier against a model of its definition, on random histories; and its messages."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tileas_xdsl.interpreters.tile.synchronization.mbarrier import BarrierError, MBarrier
from tileas_xdsl.interpreters.tile.synchronization.vector_clocks import Clock, joined


def test_a_fresh_barrier_lets_producers_pass_and_consumers_wait() -> None:
    barrier = MBarrier("full[0]", 2)
    assert barrier.test_parity(1)
    assert not barrier.test_parity(0)


def test_a_phase_needs_arrivals_and_bytes() -> None:
    barrier = MBarrier("full[0]", 1)
    token = barrier.arrive_expect_tx(4096, "producer", 3)
    assert not barrier.test_parity(0)
    assert barrier.phase == token
    assert barrier.missing() == "4096 bytes"
    barrier.complete_tx(1024, "tma", 4)
    assert barrier.missing() == "3072 bytes"
    barrier.complete_tx(3072, "tma", 5)
    assert barrier.test_parity(0)
    assert barrier.phase > token
    assert (barrier.phase, barrier.pending, barrier.tx_count) == (1, 1, 0)
    events = [str(event) for event in barrier.events]
    assert events[0] == "at 3: producer expects 4096 bytes, 4096 outstanding"
    assert events[-1] == "at 5: phase 0 (parity 0) completed"
    assert all(event in "\n".join(barrier.event_trace()) for event in events)
    assert (barrier.completed_at, barrier.announced) == (5, 0)


def test_bytes_may_come_before_they_are_announced() -> None:
    barrier = MBarrier("full[0]", 1)
    barrier.complete_tx(64)
    assert barrier.missing() == (
        "1 of 1 arrivals and the announcement of 64 bytes that came already"
    )
    barrier.arrive_expect_tx(64)
    assert barrier.phase == 1


steps = st.lists(
    st.one_of(
        st.tuples(st.just("arrive"), st.integers(1, 3)),
        st.tuples(st.just("expect"), st.integers(0, 5)),
        st.tuples(st.just("complete"), st.integers(0, 5)),
    ),
    max_size=30,
)


@given(st.integers(1, 4), steps)
def test_any_history_follows_the_definition(expected: int, history) -> None:
    barrier = MBarrier("b", expected)
    phase, pending, outstanding = 0, expected, 0
    for what, count in history:
        if what == "arrive":
            if count > pending:
                with pytest.raises(BarrierError, match=f"waits for {pending} of {expected}"):
                    barrier.arrive(count, "x")
                continue
            barrier.arrive(count)
            pending -= count
        elif what == "expect":
            barrier.expect_tx(count)
            outstanding += count
        else:
            barrier.complete_tx(count)
            outstanding -= count
        if what != "expect" and pending == 0 and outstanding == 0:
            phase, pending = phase + 1, expected
        assert (barrier.phase, barrier.pending, barrier.tx_count) == (phase, pending, outstanding)
        assert barrier.test_parity(0) == (phase % 2 == 1)
        assert barrier.test_parity(1) == (phase % 2 == 0)


def test_a_phase_ends_with_the_last_of_those_who_made_it() -> None:
    """Whoever waits learns what all of them knew, and nothing of the phase in progress."""
    barrier = MBarrier("empty[0]", 2)
    a, b, engine, waiting = (Clock(name) for name in ("a", "b", "TMA", "w"))
    events = [clock.now() for clock in (a, b, engine)]
    barrier.arrive(1, "a", 9, a.snapshot())
    a.tick()
    barrier.complete_tx(8, "TMA", 4, engine.snapshot())
    barrier.expect_tx(8, "b", 5)
    barrier.arrive(1, "b", 7, b.snapshot())
    assert (barrier.phase, barrier.completed_at) == (1, 9)
    late = a.now()
    barrier.arrive(1, "a", 11, a.snapshot())
    waiting.join(barrier.released_clock)
    assert all(waiting.happens_after(event) for event in events)
    assert not waiting.happens_after(late)


def test_misuse_is_a_sentence() -> None:
    with pytest.raises(BarrierError, match="expects 0 arrivals"):
        MBarrier("b", 0)
    barrier = MBarrier("b", 1)
    with pytest.raises(BarrierError, match="0 or 1, not 2"):
        barrier.test_parity(2)
    with pytest.raises(BarrierError, match="announces -1 bytes"):
        barrier.expect_tx(-1, "p")
    with pytest.raises(BarrierError, match="transaction count of b to 1048576"):
        barrier.expect_tx(1 << 20, "p")
    with pytest.raises(BarrierError, match="arrives 0 times"):
        barrier.arrive(0, "p")


# Vector clocks


def test_a_hand_over_orders_what_came_before_it() -> None:
    a, b = Clock("a"), Clock("b")
    wrote = a.now()
    assert not b.happens_after(wrote)
    given = a.snapshot()
    a.tick()
    later = a.now()
    b.join(given)
    assert b.happens_after(wrote)
    assert not b.happens_after(later)
    assert a.happens_after(later)


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), max_size=20))
def test_order_is_reachability(hand_overs) -> None:
    """An event is seen exactly if hand-overs lead from it to the one who asks."""
    clocks = [Clock(str(k)) for k in range(4)]
    before: list[set[tuple[str, int]]] = [set() for _ in clocks]
    events = []
    for giver, taker in hand_overs:
        event = clocks[giver].now()
        events.append(event)
        before[giver].add(event)
        clocks[taker].join(clocks[giver].snapshot())
        before[taker] |= before[giver]
        clocks[giver].tick()
    for clock, seen in zip(clocks, before, strict=True):
        for event in events:
            assert clock.happens_after(event) == (event in seen or event[0] == clock.owner)


def test_joined_knowledge() -> None:
    assert joined([{"a": 1, "b": 5}, {"a": 3}, {}]) == {"a": 3, "b": 5}
