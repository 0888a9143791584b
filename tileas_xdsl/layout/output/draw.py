"""Pictures of layouts as SVG: a grid of elements coloured by bank, by thread or by offset.

The first mode that is longer than 1 goes down and the others go right.  Equal neighbours are drawn
as one box, so that the pattern of a swizzle shows at a glance.
"""

from __future__ import annotations

from collections.abc import Sequence
from colorsys import hls_to_rgb
from dataclasses import dataclass, replace
from html import escape
from itertools import pairwise
from textwrap import wrap

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.layout.composed import AnyLayout
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import product_each
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.layout.registers.register_layout import THREAD, VALUE, RegisterLayout
from tileas_xdsl.layout.tables import Table, table

MAX_ROWS, MAX_COLUMNS = 128, 256
"""Maximum rows and columns of a picture; larger layouts are cut, with a note."""

BANKS = 32
BANK_BYTES = 4
WARP = 32

_HUES = (214, 28, 145, 350, 265, 55, 190, 320)
"""Eight hues that most colour-blind readers can distinguish too (lightness varies)."""


@dataclass(frozen=True)
class Grid:
    """A picture before it is drawn: per cell a colour (index into `palette`) and a label."""

    title: str
    subtitle: str
    colours: NDArray[np.int64]
    labels: NDArray[np.str_]
    palette: Sequence[str]
    legend: Sequence[tuple[str, str]]


def grid_by_bank(memory: MemoryLayout, bits: int) -> Grid:
    """Cells coloured by the four banks (16 bytes) that hold them, labelled with the first bank."""
    addresses, cut = _cells(memory.layout, memory.addresses(bits))
    banks = addresses // BANK_BYTES % BANKS
    palette = [_colour(_HUES[bank // 4], 82 - 6 * (bank % 4)) for bank in range(BANKS)]
    chunks = addresses // 16 % (BANKS // 4)
    legend = [(_colour(hue, 74), f"banks {4 * k} to {4 * k + 3}") for k, hue in enumerate(_HUES)]
    return Grid(
        str(memory),
        f"{bits}-bit elements, coloured by shared-memory bank; "
        f"a number is the 16-byte column (bank / 4){cut}",
        banks,
        chunks.astype(np.str_),
        palette,
        legend,
    )


def grid_by_thread(fragment: RegisterLayout) -> Grid:
    """Cells coloured by warp and lane, labelled `T3 V0` (register 0 of thread 3) or just `3`."""
    threads, cut = _cells(fragment.layout, fragment.thread_table[0])
    values, _ = _cells(fragment.layout, fragment.value_table[0])
    note = f"; one of {fragment.replicas} replicas" if fragment.replicas > 1 else ""
    return grid_of_owners(str(fragment.layout), threads, values, fragment.threads, note + cut)


def grid_of_owners(
    title: str, threads: Table, values: Table, block: int, note: str = "", value: str = "V register"
) -> Grid:
    """Cells `(rows, columns)` coloured by thread, of `block` threads, labelled with their value.

    `value` is the letter of a label and what it counts.
    """
    warps = min(len(_HUES), -(-block // WARP))
    palette = [
        _colour(_HUES[warp], 92 - 4 * (lane // 4)) for warp in range(warps) for lane in range(WARP)
    ]
    legend = [(_colour(_HUES[warp], 72), f"warp {warp}") for warp in range(warps)]
    labels, meaning = threads.astype(np.str_), "a number is the thread"
    if threads.shape[1] <= 32:
        letter = value[0]
        registers = np.char.add(f" {letter}", values.astype(np.str_))
        labels = np.char.add(np.char.add("T", labels), registers)
        meaning = f"T thread, {value}"
    subtitle = f"coloured by warp, darker with the lane; {meaning}{note}"
    return Grid(title, subtitle, threads, labels, palette, legend)


def grid_by_offset(layout: AnyLayout) -> Grid:
    """Cells coloured from light to dark by offset, labelled with it; integer strides only."""
    offsets, cut = _cells(layout, table(layout))
    low, high = int(offsets.min()), int(offsets.max())
    shades = ((offsets - low) * 15 // max(1, high - low)).astype(np.int64)
    palette = [_colour(214, 94 - 3 * k) for k in range(16)]
    legend = [(palette[0], f"offset {low}"), (palette[15], f"offset {high}")]
    return Grid(
        str(layout), f"coloured by offset{cut}", shades, offsets.astype(np.str_), palette, legend
    )


def grid_of(layout: AnyLayout | MemoryLayout, bits: int | None) -> Grid:
    """The picture that fits: by bank in memory, by thread for fragments, else by offset."""
    if isinstance(layout, MemoryLayout):
        if bits is None:
            raise LayoutError(f"{layout} needs an element type to be drawn by bank")
        return grid_by_bank(layout, bits)
    axes = set(layout.axes())
    if isinstance(layout, Layout) and axes and axes <= {THREAD, VALUE}:
        threads = layout.extents().get(THREAD, 1)
        return grid_by_thread(RegisterLayout(layout, product_each(layout.shape), threads))
    if axes <= {""}:
        return grid_by_offset(layout)
    raise LayoutError(
        f"a picture shows offsets or the axes '{THREAD}' and '{VALUE}', "
        f"not {', '.join(repr(a) for a in layout.axes())}"
    )


def _cells(layout: AnyLayout, values: Table) -> tuple[Table, str]:
    """`values` as `(rows, columns)`, cut to what is drawn.

    The first mode that is longer than 1 goes down, those behind it go right; a row has one mode.
    """
    sizes = product_each(layout.shape)
    rows = next((size for size in sizes[:-1] if size > 1), 1)
    cells = values.reshape(-1, rows).T
    if cells.shape[0] <= MAX_ROWS and cells.shape[1] <= MAX_COLUMNS:
        return cells, ""
    shown = cells[:MAX_ROWS, :MAX_COLUMNS]
    note = f"; the first {shown.shape[0]}x{shown.shape[1]} of {cells.shape[0]}x{cells.shape[1]}"
    return shown, note


def _colour(hue: int, lightness: int) -> str:
    """A colour of medium saturation as `#rrggbb`; hue in degrees, lightness in percent."""
    channels = hls_to_rgb(hue / 360, lightness / 100, 0.65)
    return "#" + "".join(f"{round(255 * channel):02x}" for channel in channels)


# SVG

_MARGIN, _LEFT, _LEGEND, _MIN_WIDTH = 12, 34, 22, 560
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
    legend_rows = -(-len(grid.legend) // 4)
    total_height = top + rows * height + _MARGIN + _LEGEND * legend_rows + _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total_width}" height="{total_height}" '
        f'viewBox="0 0 {total_width} {total_height}" font-family="monospace" font-size="11" '
        'style="max-width:100%;height:auto">',
        f'<rect width="{total_width}" height="{total_height}" fill="white"/>',
        *texts,
        *_ticks(rows, columns, frame),
        *_boxes(grid, frame),
        *_legend(grid, top + rows * height + 2 * _MARGIN),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _texts(grid: Grid, width: int) -> tuple[list[str], int]:
    """The title and what is said below it, in lines of the width of the picture, and their end."""
    room = width - 2 * _MARGIN
    parts: list[str] = []
    y = 2
    for line in wrap(grid.title, int(room / _TITLE)):
        y += 18
        style = 'font-size="14" font-weight="bold"'
        parts.append(f'<text x="{_MARGIN}" y="{y}" {style}>{escape(line)}</text>')
    for text in grid.subtitle.splitlines():
        for line in wrap(text, int(room / _TEXT)):
            y += 16
            parts.append(f'<text x="{_MARGIN}" y="{y}" fill="#555">{escape(line)}</text>')
    return parts, y + 26


def _cell_size(grid: Grid) -> tuple[int, int]:
    """Width and height of a cell in pixels: wide enough for its label where few are shown."""
    longest = max(len(label) for label in grid.labels.ravel()[:64])
    columns = grid.colours.shape[1]
    if columns <= 32:
        return max(22, 7 * longest + 6), 22
    if columns <= 128:
        return max(14, 4 * longest + 2), 16
    return 7, 10


def _ticks(rows: int, columns: int, frame: _Frame) -> list[str]:
    step_down, step_right = max(1, rows // 16), max(1, columns // 16)
    down = [
        f'<text x="{_LEFT - 4}" y="{frame.baseline(r)}" text-anchor="end" '
        f'fill="#555" font-size="9">{r}</text>'
        for r in range(0, rows, step_down)
    ]
    right = [
        f'<text x="{_LEFT + c * frame.width + 2}" y="{frame.top - 4}" fill="#555" '
        f'font-size="9">{c}</text>'
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


def _labels(grid: Grid, frame: _Frame) -> list[str]:
    """A label for every run of equal labels that is wide enough for it."""
    size = min(11, frame.height - 5)
    parts: list[str] = []
    for r in range(grid.labels.shape[0]):
        row = grid.labels[r]
        for start, end in _runs(np.zeros(len(row), dtype=np.int64), row):
            label, span = str(row[start]), (end - start) * frame.width
            if len(label) * size * 0.62 > span:
                continue
            parts.append(
                f'<text x="{_LEFT + start * frame.width + span / 2:g}" '
                f'y="{frame.baseline(r)}" text-anchor="middle" '
                f'font-size="{size}">{escape(label)}</text>'
            )
    return parts


def _legend(grid: Grid, top: int) -> list[str]:
    parts: list[str] = []
    for k, (colour, text) in enumerate(grid.legend):
        x, y = _MARGIN + 135 * (k % 4), top + _LEGEND * (k // 4)
        parts.append(f'<rect x="{x}" y="{y}" width="14" height="14" fill="{colour}"/>')
        parts.append(f'<text x="{x + 19}" y="{y + 11}">{escape(text)}</text>')
    return parts


def draw_layout(
    layout: AnyLayout | MemoryLayout, bits: int | None = None, *, title: str | None = None
) -> str:
    """An SVG picture of a layout; `bits` is the width of an element for layouts in memory.

    A `title`, such as the name of a tensor and its line, goes above the layout's own text.
    """
    grid = grid_of(layout, bits)
    return render(grid if title is None else entitled(grid, title))


def entitled(grid: Grid, title: str) -> Grid:
    """Return a picture whose title says what it shows; the layout itself goes below it."""
    return replace(grid, title=title, subtitle=f"{grid.title}\n{grid.subtitle}")
