"""What `make demo` runs: the project's main job as far as it exists, now a tour of layouts.

Every number is computed here and now; the pictures go to the folder given with `--out`.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from tileas_xdsl.layout import (
    BYTE_SWIZZLES,
    E,
    Layout,
    MemoryLayout,
    composition,
    fragment_from_tv,
    invert,
    parse_layout,
)
from tileas_xdsl.layout.convert import plan_conversion
from tileas_xdsl.layout.draw import draw_layout
from tileas_xdsl.layout.errors import CompositionError
from tileas_xdsl.layout.facts import warp_accesses
from tileas_xdsl.target.arch import get_target
from tileas_xdsl.target.canonical import CanonicalLayout
from tileas_xdsl.target.canonical_match import match_canonical
from tileas_xdsl.target.register_layouts import wgmma_accumulator
from tileas_xdsl.target.smem_descriptor import describe

ROWS, COLUMNS, BITS = 64, 64, 16


class Tour:
    """Prints the steps and keeps the pictures in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pictures: list[Path] = []
        self.step = 0
        folder.mkdir(parents=True, exist_ok=True)

    def title(self, text: str) -> None:
        """Begin a step."""
        self.step += 1
        say(f"\n{self.step}. {text}")

    def draw(self, name: str, layout: Layout | MemoryLayout, bits: int | None = None) -> None:
        """Draw a layout into the folder."""
        path = self.folder / f"{name}.svg"
        path.write_text(draw_layout(layout, bits), encoding="utf-8")
        self.pictures.append(path)


def say(text: str) -> None:
    """Print lines of the tour."""
    print(text)  # noqa: T201


def algebra(tour: Tour) -> None:
    """Composition, and what happens where there is none."""
    tour.title("Layouts are functions that compose")
    a, b = parse_layout("(6,2):(8,2)"), parse_layout("(4,3):(3,1)")
    say(f"   {a} after {b} is {composition(a, b)}")
    try:
        composition(parse_layout("(4,6,8):(2,3,5)"), parse_layout("6:3"))
    except CompositionError as error:
        say(f"   refused: {error}")


def bank_conflicts(tour: Tour) -> None:
    """A row-major tile with and without a swizzle."""
    tour.title(f"A {ROWS}x{COLUMNS} tile of f16 in shared memory, row by row")
    for mode in ("none", "128B"):
        swizzle = BYTE_SWIZZLES[mode]
        memory = MemoryLayout(Layout((ROWS, COLUMNS), (COLUMNS, 1)), swizzle)
        by_name = {access.name: access for access in warp_accesses(memory, BITS)}
        down = by_name["lanes down mode 0, 16 B each"]
        say(f"   swizzle {mode:5} lanes down a column: {down.verdict}")
        tour.draw(f"tile-{mode}", memory, BITS)


def registers(tour: Tour) -> None:
    """The accumulator of wgmma and its inverse."""
    tour.title("The accumulator of wgmma m64n64, held by 128 threads")
    accumulator = wgmma_accumulator(COLUMNS).fragment
    say(f"   element to register  {accumulator.layout}")
    say(f"   CuTe's TV layout     {accumulator.tv()}")
    say("   which element is register `value` of thread `thread`?")
    say("      " + str(invert(accumulator.layout)).replace("\n", "\n      "))
    tour.draw("wgmma-accumulator", accumulator.layout)
    sparse = Layout((2, 2), (E("thread", 16), E("thread", 32)))
    say(f"   a sparse map, {sparse}, inverts with a guard:")
    say("      " + str(invert(sparse, {"thread": 64})).replace("\n", "\n      "))


def descriptor(tour: Tour) -> None:
    """The matrix descriptor of the swizzled tile."""
    tour.title("The same tile as an operand of the tensor core")
    target = get_target("sm_90a")
    tile = Layout((ROWS, COLUMNS), (COLUMNS, 1))
    for mode in ("128B", "32B"):
        found = match_canonical(tile, BYTE_SWIZZLES[mode], BITS, "k", target)
        if isinstance(found, CanonicalLayout):
            word = describe(found, 0x400, target).encode()
            say(
                f"   {mode}: leading offset {found.leading_byte_offset} B, stride offset "
                f"{found.stride_byte_offset} B, descriptor {word:#018x}"
            )
        else:
            say(f"   {mode}: not canonical, {found.reason}")


def conversion(tour: Tour) -> None:
    """From accumulator to rows for a vectorised store, proven on random data."""
    tour.title("Moving the accumulator into rows for 16-byte stores")
    source = wgmma_accumulator(COLUMNS).fragment
    rows = fragment_from_tv(Layout(((8, 16), (8, 4)), ((512, 1), (64, 16))), (ROWS, COLUMNS))
    start = time.perf_counter()
    plan = plan_conversion(source, rows, BITS)
    elapsed = time.perf_counter() - start
    data = np.random.default_rng(0).standard_normal(ROWS * COLUMNS).astype(np.float16)
    right = np.array_equal(plan.apply(data[source.held]), data[rows.held])
    say(f"   {plan.explain()}")
    if not right:
        raise SystemExit("the plan moved elements to the wrong registers")
    say(f"   planned in {1000 * elapsed:.0f} ms; on random data every element arrived")


def main(argv: list[str] | None = None) -> None:
    """Run the tour."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("out/demo"), help="folder for pictures")
    tour = Tour(parser.parse_args(argv).out)
    say("tileas_xdsl: a tour of layouts")
    for part in (algebra, bank_conflicts, registers, descriptor, conversion):
        part(tour)
    say("\nPictures, for any browser:")
    for path in tour.pictures:
        say(f"   {path}")
    say("\nNext: tileas layout '<(64,64),(64,1),swizzle<3,4,3>>' --elem f16 --svg tile.svg")


if __name__ == "__main__":
    main()
