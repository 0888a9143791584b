"""Random kernels: text, arguments, grid and the features they contain."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from hypothesis import strategies as st

from tests.support.random_programs import branches, buffers, loops, pipelines, slices, tiles
from tests.support.random_programs.tile_types import TileType, random_elements
from tests.support.random_programs.writer import (
    MOST_ROUNDS,
    TILES_TO_READ,
    Draw,
    Writer,
    matrix,
)

DEEPEST = 3
"""Maximum nesting depth of regions, including the function."""

MOST_STATEMENTS = 7

SIMPLE = (tiles.STATEMENTS, slices.STATEMENTS, buffers.STATEMENTS)
NESTING = (branches.STATEMENTS, loops.STATEMENTS)


@dataclass(frozen=True, eq=False)
class Program:
    """A kernel `@k` and its launch."""

    text: str
    arrays: Sequence[tuple[TileType, int]]
    """The array arguments, each with its number of vertically stacked tiles."""
    scalars: tuple[bool | int, ...]
    seed: int
    grid: tuple[int, int, int]
    features: frozenset[str]

    @cached_property
    def arguments(self) -> Sequence[Any]:
        """Return random non-zero elements, and the scalars."""
        rng = np.random.default_rng(self.seed)
        arrays = [_array(rng, type_, count) for type_, count in self.arrays]
        return [*arrays, *self.scalars]

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the program as the failing example of hypothesis."""
        printer.text(repr(self))

    def __repr__(self) -> str:
        return f"a program, seed {self.seed}, grid {self.grid}, {self.scalars}:\n{self.text}"


@st.composite
def programs(draw: Draw) -> Program:
    """Generate kernels that verify, run without findings, and store what they compute."""
    w = Writer(draw, statements)
    w.budget = w.number(2, MOST_STATEMENTS)
    grid = w.choose([1, 1, 2])
    scalars, seed = (w.choose([True, False]), w.number(0, MOST_ROUNDS)), w.number(0, 2**16)
    statements(w, MOST_STATEMENTS)
    w.store_unused()
    if not w.bands:
        tiles.load(w)
        w.store_unused()
    return Program(_text(w), _arrays(w, grid), scalars, seed, (grid, 1, 1), frozenset(w.features))


def statements(w: Writer, most: int) -> None:
    """Emit some statements in the innermost region, within the length limit of the program."""
    count = w.number(0, most) if len(w.scopes) > 1 else most
    for _ in range(count):
        if w.budget <= 0:
            return
        w.budget -= 1
        w.choose(_choices(w))(w)


def _choices(w: Writer) -> Sequence[Callable[[Writer], object]]:
    """Return the statements allowed next, grouped so that each group is equally likely."""
    groups = [*SIMPLE, *(NESTING if len(w.scopes) <= DEEPEST else ())]
    if len(w.scopes) == 1 and w.agents == 1 and w.chance(4):
        return pipelines.STATEMENTS
    return w.choose(groups)


def _arrays(w: Writer, blocks: int) -> Sequence[tuple[TileType, int]]:
    """Return input arrays, and output arrays with initial contents."""
    inputs = [(type_, TILES_TO_READ * blocks) for type_ in w.inputs.values()]
    return [*inputs, *((type_, count * blocks) for type_, count in w.bands.values())]


def _array(rng: np.random.Generator, type_: TileType, count: int) -> Any:
    rows, *rest = type_.shape
    return random_elements(rng, (count * rows, *rest), type_.element)


_BEGIN = """#ldg = #nv_tileas<atom ldg>
#stg = #nv_tileas<atom stg>
#any = #nv_tileas<atom unknown_copy>
"""


def _text(w: Writer) -> str:
    """Return the module around the lines of the kernel."""
    aliases = "".join(f"{alias} = {meant}\n" for alias, meant in w.aliases.items())
    outputs = {name: type_ for name, (type_, _) in w.bands.items()}
    arrays = [f"{name}: {matrix(t)}" for name, t in {**w.inputs, **outputs}.items()]
    parameters = ", ".join([*arrays, "%flag: i1", "%n: index"])
    spec = f"#nv_tileaa.kernel_spec<num_warps = {4 * w.agents}>"
    constants = [f"  %c{n} = arith.constant {n} : index" for n in sorted(w.constants | {1})]
    lines = [
        f"func.func @k({parameters}) attributes {{nv_tileaa.kernel_spec = {spec}}} {{",
        *constants,
        '  %block = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index',
        '  %blocks = "gpu.grid_dim"() <{dimension = #gpu<dim x>}> : () -> index',
        *w.lines,
        "  func.return",
        "}",
    ]
    return _BEGIN + aliases + "\n".join(lines) + "\n"
