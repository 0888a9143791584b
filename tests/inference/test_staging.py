"""Stagings written out as loops, which the checker then looks at."""

from dataclasses import replace

from tests.inference.asked_programs import loaded
from tests.support.decided_programs import I, loop, owners, read, write
from tileas_xdsl.inference.checking import Rule, check
from tileas_xdsl.inference.decisions import Decisions, LoopDecision, Staging
from tileas_xdsl.inference.program import Loop, Program, Scope
from tileas_xdsl.inference.staging import spelled_out

ROTATED = (I + 3) % 32


def question(*, writes: bool = False) -> tuple[Program, Decisions]:
    """A fragment with a rotated read, or a read and a write, is staged through shared memory."""
    access = write("f", ROTATED) if writes else read("f", ROTATED)
    asked = loaded(32, (32,), loop(32, does=(access, write("O", I))), (32,))
    layout = owners(32, (32,), I, 0)
    decision = LoopDecision(layout)
    return asked, Decisions(
        {"f": layout}, {0: decision, 1: decision}, staged=(Staging(1, "f", 99),)
    )


def test_nothing_staged_changes_nothing() -> None:
    asked, decided = question()
    decided = replace(decided, staged=())
    assert spelled_out(asked, decided) == (asked, decided)


def test_a_read_comes_from_a_copy() -> None:
    asked, decided = spelled_out(*question())
    assert len(asked.operations) == 3
    copy, last = asked.operations[1:]
    assert isinstance(copy, Loop)
    assert isinstance(last, Loop)
    assert [access.buffer for access in copy.accesses] == ["f", "f staged for 1"]
    assert last.accesses[0].buffer == "f staged for 1"
    assert asked.buffers["f staged for 1"].scope is Scope.SHARED
    assert set(decided.loops) == {0, 1, 2}
    assert not decided.staged


def test_what_is_written_comes_back() -> None:
    asked, decided = spelled_out(*question(writes=True))
    last = asked.operations[-1]
    assert isinstance(last, Loop)
    assert [access.buffer for access in last.accesses] == ["f staged for 1", "f"]
    assert set(decided.loops) == {0, 1, 2, 3}


def test_the_checker_looks_through_stagings() -> None:
    for writes in (False, True):
        asked, decided = question(writes=writes)
        assert check(asked, decided) == ()
        without = replace(decided, staged=())
        rules = {finding.rule for finding in check(asked, without)}
        assert rules == {Rule.WRITE if writes else Rule.READ}
