"""Pictures of layouts as SVG: the grid of `grids`, with a title, ticks and a legend."""

from __future__ import annotations

from itertools import pairwise
from math import ceil
from textwrap import wrap

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.composed import AnyLayout
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.layout.output.grids import Grid, entitled, grid_of
from tileas_xdsl.layout.output.svg import GREY, MIDDLE, TITLE, document, text

_MARGIN, _LEFT, _LEGEND, _MIN_WIDTH = 12, 34, 22, 560
_PAGE = 900
"""Pixels of cells that a page shows without making them smaller."""

_LABEL = 0.62
"""Width of a character of a label over its height."""

_TITLE, _TEXT = 8.5, 6.7
"""Widths of a character of the title, 14 pixels high and bold, and of other text, 11 high."""


@dataclass(frozen=True)
class _Frame:
    """Where cells are: below the texts, all of one width and height in pixels."""

    top: int
    width: int
    height: int

    def baseline(self, row: int) -> int:
        """Where the labels of a row stand."""
        return self.top + (row + 1) * self.height - 5


def render(grid: Grid) -> str:
    """The picture as a self-contained SVG document, no wider than the page that it is on."""
    rows, columns = grid.colours.shape
    width, height = _cell_size(grid)
    total_width = max(_LEFT + columns * width + _MARGIN, _MIN_WIDTH)
    texts, top = _texts(grid, total_width)
    frame = _Frame(top, width, height)
    legend_rows = ceil_div(len(grid.legend), 4)
    total_height = top + rows * height + _MARGIN + _LEGEND * legend_rows + _MARGIN
    parts = [
        *texts,
        *_ticks(rows, columns, frame),
        *_boxes(grid, frame),
        *_legend(grid, top + rows * height + 2 * _MARGIN),
    ]
    return document(total_width, total_height, parts)


def _texts(grid: Grid, width: int) -> tuple[list[str], int]:
    """The title and what is said below it, in lines of the width of the picture, and their end."""
    room = width - 2 * _MARGIN
    parts: list[str] = []
    y = 2
    for line in wrap(grid.title, int(room / _TITLE)):
        y += 18
        parts.append(text(_MARGIN, y, line, TITLE))
    for paragraph in grid.subtitle.splitlines():
        for line in wrap(paragraph, int(room / _TEXT)):
            y += 16
            parts.append(text(_MARGIN, y, line, GREY))
    return parts, y + 26


def _cell_size(grid: Grid) -> tuple[int, int]:
    """Width and height of a cell in pixels: wide enough for its label where few are shown.

    Neighbours that share a label share its width, where the picture would be wider than a page.
    """
    longest = max(len(label) for label in grid.labels.ravel()[:64])
    columns = grid.colours.shape[1]
    if columns > 128:
        return 7, 10
    if columns <= 32:
        width, height = max(22, 7 * longest + 6), 22
    else:
        width, height = max(14, 4 * longest + 2), 16
    shared = min(end - start for row in grid.labels[:64] for start, end in _label_runs(row))
    needed = ceil(longest * min(11, height - 5) * _LABEL / shared)
    return min(width, max(needed, _PAGE // columns)), height


def _ticks(rows: int, columns: int, frame: _Frame) -> list[str]:
    step_down, step_right = max(1, rows // 16), max(1, columns // 16)
    down = [
        text(_LEFT - 4, frame.baseline(r), str(r), f'text-anchor="end" {GREY} font-size="9"')
        for r in range(0, rows, step_down)
    ]
    right = [
        text(_LEFT + c * frame.width + 2, frame.top - 4, str(c), f'{GREY} font-size="9"')
        for c in range(0, columns, step_right)
    ]
    return down + right


def _boxes(grid: Grid, frame: _Frame) -> list[str]:
    parts: list[str] = []
    for r in range(grid.colours.shape[0]):
        y = frame.top + r * frame.height
        for start, end in _runs(grid.colours[r], grid.labels[r]):
            x, span = _LEFT + start * frame.width, (end - start) * frame.width
            colour = grid.palette[int(grid.colours[r, start]) % len(grid.palette)]
            parts.append(
                f'<rect x="{x}" y="{y}" width="{span}" height="{frame.height}" fill="{colour}" '
                f'stroke="white" stroke-width="0.6"/>'
            )
    parts.extend(_labels(grid, frame))
    return parts


def _runs(colours: NDArray[np.int64], labels: NDArray[np.str_]) -> list[tuple[int, int]]:
    """Where a row changes colour or label: `(start, end)` of each box."""
    changes = (colours[1:] != colours[:-1]) | (labels[1:] != labels[:-1])
    edges = [0, *(np.flatnonzero(changes) + 1).tolist(), len(colours)]
    return list(pairwise(edges))


def _label_runs(labels: NDArray[np.str_]) -> list[tuple[int, int]]:
    """Where a row changes its label alone."""
    return _runs(np.zeros(len(labels), dtype=np.int64), labels)


def _labels(grid: Grid, frame: _Frame) -> list[str]:
    """A label for every run of equal labels that is wide enough for it."""
    size = min(11, frame.height - 5)
    parts: list[str] = []
    for r in range(grid.labels.shape[0]):
        row = grid.labels[r]
        for start, end in _label_runs(row):
            label, span = str(row[start]), (end - start) * frame.width
            if len(label) * size * _LABEL > span:
                continue
            middle = _LEFT + start * frame.width + span / 2
            parts.append(text(middle, frame.baseline(r), label, f'{MIDDLE} font-size="{size}"'))
    return parts


def _legend(grid: Grid, top: int) -> list[str]:
    parts: list[str] = []
    for k, (colour, meaning) in enumerate(grid.legend):
        x, y = _MARGIN + 135 * (k % 4), top + _LEGEND * (k // 4)
        parts.append(f'<rect x="{x}" y="{y}" width="14" height="14" fill="{colour}"/>')
        parts.append(text(x + 19, y + 11, meaning))
    return parts


def draw_layout(
    layout: AnyLayout | MemoryLayout, bits: int | None = None, *, title: str | None = None
) -> str:
    """An SVG picture of a layout; `bits` is the width of an element for layouts in memory.

    A `title`, such as the name of a tensor and its line, goes above the layout's own text.
    """
    grid = grid_of(layout, bits)
    return render(grid if title is None else entitled(grid, title))
