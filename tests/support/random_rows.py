"""Random kernels of rows that are shorter than their tiles: masks, choices, reductions, scans.

Masks compare columns, rows and elements with what a launch passes, so that threads have elements
of which some comparisons hold, all, or none that is known before.  Of an extreme, its place and
what is compared only elements as they are stored: those differ by no rounding.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any
from zlib import crc32

import numpy as np

from kernels.elements import ELEMENTS, Array

HEAD = """import cuda.tile as ct


@ct.kernel
def kernel(x, z, line, y, numbers, places, bound, rows: ct.Constant[int], width: ct.Constant[int]):
"""
BEGIN = (
    "column = ct.reshape(ct.arange(width, dtype=ct.int32), (1, width))",
    "row = i * rows + ct.reshape(ct.arange(rows, dtype=ct.int32), (rows, 1))",
)
LINE = "ct.astype(ct.load(line, (0,), (width,), padding_mode=ct.PaddingMode.ZERO), ct.float32)"

BLOCK, LOOP = "i = ct.bid(0)", "for i in range({}, ct.cdiv(x.shape[0], rows), {}):"
WALKS = ("ct.bid(0)", "ct.num_blocks(0)"), ("ct.bid(0)", "2"), ("0", "1")
"""Where the loop of a block begins, and by what it steps: by the grid, or as one block alone."""

WIDTHS = 128, 256, 512, 1024, 1024, 2048, 2048, 4096
LONG = 1024
"""Wider tiles have few rows, and are not scanned."""

PADDING = *("ZERO",) * 3, "NEG_ZERO", "NEG_INF", "POS_INF"
COMPARISONS = "<", "<", "<=", ">", ">=", "!="


@dataclass(frozen=True)
class RowKernel:
    """A kernel and the launch that it is for."""

    text: str
    element: str
    shape: tuple[int, int]
    bound: int
    rows: int
    width: int
    grid: int
    """One tile block for so many rows, or fewer that take them in a loop."""

    def arguments(self, seed: int = 0) -> tuple[Any, ...]:
        """Random rows, with gaps of their own; results that no kernel leaves as they are."""
        rng, kind = np.random.default_rng(seed + len(self.text)), ELEMENTS[self.element]
        x, z = (_with_gaps(rng, kind.random(rng, self.shape)) for _ in "xz")
        results = [_with_gaps(rng, np.full(self.shape, 7, kind.dtype)), *self._of_rows()]
        return x, z, kind.random(rng, self.shape[1:]), *results, self.bound, self.rows, self.width

    def _of_rows(self) -> Sequence[Array]:
        return [np.full(self.shape[0], 7, kind) for kind in (np.float32, np.int32)]

    def written(self, folder: Path) -> Any:
        """The kernel, from a file: cuTile reads its source."""
        path = folder / f"rows_{crc32(self.text.encode()):08x}.py"
        path.write_text(self.text)
        spec = spec_from_file_location(path.stem, path)
        assert spec is not None
        assert spec.loader is not None
        module = module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.kernel


def _with_gaps(rng: np.random.Generator, array: Array) -> Array:
    """The same rows, which begin at any element of a vector, or all at the first."""
    gap = int(rng.choice((0, 0, 1, 2, 3, 8)))
    begin, columns = int(rng.integers(gap + 1)), array.shape[1]
    memory = np.full((array.shape[0], columns + gap), 7, array.dtype)
    memory[:, begin : begin + columns] = array
    return memory[:, begin : begin + columns]


def random_rows(seed: int) -> RowKernel:
    """The kernel of this seed."""
    return _Writer(random.Random(seed), random.Random(f"walk {seed}")).kernel()


class _Writer:
    """A kernel that is written line by line."""

    def __init__(self, rng: random.Random, walk: random.Random) -> None:
        self.rng, self.walk = rng, walk
        self.line = walk.choice((LINE, "held"))
        self.lines: list[str] = []
        self.tiles: list[str] = []
        self.stored: list[str] = []
        """Tiles whose elements are as they were stored."""
        self.masks: list[str] = []
        self.numbers: list[str] = []
        self.places: list[str] = []
        self.width = rng.choice(WIDTHS)
        self.rows = rng.choice((1, 1, 1, 2, 2, 4, 8) if self.width <= LONG else (1, 1, 1, 2))
        self.columns = self._columns()
        self.bound = rng.choice((rng.randrange(self.width + 1), self.columns, self.columns // 2, 0))

    def _columns(self) -> int:
        """Ends of eighths of a tile, those before them, and any."""
        rng, eighth = self.rng, self.width // 8
        end = eighth * rng.randrange(1, 9)
        return rng.choice((end, max(end - rng.choice((1, 2, 8)), 1), rng.randrange(1, end + 1)))

    def kernel(self) -> RowKernel:
        rng = self.rng
        element = rng.choice(("f16", "f16", "bf16", "f32", "f32"))
        count = max(self.rows * rng.randrange(1, 4) - rng.choice((0, 0, 1)), 1)
        self.load("x")
        if rng.random() < 0.4:
            self.load("z")
        self.mask()
        for step in rng.choices([*STEPS], [*STEPS.values()], k=rng.randrange(4, 10)):
            step(self)
        body = [*BEGIN, *self.lines, *self._stores()]
        head, grid = self._around(-(-count // self.rows))
        inner = "    " if head[-1].endswith(":") else ""
        lines = [*head, *(f"{inner}{line}" for line in body)]
        text = HEAD + "".join(f"    {line}\n" for line in lines)
        shape = count, self.columns
        return RowKernel(text, element, shape, self.bound, self.rows, self.width, grid)

    def _around(self, tiles: int) -> tuple[Sequence[str], int]:
        """What stands in front of the work on a tile of rows, and the grid."""
        held = [f"held = {LINE}"] if any("held" in line for line in self.lines) else []
        if self.walk.random() < 0.5:
            return [*held, BLOCK], tiles
        begin, step = self.walk.choice(WALKS)
        grid = {"2": 2, "1": 1}.get(step, self.walk.randrange(1, tiles + 1))
        return [*held, LOOP.format(begin, step)], grid

    def _stores(self) -> Sequence[str]:
        self.numbers += [f"ct.sum({self.tiles[-1]}, axis=1) / width"]
        found = [
            f"ct.store(y, (i, 0), ct.astype({self.tiles[-1]}, y.dtype))",
            f"ct.store(numbers, (i,), ct.reshape({self.rng.choice(self.numbers)}, (rows,)))",
        ]
        if self.places:
            found += [f"ct.store(places, (i,), ct.reshape({self.places[-1]}, (rows,)))"]
        return found

    def name(self, expression: str) -> str:
        """Give an expression a name."""
        self.lines.append(f"v{len(self.lines)} = {expression}")
        return self.lines[-1].split()[0]

    def tile(self) -> str:
        """A tile, most often one of the last."""
        return self.rng.choice(self.tiles[-3:] if self.rng.random() < 0.7 else self.tiles)

    def add(self, expression: str, *, is_stored: bool = False) -> None:
        self.tiles.append(self.name(expression))
        if is_stored:
            self.stored.append(self.tiles[-1])

    def load(self, array: str) -> None:
        padding = self.rng.choice(PADDING)
        mode = f"padding_mode=ct.PaddingMode.{padding}"
        loaded = f"ct.astype(ct.load({array}, (i, 0), (rows, width), {mode}), ct.float32)"
        if padding.endswith("INF") and self.rng.random() < 0.7:
            loaded = f"ct.where(column < x.shape[1], {loaded}, {self.rng.choice((-3.0, 0.0, 1.5))})"
        self.add(loaded, is_stored=True)

    def mask(self) -> None:
        rng, compared = self.rng, self.rng.choice(COMPARISONS)
        found = self.name(
            rng.choice(
                (
                    "column < x.shape[1]",
                    "column < x.shape[1]",
                    f"column {compared} x.shape[1] - {rng.randrange(3)}",
                    f"column {compared} bound",
                    f"column + {rng.randrange(40)} {compared} bound + {rng.randrange(40)}",
                    f"column {compared} {rng.randrange(self.width + 1)}",
                    f"column {compared} row * {rng.choice((1, 17, 64))} + {self.columns // 2}",
                    f"(column & {rng.choice((1, 3, 7, 8, 64))}) == 0",
                    f"row {compared} x.shape[0] - {rng.randrange(2)}",
                    f"{rng.choice(self.stored)} {rng.choice('<>')} {rng.choice((-0.5, 0.0, 0.25))}",
                )
            )
        )
        if self.masks and rng.random() < 0.5:
            found = self.name(f"{found} {rng.choice('&&|^')} {rng.choice(self.masks)}")
        self.masks.append(found)

    def choose(self) -> None:
        if self.rng.random() < 0.4:
            self.mask()
        mask, one = self.rng.choice(self.masks), self.tile()
        other = self.rng.choice(("0.0", "0.0", "-1.0", self.tile()))
        first, second = (one, other) if self.rng.random() < 0.85 else (other, one)
        is_stored = one in self.stored and (other in self.stored or other not in self.tiles)
        self.add(f"ct.where({mask}, {first}, {second})", is_stored=is_stored)

    def compute(self) -> None:
        a, b = self.tile(), self.tile()
        forms = f"{a} + {b}", f"{a} - {b}", f"{a} * 0.5", f"ct.maximum({a}, {b})", f"ct.abs({a})"
        self.add(self.rng.choice((*forms, f"ct.exp(ct.minimum({a}, 4.0))")))

    def take_line(self) -> None:
        self.add(f"{self.tile()} {self.rng.choice('+-')} {self.line}")

    def reduce(self) -> None:
        tile, kind = self.tile(), self.rng.choice(("sum", "sum", "sum", "max", "min"))
        if self.rng.random() < 0.5:
            chosen = self.rng.choice(("0.0", "0.0", "-2.0"))
            tile = self.name(f"ct.where({self.rng.choice(self.masks)}, {tile}, {chosen})")
        share = " / width" if kind == "sum" else ""
        self.numbers.append(self.name(f"ct.{kind}({tile}, axis=1, keepdims=True){share}"))
        if self.rng.random() < 0.7:
            self.add(f"{self.tile()} {self.rng.choice('+--')} {self.numbers[-1]}")

    def find(self) -> None:
        tile, kind = self.rng.choice(self.stored), self.rng.choice(("argmax", "argmin"))
        self.places.append(self.name(f"ct.{kind}({tile}, axis=1, keepdims=True)"))

    def count(self) -> None:
        mask = f"{self.rng.choice(self.masks)} & (column >= 0) & (row >= 0)"
        found = f"ct.sum(ct.where({mask}, 1, 0), axis=1, keepdims=True)"
        self.places.append(self.name(found))

    def scan(self) -> None:
        if self.width <= LONG:
            self.add(f"ct.cumsum({self.tile()}, axis=1) / width")


STEPS: Mapping[Callable[[_Writer], None], int] = {
    _Writer.choose: 4,
    _Writer.compute: 3,
    _Writer.take_line: 1,
    _Writer.reduce: 4,
    _Writer.find: 1,
    _Writer.count: 1,
    _Writer.scan: 1,
    _Writer.mask: 1,
}
"""What a kernel does next, and how often."""
