"""Parallel copies as sequences of moves, against assignment all at once."""

from hypothesis import given
from hypothesis import strategies as st

from tileas_xdsl.backend.ptx.printer_copies import sequential_moves

NAMES = [f"%r{index}" for index in range(8)]


def run(moves, state):
    for to, source in moves:
        state[to] = state.get(source, source)
    return state


@given(
    st.lists(st.sampled_from(NAMES), unique=True).flatmap(
        lambda targets: st.tuples(
            st.just(targets),
            st.lists(
                st.sampled_from([*NAMES, "0", "7"]), min_size=len(targets), max_size=len(targets)
            ),
        )
    )
)
def test_moves_do_what_copies_at_once_do(case):
    targets, sources = case
    start = {name: f"value of {name}" for name in NAMES}
    fresh = iter(f"%t{index}" for index in range(8))
    moves = sequential_moves(zip(targets, sources, strict=True), lambda: next(fresh))
    end = run(moves, dict(start))
    wanted = {**start, **{t: start.get(s, s) for t, s in zip(targets, sources, strict=True)}}
    assert {name: end[name] for name in NAMES} == wanted


def test_nothing_is_moved_in_vain():
    assert sequential_moves([("a", "a"), ("b", "c")], str) == [("b", "c")]


def test_a_cycle_takes_one_move_more():
    moves = sequential_moves([("a", "b"), ("b", "c"), ("c", "a")], lambda: "t")
    assert len(moves) == 4
    assert run(moves, {"a": 1, "b": 2, "c": 3}) == {"a": 2, "b": 3, "c": 1, "t": moves and 1}


def test_chains_need_no_temporary():
    def fail():
        raise AssertionError

    assert sequential_moves([("a", "b"), ("b", "c"), ("d", "b")], fail)[-1] == ("b", "c")
