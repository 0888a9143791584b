"""Traces as JSON: each span is one event, events of a thread nest, arrows lie in spans."""

import json
from collections import Counter, defaultdict
from copy import deepcopy
from typing import Any

from hypothesis import given

from tests.interpreters.tile.tracing.traces import pipeline_trace, traces
from tileas_xdsl.interpreters.tile.tracing.perfetto import perfetto_json
from tileas_xdsl.interpreters.tile.tracing.trace import Lane, Span, Trace

Event = dict[str, Any]

FIELDS = {
    "M": {"name": str, "pid": int, "tid": int, "args": dict},
    "X": {
        "name": str, "cat": str, "ts": int, "dur": int, "pid": int, "tid": int, "cname": str,
        "args": dict,
    },
    "s": {"name": str, "cat": str, "id": int, "ts": int, "pid": int, "tid": int},
    "t": {"name": str, "cat": str, "id": int, "ts": int, "pid": int, "tid": int},
    "f": {"name": str, "cat": str, "id": int, "ts": int, "pid": int, "tid": int, "bp": str},
}  # fmt: skip
"""What the Trace Event Format asks of events by phase, and nothing else."""


def events_of(trace: Trace, *phases: str) -> list[Event]:
    document = json.loads(perfetto_json(trace))
    assert set(document) == {"displayTimeUnit", "otherData", "traceEvents"}
    return [event for event in document["traceEvents"] if event["ph"] in (phases or FIELDS)]


def test_the_empty_trace_is_a_document() -> None:
    assert events_of(Trace()) == []


@given(traces())
def test_events_have_the_fields_of_their_phase(trace: Trace) -> None:
    document = json.loads(perfetto_json(trace))
    for event in document["traceEvents"]:
        expected = {"ph": str, **FIELDS[event["ph"]]}
        assert {key: type(value) for key, value in event.items()} == expected


@given(traces())
def test_every_span_is_an_event_in_its_block_and_lane(trace: Trace) -> None:
    process = {e["pid"]: e["args"]["name"] for e in events_of(trace) if e["name"] == "process_name"}
    thread = {e["tid"]: e["args"]["name"] for e in events_of(trace) if e["name"] == "thread_name"}
    assert set(process.values()) == {lane.block for lane in trace.lanes}
    assert len(set(process.values())) == len(process)
    assert not set(process) & set(thread), "a thread of a process's number is its main thread"
    found = Counter(
        (
            process[e["pid"]],
            thread[e["tid"]].split(" (")[0],
            e["ts"],
            e["dur"],
            e["cat"].split(",")[0],
        )
        for e in events_of(trace, "X")
    )
    assert found == Counter(
        (s.lane.block, s.lane.name, s.start, s.cycles, s.kind) for s in trace.spans
    )


@given(traces())
def test_events_of_a_thread_nest(trace: Trace) -> None:
    by_thread = defaultdict[int, list[tuple[int, int]]](list)
    for event in events_of(trace, "X"):
        by_thread[event["tid"]].append((event["ts"], event["ts"] + event["dur"]))
    for spans in by_thread.values():
        for i, (start, end) in enumerate(spans):
            for other, other_end in spans[i + 1 :]:
                apart = end <= other or other_end <= start
                inside = (start <= other and other_end <= end) or (
                    other <= start and end <= other_end
                )
                assert apart or inside


def test_lanes_of_a_block_stay_together_and_have_names() -> None:
    trace = pipeline_trace(blocks=2, rounds=3, depth=2)
    names = [
        (e["pid"], e["tid"], e["args"]["name"])
        for e in events_of(trace, "M")
        if e["name"] == "thread_name"
    ]
    own = ["agent 0", "TMA", "TMA (2)", "agent 1", "tensor core of agent 1"]
    assert names == [(1 + k // 5, 3 + k, own[k % 5]) for k in range(10)]
    order = {e["tid"]: e["args"]["sort_index"] for e in events_of(trace) if "sort" in e["name"]}
    assert sorted(order, key=order.__getitem__) == sorted(order)


def test_waits_say_what_they_wait_for_and_stages_have_a_colour() -> None:
    events = events_of(pipeline_trace(rounds=4, depth=2), "X")
    waits = [e for e in events if e["cat"].startswith("wait")]
    assert [e["name"] for e in waits[:2]] == ["wait: empty[0] phase 0", "wait: empty[1] phase 0"]
    assert {e["cname"] for e in waits} == {"grey"}
    copies = {e["name"]: e["cname"] for e in events if e["cat"].startswith("copy")}
    assert set(copies) == {"load A, stage 0 (a)", "load A, stage 1 (b)"}
    assert len(set(copies.values())) == 2
    assert all(e["args"]["bytes"] == "16384" for e in events if e["cat"].startswith("copy"))


@given(traces())
def test_arrows_begin_and_end_in_spans_that_share_a_flow(trace: Trace) -> None:
    spans = events_of(trace, "X")
    arrows = defaultdict[int, list[Event]](list)
    for event in events_of(trace, "s", "t", "f"):
        arrows[event["id"]].append(event)
    for chain in arrows.values():
        assert [e["ph"] for e in chain] == ["s", *"t" * (len(chain) - 2), "f"]
        assert [e["ts"] for e in chain] == sorted(e["ts"] for e in chain)
        assert len({e["pid"] for e in chain}) == 1
        at = [
            {s["args"].get("flow") for s in spans if s["tid"] == e["tid"] and s["ts"] == e["ts"]}
            for e in chain
        ]
        assert set.intersection(*at) - {None}
    flows = Counter((s.lane.block, s.detail["flow"]) for s in trace.spans if "flow" in s.detail)
    assert sorted(len(c) for c in arrows.values()) == sorted(n for n in flows.values() if n > 1)


@given(traces())
def test_equal_traces_give_equal_bytes(trace: Trace) -> None:
    assert perfetto_json(deepcopy(trace)) == perfetto_json(trace)


def test_waits_for_another_block_name_it() -> None:
    lane = Lane("block (0, 0, 0)", "agent 1")
    awaited = "stage 0 of {} %p0 to be filled"
    spans = [
        Span(lane, "wait", k, k + 1, "wait", 0, {"for": awaited.format(block)})
        for k, block in enumerate(("block (0, 0, 0)", "block (1, 0, 0)"))
    ]
    assert [e["name"] for e in events_of(Trace(spans), "X")] == [
        "wait: stage 0 of %p0 to be filled",
        "wait: stage 0 of block (1, 0, 0) %p0 to be filled",
    ]


def test_text_is_quoted() -> None:
    name = 'a "quoted" \\ name\n'
    trace = Trace([Span(Lane("b", name), name, 0, 1, "work", None, {"op": name})])
    (event,) = events_of(trace, "X")
    assert (event["name"], event["args"]) == (name, {"op": name})
