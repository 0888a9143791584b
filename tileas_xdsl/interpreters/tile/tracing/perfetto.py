"""A trace as JSON that ui.perfetto.dev and chrome://tracing open.

A block is a process and a lane a thread; spans of a lane that overlap, like copies in flight, go to
threads of their own, since events of one thread have to nest.  A microsecond stands for a cycle.

Perfetto ignores `cname` and colours events by their names without digits (google/perfetto, issue
624), so that a stage has a letter in the name besides its number; chrome://tracing uses `cname`.
Format: Trace Event Format, and "Visualizing external trace formats" of Perfetto's documentation.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Final, TypeAlias

from tileas_xdsl.interpreters.tile.tracing.trace import Lane, Span, Trace

Event: TypeAlias = dict[str, object]

STAGE_COLOURS: Final = (
    "thread_state_running",
    "rail_response",
    "rail_animation",
    "thread_state_iowait",
    "cq_build_passed",
    "yellow",
    "olive",
    "rail_load",
)
"""Names of chrome://tracing's reserved colours, one a stage, then from the first again."""

WAIT_COLOUR: Final = "grey"
PLAIN_COLOUR: Final = "generic_work"

_LETTERS: Final = "abcdefghijklmnopqrstuvwxyz"


def perfetto_json(trace: Trace) -> str:
    """The trace as a JSON document, an event a line; equal traces give equal bytes."""
    processes = _numbers(lane.block for lane in trace.lanes)
    threads = _threads(trace, len(processes))
    events = [
        *_process_events(processes),
        *_thread_events(threads, processes),
        *(_complete(span, processes, thread) for thread, _, spans in threads for span in spans),
        *_flows(threads, processes),
    ]
    lines = ",\n".join(json.dumps(event) for event in events)
    return f'{{"displayTimeUnit": "ns",\n"otherData": {_ABOUT},\n"traceEvents": [\n{lines}\n]}}\n'


_ABOUT: Final = json.dumps({"unit of time": "1 microsecond stands for 1 virtual cycle"})

_Thread: TypeAlias = tuple[int, str, Sequence[Span]]
"""Number, name and spans."""


def _numbers(names: Iterable[str]) -> Mapping[str, int]:
    """From 1 on, in order of first use: process 0 is the idle process to Perfetto."""
    return {name: k for k, name in enumerate(dict.fromkeys(names), 1)}


def _threads(trace: Trace, processes: int) -> Sequence[_Thread]:
    """The threads by block; their numbers are no process's, which would be its main thread."""
    rows = trace.rows()
    blocks = list(dict.fromkeys(lane.block for lane in rows))
    lanes = sorted(rows, key=lambda lane: blocks.index(lane.block))
    named = [(_name(lane, k), row) for lane in lanes for k, row in enumerate(rows[lane], 1)]
    return [(index, name, row) for index, (name, row) in enumerate(named, processes + 1)]


def _name(lane: Lane, row: int) -> str:
    return lane.name if row == 1 else f"{lane.name} ({row})"


def _process_events(processes: Mapping[str, int]) -> Iterator[Event]:
    for block, number in processes.items():
        yield _metadata("process_name", number, 0, {"name": block})
        yield _metadata("process_sort_index", number, 0, {"sort_index": number})


def _thread_events(threads: Sequence[_Thread], processes: Mapping[str, int]) -> Iterator[Event]:
    for number, name, spans in threads:
        process = processes[spans[0].lane.block]
        yield _metadata("thread_name", process, number, {"name": name})
        yield _metadata("thread_sort_index", process, number, {"sort_index": number})


def _metadata(name: str, process: int, thread: int, args: Mapping[str, object]) -> Event:
    return {"ph": "M", "name": name, "pid": process, "tid": thread, "args": dict(args)}


def _complete(span: Span, processes: Mapping[str, int], thread: int) -> Event:
    stage = {} if span.stage is None else {span.counted: span.stage}
    return {
        "ph": "X",
        "name": event_name(span),
        "cat": span.kind if span.stage is None else f"{span.kind},{span.counted} {span.stage}",
        "ts": span.start,
        "dur": span.cycles,
        "pid": processes[span.lane.block],
        "tid": thread,
        "cname": _colour(span),
        "args": {**stage, **span.detail},
    }


def event_name(span: Span) -> str:
    """What the event is called: a wait by what it waits for, others with their stage."""
    if span.kind == "wait":
        return f"wait: {span.awaited}"
    if span.stage is None:
        return span.name
    return f"{span.name}, {span.counted} {span.stage} ({_LETTERS[span.stage % len(_LETTERS)]})"


def _colour(span: Span) -> str:
    if span.kind == "wait":
        return WAIT_COLOUR
    if span.stage is None:
        return PLAIN_COLOUR
    return STAGE_COLOURS[span.stage % len(STAGE_COLOURS)]


def _flows(threads: Sequence[_Thread], processes: Mapping[str, int]) -> Iterator[Event]:
    """Arrows through the spans of a block that share a `flow`, in the order of their starts."""
    chains: dict[tuple[str, str], list[tuple[Span, int]]] = {}
    for thread, _, spans in threads:
        for span in spans:
            if "flow" in span.detail:
                key = span.lane.block, span.detail["flow"]
                chains.setdefault(key, []).append((span, thread))
    for index, chain in enumerate((c for c in chains.values() if len(c) > 1), 1):
        chain.sort(key=lambda link: link[0].start)
        phases = ["s", *"t" * (len(chain) - 2), "f"]
        for phase, (span, thread) in zip(phases, chain, strict=True):
            end = {"bp": "e"} if phase == "f" else {}
            yield {
                "ph": phase,
                "name": "flow",
                "cat": "flow",
                "id": index,
                "ts": span.start,
                "pid": processes[span.lane.block],
                "tid": thread,
                **end,
            }
