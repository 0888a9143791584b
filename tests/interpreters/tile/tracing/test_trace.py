"""Traces: lanes in order, and rows in which no two spans overlap, as few as there can be."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.interpreters.tile.tracing.traces import LANES, spans, traces
from tileas_xdsl.interpreters.tile.tracing.trace import Span, Trace, apart


def test_lanes_are_in_order_of_first_use() -> None:
    trace = Trace()
    assert (trace.lanes, trace.end) == ((), 0)
    for lane, end in ((2, 5), (0, 9), (2, 7)):
        trace.add(Span(LANES[lane], "x", 1, end, "work"))
    assert trace.lanes == (LANES[2], LANES[0])
    assert trace.end == 9


def test_a_span_has_a_kind_and_does_not_end_before_it_starts() -> None:
    assert Span(LANES[0], "x", 3, 7, "dot").cycles == 4
    with pytest.raises(ValueError, match="work, wait, copy, dot, not 'sleep'"):
        Span(LANES[0], "x", 0, 1, "sleep")
    with pytest.raises(ValueError, match="cannot end at 4, before its start at 5"):
        Span(LANES[0], "x", 5, 4, "work")


@given(st.lists(spans(), max_size=30))
def test_spans_of_a_row_do_not_overlap_and_rows_are_few(found: list[Span]) -> None:
    rows = apart(found)
    assert sorted(map(id, found)) == sorted(id(span) for row in rows for span in row)
    for row in rows:
        assert all(a.end <= b.start for a, b in pairwise(row))
    most = max((sum(s.start <= t < s.end for s in found) for t in range(100)), default=0)
    assert len(rows) >= most
    if all(span.cycles for span in found):
        assert len(rows) == most


@given(traces())
def test_rows_keep_every_span_in_its_lane(trace: Trace) -> None:
    rows = trace.rows()
    assert tuple(rows) == trace.lanes
    for lane, lane_rows in rows.items():
        assert {span.lane for row in lane_rows for span in row} == {lane}
    assert sum(len(row) for found in rows.values() for row in found) == len(trace.spans)
