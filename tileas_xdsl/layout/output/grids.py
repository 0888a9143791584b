"""What a picture of a layout shows: a grid of elements coloured by bank, thread, lane or offset.

The first mode that is longer than 1 goes down and the others go right.  Equal neighbours are drawn
as one box, so that the pattern of a swizzle shows at a glance.
"""

from __future__ import annotations

from collections.abc import Sequence
from colorsys import hls_to_rgb
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.composed import AnyLayout
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import product_each
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.memory.banks import BANK_BYTES, BANKS
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.layout.registers.register_layout import THREAD, VALUE, RegisterLayout
from tileas_xdsl.layout.tables import Table, table
from tileas_xdsl.layout.units import WARP

MAX_ROWS, MAX_COLUMNS = 128, 256
"""Maximum rows and columns of a picture; larger layouts are cut, with a note."""

LANE, COLUMN = "lane", "column"
"""The axes of tensor memory."""

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
    warps = min(len(_HUES), ceil_div(block, WARP))
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


def grid_by_lane(layout: Layout) -> Grid:
    """Cells coloured by lane of tensor memory, 32 lanes a colour, labelled with their column.

    A warp reaches the 32 lanes whose quarter is its rank in a warpgroup (PTX ISA, tcgen05.ld).
    """
    lanes, cut = _cells(layout, table(layout, LANE))
    columns, _ = _cells(layout, table(layout, COLUMN))
    shades = [
        _colour(_HUES[quarter], 92 - 4 * (lane // 4))
        for quarter in range(4)
        for lane in range(WARP)
    ]
    legend = [
        (_colour(_HUES[quarter], 72), f"lanes {quarter * WARP} to {quarter * WARP + WARP - 1}")
        for quarter in range(4)
    ]
    subtitle = f"tensor memory, coloured by lane, darker with it; a number is the column{cut}"
    return Grid(str(layout), subtitle, lanes, columns.astype(np.str_), shades, legend)


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
    """The picture that fits: by bank, by thread, by lane of tensor memory, else by offset."""
    if isinstance(layout, MemoryLayout):
        if bits is None:
            raise LayoutError(f"{layout} needs an element type to be drawn by bank")
        return grid_by_bank(layout, bits)
    axes = set(layout.axes())
    if isinstance(layout, Layout) and axes and axes <= {THREAD, VALUE}:
        threads = layout.extents().get(THREAD, 1)
        return grid_by_thread(RegisterLayout(layout, product_each(layout.shape), threads))
    if isinstance(layout, Layout) and axes and axes <= {LANE, COLUMN}:
        return grid_by_lane(layout)
    if axes <= {""}:
        return grid_by_offset(layout)
    raise LayoutError(
        f"a picture shows offsets, the axes '{THREAD}' and '{VALUE}', or '{LANE}' and '{COLUMN}', "
        f"not {', '.join(repr(a) for a in layout.axes())}"
    )


def _cells(layout: AnyLayout, values: Table) -> tuple[Table, str]:
    """`values` as `(rows, columns)`, cut to what is drawn.

    The first mode that is longer than 1 goes down, those after it go right; a row has one mode.
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


def entitled(grid: Grid, title: str) -> Grid:
    """Return a picture whose title says what it shows; the layout itself goes below it."""
    return replace(grid, title=title, subtitle=f"{grid.title}\n{grid.subtitle}")
