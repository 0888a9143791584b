"""Programs that move elements, or compute each from its own: nothing is reduced."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from kernels.elements import ELEMENTS, F32, Array
from kernels.kernel import Grid, Reference, Sizes, tiles_of
from kernels.tl.base import BlockProgram


@dataclass(frozen=True)
class Article(BlockProgram):
    """The example of "How to Write Layout Correctly": of a 4x16 fragment column 0 is read."""

    name: ClassVar[str] = "article"
    sizes: ClassVar[Sizes] = {}

    def text(self) -> str:
        return self.filled({})

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        return (F32.random(rng, (4, 16)), F32.unset(rng, (4,)))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        return {1: Reference(inputs[0][:, 0])}

    def grid(self, sizes: Sizes) -> Grid:
        return (1, 1, 1)


@dataclass(frozen=True)
class _Tiled(BlockProgram):
    """Tiles of `rows` x `columns` of m x n elements."""

    sizes: ClassVar[Sizes] = {"m": 37, "n": 45}

    element: str = "f32"
    rows: int = 16
    columns: int = 32
    threads: int = 64

    def text(self) -> str:
        is_float = bool(ELEMENTS[self.element].unit)
        return self.filled(
            {
                "ELEMENT": ELEMENTS[self.element].ir,
                "ROWS": self.rows,
                "COLUMNS": self.columns,
                "THREADS": self.threads,
                "ADD": "arith.addf" if is_float else "arith.addi",
            }
        )

    def grid(self, sizes: Sizes) -> Grid:
        return (tiles_of(sizes["n"], self.columns), tiles_of(sizes["m"], self.rows), 1)


@dataclass(frozen=True)
class Copy(_Tiled):
    """B = A, by way of shared memory and a fragment."""

    name: ClassVar[str] = "copy"

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        element, shape = ELEMENTS[self.element], (sizes["m"], sizes["n"])
        return (element.random(rng, shape), element.unset(rng, shape))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        return {1: Reference(inputs[0])}


@dataclass(frozen=True)
class Add(_Tiled):
    """C = A + B."""

    name: ClassVar[str] = "add"

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        element, shape = ELEMENTS[self.element], (sizes["m"], sizes["n"])
        a, b = (element.random(rng, shape) for _ in range(2))
        return (a, b, element.unset(rng, shape))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        with np.errstate(over="ignore"):
            return {2: Reference(np.add(inputs[0], inputs[1]))}


@dataclass(frozen=True)
class Transpose(_Tiled):
    """B is A transposed."""

    name: ClassVar[str] = "transpose"

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        element, m, n = ELEMENTS[self.element], sizes["m"], sizes["n"]
        return (element.random(rng, (m, n)), element.unset(rng, (n, m)))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        return {1: Reference(np.ascontiguousarray(inputs[0].T))}


@dataclass(frozen=True)
class Outer(BlockProgram):
    """C[i, j] = 2 a[i] b[j] + b[j]."""

    name: ClassVar[str] = "outer"
    sizes: ClassVar[Sizes] = {"m": 37, "n": 45}

    rows: int = 16
    columns: int = 32
    threads: int = 64

    def text(self) -> str:
        return self.filled({"ROWS": self.rows, "COLUMNS": self.columns, "THREADS": self.threads})

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        m, n = sizes["m"], sizes["n"]
        return (F32.random(rng, (m,)), F32.random(rng, (n,)), F32.unset(rng, (m, n)))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        """A product by 2 is exact, and a fused multiply-add rounds once."""
        a, b = (vector.astype(np.float64) for vector in inputs[:2])
        exact = 2 * a[:, None] * b + b
        return {2: Reference(exact, F32.rounding(exact))}

    def grid(self, sizes: Sizes) -> Grid:
        return (tiles_of(sizes["n"], self.columns), tiles_of(sizes["m"], self.rows), 1)


@dataclass(frozen=True)
class Histogram(BlockProgram):
    """How often each number is among X: indices are data, and blocks add to one array."""

    name: ClassVar[str] = "histogram"
    sizes: ClassVar[Sizes] = {"n": 700}

    bins: int = 32
    chunk: int = 256
    threads: int = 64

    def text(self) -> str:
        return self.filled({"BINS": self.bins, "CHUNK": self.chunk, "THREADS": self.threads})

    def make_inputs(self, rng: np.random.Generator, sizes: Sizes) -> Sequence[Array]:
        """Some numbers have no bin, and the counts go on from what they were."""
        numbers = rng.integers(-3, self.bins + 3, sizes["n"]).astype(np.int32)
        return (numbers, rng.integers(0, 100, self.bins).astype(np.int32))

    def reference(self, inputs: Sequence[Array]) -> Mapping[int, Reference]:
        numbers, before = inputs
        kept = numbers[(numbers >= 0) & (numbers < self.bins)]
        found = before + np.bincount(kept, minlength=self.bins)
        return {1: Reference(found.astype(np.int32))}

    def grid(self, sizes: Sizes) -> Grid:
        return (tiles_of(sizes["n"], self.chunk), 1, 1)
