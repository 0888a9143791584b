"""What all pictures share: the SVG document, its texts, the colours of stages, round numbers."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import Final

STAGE_COLOURS: Final = (
    "#77aadd",
    "#ee8866",
    "#99cc66",
    "#ffaabb",
    "#eedd88",
    "#44bb99",
    "#bb99dd",
    "#99ddff",
)
"""One a stage, then from the first again; after Paul Tol's light scheme, for black labels."""

GREY: Final = 'fill="#555"'
MIDDLE: Final = 'text-anchor="middle"'
TITLE: Final = 'font-size="14" font-weight="bold"'

_CHARACTER: Final = 6.7
"""Width of a character at font size 11, rounded up."""


def document(width: float, height: float, parts: Iterable[str]) -> str:
    """A self-contained picture on white, no wider than the page that it is on."""
    head = (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:g}" height="{height:g}" '
        f'viewBox="0 0 {width:g} {height:g}" font-family="monospace" font-size="11" '
        'style="max-width:100%;height:auto">'
    )
    paper = f'<rect width="{width:g}" height="{height:g}" fill="white"/>'
    return "\n".join([head, paper, *parts, "</svg>"]) + "\n"


def text(x: float, y: float, words: str, attributes: str = "") -> str:
    """A text whose baseline begins at a point, or is centred on it with `MIDDLE`."""
    space = " " if attributes else ""
    return f'<text x="{x:g}" y="{y:g}"{space}{attributes}>{escape(words)}</text>'


def pixels(words: str) -> int:
    """The width of a text of font size 11."""
    return int(len(words) * _CHARACTER) + 1


def stage_colour(stage: int) -> str:
    """The colour of a stage or an iteration."""
    return STAGE_COLOURS[stage % len(STAGE_COLOURS)]


def ticks(end: int, most: int) -> Sequence[int]:
    """At most about `most` round numbers from 0 to `end`: steps of 1, 2 or 5 tens."""
    step = 1
    while end // step > most:
        step = step * 5 // 2 if str(step).startswith("2") else step * 2
    return range(0, end + 1, step)
