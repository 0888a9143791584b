"""Pictures of layouts as SVG: a grid of elements coloured by bank, by thread or by offset.

Mode 0 goes down and the other modes go right.  Equal neighbours are drawn as one box, so that the
pattern of a swizzle shows at a glance.
"""

from __future__ import annotations

from collections.abc import Sequence
from colorsys import hls_to_rgb
from dataclasses import dataclass
from html import escape
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.layout.composed import AnyLayout
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import product_each, rank
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
    """`values` as `(rows, columns)`: mode 0 down, the rest right; cut to what is drawn."""
    sizes = product_each(layout.shape)
    rows = sizes[0] if rank(layout.shape) > 1 else 1
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

_MARGIN, _LEFT, _TOP, _LEGEND = 12, 34, 62, 22


def render(grid: Grid) -> str:
    """The picture as a self-contained SVG document."""
    rows, columns = grid.colours.shape
    width, height = _cell_size(grid)
    legend_rows = -(-len(grid.legend) // 4)
    text_width = 7 * max(len(grid.title) + 4, len(grid.subtitle))
    total_width = max(_LEFT + columns * width + _MARGIN, text_width, 560)
    total_height = _TOP + rows * height + _MARGIN + _LEGEND * legend_rows + _MARGIN
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total_width}" height="{total_height}" '
        f'viewBox="0 0 {total_width} {total_height}" font-family="monospace" font-size="11">',
        f'<rect width="{total_width}" height="{total_height}" fill="white"/>',
        f'<text x="{_MARGIN}" y="20" font-size="14" font-weight="bold">{escape(grid.title)}</text>',
        f'<text x="{_MARGIN}" y="38" fill="#555">{escape(grid.subtitle)}</text>',
        *_ticks(rows, columns, width, height),
        *_boxes(grid, width, height),
        *_legend(grid, _TOP + rows * height + 2 * _MARGIN),
        "</svg>",
    ]
    return "\n".join(parts) + "\n"


def _cell_size(grid: Grid) -> tuple[int, int]:
    """Width and height of a cell in pixels: wide enough for its label where few are shown."""
    longest = max(len(label) for label in grid.labels.ravel()[:64])
    columns = grid.colours.shape[1]
    if columns <= 32:
        return max(22, 7 * longest + 6), 22
    if columns <= 128:
        return max(14, 4 * longest + 2), 16
    return 7, 10


def _ticks(rows: int, columns: int, width: int, height: int) -> list[str]:
    step_down, step_right = max(1, rows // 16), max(1, columns // 16)
    down = [
        f'<text x="{_LEFT - 4}" y="{_TOP + r * height + height - 5}" text-anchor="end" '
        f'fill="#555" font-size="9">{r}</text>'
        for r in range(0, rows, step_down)
    ]
    right = [
        f'<text x="{_LEFT + c * width + 2}" y="{_TOP - 4}" fill="#555" font-size="9">{c}</text>'
        for c in range(0, columns, step_right)
    ]
    return down + right


def _boxes(grid: Grid, width: int, height: int) -> list[str]:
    parts: list[str] = []
    for r in range(grid.colours.shape[0]):
        y = _TOP + r * height
        for start, end in _runs(grid.colours[r], grid.labels[r]):
            x, span = _LEFT + start * width, (end - start) * width
            colour = grid.palette[int(grid.colours[r, start]) % len(grid.palette)]
            parts.append(
                f'<rect x="{x}" y="{y}" width="{span}" height="{height}" fill="{colour}" '
                f'stroke="white" stroke-width="0.6"/>'
            )
    parts.extend(_labels(grid, width, height))
    return parts


def _runs(colours: NDArray[np.int64], labels: NDArray[np.str_]) -> list[tuple[int, int]]:
    """Where a row changes colour or label: `(start, end)` of each box."""
    changes = (colours[1:] != colours[:-1]) | (labels[1:] != labels[:-1])
    edges = [0, *(np.flatnonzero(changes) + 1).tolist(), len(colours)]
    return list(pairwise(edges))


def _labels(grid: Grid, width: int, height: int) -> list[str]:
    """A label for every run of equal labels that is wide enough for it."""
    size = min(11, height - 5)
    parts: list[str] = []
    for r in range(grid.labels.shape[0]):
        row = grid.labels[r]
        for start, end in _runs(np.zeros(len(row), dtype=np.int64), row):
            label, span = str(row[start]), (end - start) * width
            if len(label) * size * 0.62 > span:
                continue
            parts.append(
                f'<text x="{_LEFT + start * width + span / 2:g}" '
                f'y="{_TOP + r * height + height - 5}" text-anchor="middle" '
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


def draw_layout(layout: AnyLayout | MemoryLayout, bits: int | None = None) -> str:
    """An SVG picture of a layout; `bits` is the width of an element for layouts in memory."""
    return render(grid_of(layout, bits))
