"""What a run did and when: spans of virtual cycles on the lanes of blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from typing import Final

from tileas_xdsl.data_classes import dataclass

KINDS: Final = ("work", "wait", "copy", "dot")
"""Arithmetic and control of an agent, waiting, a copy in flight, a product of a tensor core."""


@dataclass(frozen=True, slots=True)
class Lane:
    """Where something happens: an agent or an engine of a block."""

    block: str
    """`block (0, 0, 0)`."""
    name: str
    """`agent 1`, `TMA`, `stores`, `tensor core of agent 1`."""


@dataclass(frozen=True, slots=True)
class Span:
    """Something that lasts from `start` to `end`, both in virtual cycles."""

    lane: Lane
    name: str
    start: int
    end: int
    kind: str
    """One of `KINDS`."""
    stage: int | None = None
    """The stage of a pipeline that it works on."""
    detail: Mapping[str, str] = field(default_factory=dict[str, str])
    """`op`, `location`; `for`: what a wait waits for; `bytes` of a copy; `flow`: an id that the
    span that issues a copy and the copy share, within a block."""
    counted: str = "stage"
    """What `stage` is the number of: `stage`, or `iteration` of a loop."""

    def __post_init__(self) -> None:
        """Refuse what no picture could show."""
        if self.kind not in KINDS:
            raise ValueError(f"a span is one of {', '.join(KINDS)}, not {self.kind!r}")
        if self.end < self.start:
            raise ValueError(f"a span cannot end at {self.end}, before its start at {self.start}")

    @property
    def cycles(self) -> int:
        """How long it lasts."""
        return self.end - self.start

    @property
    def awaited(self) -> str:
        """What a wait waits for; that it is of the same block needs no words."""
        return self.detail.get("for", self.name).replace(f"{self.lane.block} ", "")


@dataclass
class Trace:
    """The spans of a run, in the order in which they were recorded."""

    spans: list[Span] = field(default_factory=list[Span])

    def add(self, span: Span) -> None:
        """Record one more."""
        self.spans.append(span)

    @property
    def lanes(self) -> Sequence[Lane]:
        """The lanes in order of first use."""
        return tuple(dict.fromkeys(span.lane for span in self.spans))

    @property
    def end(self) -> int:
        """The cycle at which the last span ends; 0 of an empty trace."""
        return max((span.end for span in self.spans), default=0)

    def rows(self) -> Mapping[Lane, Sequence[Sequence[Span]]]:
        """By lane its spans in rows; those of one row do not overlap."""
        found = {lane: list[Span]() for lane in self.lanes}
        for span in self.spans:
            found[span.lane].append(span)
        return {lane: apart(spans) for lane, spans in found.items()}


def apart(spans: Iterable[Span]) -> Sequence[Sequence[Span]]:
    """The fewest rows in which spans do not overlap; each goes to the first that is free."""
    rows: list[list[Span]] = []
    for span in sorted(spans, key=lambda span: (span.start, span.end)):
        free = next((row for row in rows if row[-1].end <= span.start), None)
        if free is None:
            rows.append([span])
        else:
            free.append(span)
    return rows
