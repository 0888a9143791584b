"""A trace as a picture for a page: a row per lane, stages or iterations by colour, waits hatched.

What has no room for a label has one as a tooltip.  Long traces are cut, and the picture says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from html import escape
from math import inf
from typing import Final, TypeAlias

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.tile.tracing.trace import Lane, Span, Trace
from tileas_xdsl.layout.output.svg import (
    GREY,
    MIDDLE,
    STAGE_COLOURS,
    TITLE,
    document,
    pixels,
    stage_colour,
    text,
    ticks,
)

MAX_ROWS: Final = 40
MAX_SPANS: Final = 3000
"""What is drawn at most: whole blocks as long as their rows fit, then as many cycles as fit."""

PLAIN_COLOUR: Final = "#dddddd"
WAIT_FILL: Final = "url(#wait)"

_MARGIN, _TOP, _HEADING, _ROW, _GAP, _AXIS, _LEGEND = 12, 50, 20, 20, 4, 22, 22
_HATCH: Final = (
    '<defs><pattern id="wait" width="6" height="6" patternUnits="userSpaceOnUse" '
    'patternTransform="rotate(45)"><rect width="6" height="6" fill="#f6f6f6"/>'
    '<rect width="2" height="6" fill="#cccccc"/></pattern></defs>'
)

_Rows: TypeAlias = Mapping[Lane, Sequence[Sequence[Span]]]


@dataclass(frozen=True, slots=True)
class _Frame:
    """Where the cycles 0 to `end` lie, in pixels."""

    left: int
    width: int
    end: int

    @property
    def right(self) -> int:
        return self.left + self.width

    def x(self, cycle: int) -> float:
        return round(self.left + cycle * self.width / max(1, self.end), 2)


def draw_timeline(trace: Trace, width: int = 1200) -> str:
    """The trace as a self-contained SVG document of `width` pixels, or as many as labels need."""
    rows, notes = _selected_rows(trace)
    spans = [span for lane in rows.values() for row in lane for span in row]
    labels = [_label(lane, k) for lane in rows for k in range(len(rows[lane]))]
    left = _MARGIN + pixels(max(labels, key=len, default="")) + 8
    subtitle = "; ".join(["time in cycles", *notes])
    needed = max(pixels(subtitle) + 2 * _MARGIN, left + 300 + _MARGIN)
    total = max(width, needed)
    frame = _Frame(left, total - left - 2 * _MARGIN, max((span.end for span in spans), default=0))
    body, bottom = _body(rows, frame)
    legend, height = _legend(spans, bottom + _AXIS, total)
    parts = [
        _HATCH,
        text(_MARGIN, 20, f"{trace.end} cycles", TITLE),
        text(_MARGIN, 38, subtitle, GREY),
        *_axis(frame, bottom),
        *body,
        *legend,
    ]
    return document(total, height, parts)


# What is shown


def _selected_rows(trace: Trace) -> tuple[_Rows, list[str]]:
    """Return the rows to draw, block by block, and notes about what is left out."""
    rows = trace.rows()
    blocks = list(dict.fromkeys(lane.block for lane in rows))
    notes: list[str] = []
    shown = _first_blocks(rows, blocks)
    if len(shown) < len(blocks):
        notes.append(f"the first {len(shown)} of {len(blocks)} blocks")
    lanes = [lane for block in shown for lane in rows if lane.block == block]
    rows = {lane: rows[lane] for lane in sorted(lanes, key=lambda one: _rank(one, shown))}
    starts = sorted(span.start for lane in rows.values() for row in lane for span in row)
    if len(starts) > MAX_SPANS:
        end = max(1, starts[MAX_SPANS])
        notes.append(f"the first {end} of {trace.end} cycles")
        rows = {lane: [_until(row, end) for row in lane_rows] for lane, lane_rows in rows.items()}
    return rows, notes


def _rank(lane: Lane, blocks: Sequence[str]) -> tuple[int, float]:
    """By block, agents in the order of their numbers, and then what works for them."""
    number = lane.name.removeprefix("agent ")
    return blocks.index(lane.block), int(number) if number.isdecimal() else inf


def _first_blocks(rows: _Rows, blocks: Sequence[str]) -> Sequence[str]:
    """Return as many blocks as fit `MAX_ROWS`, at least one."""
    count = 0
    for k, block in enumerate(blocks):
        count += sum(len(rows[lane]) for lane in rows if lane.block == block)
        if k and count > MAX_ROWS:
            return blocks[:k]
    return blocks


def _until(row: Sequence[Span], end: int) -> Sequence[Span]:
    return [replace(span, end=min(span.end, end)) for span in row if span.start < end]


# The rows


def _body(rows: _Rows, frame: _Frame) -> tuple[list[str], int]:
    """The rows from the top on, a heading over each block; and where they end."""
    parts: list[str] = []
    y, block = _TOP, None
    for lane, lane_rows in rows.items():
        if lane.block != block:
            block = lane.block
            style = 'font-weight="bold" stroke="white" stroke-width="4" paint-order="stroke"'
            parts.append(text(_MARGIN, y + _HEADING - 6, block, style))
            y += _HEADING
        for k, row in enumerate(lane_rows):
            parts.append(text(frame.left - 8, y + 14, _label(lane, k), 'text-anchor="end"'))
            parts.extend(part for span in row for part in _box(span, frame, y))
            y += _ROW
        y += _GAP
    return parts, y


def _label(lane: Lane, row: int) -> str:
    return lane.name if row == 0 else f"({row + 1})"


def _box(span: Span, frame: _Frame, y: int) -> Iterator[str]:
    """The box of a span with its tooltip, and a label if one fits."""
    x, end = frame.x(span.start), frame.x(span.end)
    box_width = max(round(end - x, 2), 0.5)
    x = min(x, frame.right - box_width)
    yield (
        f'<rect x="{x:g}" y="{y}" width="{box_width:g}" height="{_ROW - 2}" fill="{_fill(span)}" '
        f'stroke="#666" stroke-width="0.4"><title>{escape(_tooltip(span))}</title></rect>'
    )
    label = next((one for one in _labels(span) if one and pixels(one) + 4 <= box_width), None)
    if label:
        yield text(x + box_width / 2, y + 13, label, f'{MIDDLE} pointer-events="none"')


def _fill(span: Span) -> str:
    if span.kind == "wait":
        return WAIT_FILL
    return PLAIN_COLOUR if span.stage is None else stage_colour(span.stage)


def _labels(span: Span) -> Sequence[str]:
    """Labels that say it, the longest first; what a wait adds in brackets is its barrier."""
    if span.kind == "wait":
        what, _, barrier = span.awaited.partition(" (")
        barrier = barrier.rstrip(")").split(",")[0]
        short = barrier.split(" of ")[0]
        return (f"waits for {span.awaited}", span.awaited, what, barrier, short)
    if span.stage is None:
        return (span.name,)
    short = str(span.stage) if span.counted == "stage" else span.name.rpartition(" ")[2]
    return (f"{span.name}, {span.counted} {span.stage}", span.name, short)


def _tooltip(span: Span) -> str:
    lines = [_labels(span)[0], f"{span.start} to {span.end}, {span.cycles} cycles"]
    return "\n".join([*lines, *(f"{key}: {value}" for key, value in span.detail.items())])


# Around the rows


def _axis(frame: _Frame, bottom: int) -> Iterator[str]:
    """Lines at round cycles, numbered below the rows."""
    for cycle in ticks(frame.end, frame.width // 90):
        x = frame.x(cycle)
        yield f'<path d="M{x:g} {_TOP}V{bottom}" stroke="#e4e4e4"/>'
        yield text(x, bottom + 14, str(cycle), f"{MIDDLE} {GREY}")


def _legend(spans: Sequence[Span], top: int, width: int) -> tuple[list[str], int]:
    """What the colours mean, and where the picture ends."""
    parts: list[str] = []
    x, y = _MARGIN, top
    for fill, meaning in _meanings(spans):
        needed = 19 + pixels(meaning) + 16
        if x + needed > width:
            x, y = _MARGIN, y + _LEGEND
        parts.append(f'<rect x="{x}" y="{y}" width="14" height="14" fill="{fill}" stroke="#666"/>')
        parts.append(text(x + 19, y + 11, meaning))
        x += needed
    return parts, y + _LEGEND + _MARGIN


def _meanings(spans: Sequence[Span]) -> Iterator[tuple[str, str]]:
    """Fills and what they stand for; stages that share a colour share an entry."""
    stages = sorted({span.stage for span in spans if span.stage is not None and _fill(span)})
    counted = next((span.counted for span in spans if span.stage is not None), "stage")
    for k, colour in enumerate(STAGE_COLOURS):
        same = [str(stage) for stage in stages if stage % len(STAGE_COLOURS) == k]
        if same:
            yield colour, f"{counted}{'s' * (len(same) > 1)} {', '.join(same)}"
    fills = {_fill(span) for span in spans}
    if PLAIN_COLOUR in fills:
        yield PLAIN_COLOUR, "no stage"
    if WAIT_FILL in fills:
        yield WAIT_FILL, "waits"
