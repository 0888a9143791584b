"""Random tl programs: well formed, free of races, every buffer filled before it is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from random import Random

import numpy as np
from numpy.typing import NDArray

from tests.support.tl_programs import loops, moves
from tests.support.tl_programs.writer import Argument, Writer

DTYPES = {"f32": np.float32, "f16": np.float16, "i32": np.int32}
"""Array element types."""

THREADS = (32, 64, 96, 128, 160, 256)
"""Block sizes in threads."""

STATEMENTS = (
    loops.loop,
    loops.loop,
    loops.loop,
    loops.in_place,
    loops.atomics,
    loops.rounds,
    moves.moved,
    moves.reduced,
    moves.reduced,
    moves.summed,
)
"""Statements on one buffer; repetition sets the weight."""


@dataclass(frozen=True)
class TlProgram:
    """A kernel `k`, its arrays, its grid, and the kinds of its statements."""

    seed: int
    text: str
    arguments: tuple[Argument, ...]
    blocks: int
    marks: frozenset[str]

    def arrays(self) -> list[NDArray[np.generic]]:
        """Return new arrays of integers, the same for each run."""
        source = np.random.default_rng(self.seed)
        return [
            source.integers(a.low, a.high, a.buffer.shape, endpoint=True).astype(
                DTYPES[a.buffer.element]
            )
            for a in self.arguments
        ]


def program(seed: int) -> TlProgram:
    """Return the program of a seed."""
    random = Random(seed)
    w = Writer(random, random.choice(THREADS))
    if w.chance(4):
        w.grid = w.number(2, 3)
    for _ in range(w.number(1, 2)):
        moves.loaded(w)
    for _ in range(w.number(1, 4)):
        if w.chance(5):
            moves.loaded(w)
        w.choose(STATEMENTS)(w, w.choose(w.readable))
    for buffer in w.readable[-2:]:
        if w.chance():
            moves.stored(w, buffer)
        loops.loop(w, buffer, stores=True)
    return finished(w, seed)


def one_access(kind: str, seed: int) -> TlProgram:
    """Return a minimal program that fills a fragment and reads it by one kind of access."""
    random = Random(seed)
    w = Writer(random, random.choice(THREADS))
    rank = 2 if kind not in ("broadcast", "grouped") else w.choose((1, 2))
    loops.loop(w, moves.loaded(w, w.shape(rank), "fragment"), kind, stores=True)
    return finished(w, seed)


def finished(w: Writer, seed: int) -> TlProgram:
    """Return the program written so far."""
    arguments = ", ".join(f"{a.buffer.name}: {a.buffer.type}" for a in w.arguments)
    grid = f" ({w.blocks[0]}) in ({w.grid})" if w.blocks else ""
    text = "\n".join(
        (
            f"func.func @k({arguments}) {{",
            f"  tl.kernel{grid} threads({w.threads}) {{",
            *w.lines,
            "  }",
            "  func.return",
            "}",
            "",
        )
    )
    return TlProgram(seed, text, tuple(w.arguments), w.grid or 1, frozenset(w.marks))


def programs(count: int, first: int = 0) -> Iterator[TlProgram]:
    """Yield programs of successive seeds."""
    return map(program, range(first, first + count))
