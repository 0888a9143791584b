"""Kernels that reduce or scan tiles along a dimension, with what numpy makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from tests.support.plain_kernels import NUMPY, Array, kernel, load, store

Step = Callable[[Sequence[Array], Sequence[Array]], Sequence[Array]]


@dataclass(frozen=True)
class Combiner:
    """A body over `%a0, %a1, ..., %b0, %b1, ...`, and what it does to arrays."""

    elements: Sequence[str]
    body: str
    step: Step
    tolerance: float = 0.0


def _affine(first: Sequence[Array], second: Sequence[Array]) -> Sequence[Array]:
    """Maps `x -> p * x + q` one after the other: associative, and the order matters."""
    with np.errstate(over="ignore"):
        return first[0] * second[0], first[1] * second[0] + second[1]


def _largest(first: Sequence[Array], second: Sequence[Array]) -> Sequence[Array]:
    later = second[0] > first[0]
    return np.where(later, second[0], first[0]), np.where(later, second[1], first[1])


COMBINERS = {
    "affine": Combiner(
        ("i32", "i32"),
        """%p = arith.muli %a0, %b0 : i32
    %r = arith.muli %a1, %b0 : i32
    %q = arith.addi %r, %b1 : i32
    nv_tileas.yield %p, %q : i32, i32""",
        _affine,
    ),
    "largest": Combiner(
        ("f32", "i64"),
        """%l = arith.cmpf ogt, %b0, %a0 : f32
    %p = arith.select %l, %b0, %a0 : f32
    %q = arith.select %l, %b1, %a1 : i64
    nv_tileas.yield %p, %q : f32, i64""",
        _largest,
    ),
    "sum": Combiner(
        ("f32",),
        """%p = arith.addf %a0, %b0 : f32
    nv_tileas.yield %p : f32""",
        lambda a, b: (a[0] + b[0],),
        2.0**-16,
    ),
    "half": Combiner(
        ("f16",),
        """%p = arith.maximumf %a0, %b0 : f16
    nv_tileas.yield %p : f16""",
        lambda a, b: (np.maximum(a[0], b[0]),),
    ),
    "later": Combiner(
        ("i8",),
        """%c = arith.constant 0 : i8
    %w = arith.extsi %b0 : i8 to i32
    %z = arith.constant 0 : i32
    %l = arith.cmpi eq, %w, %z : i32
    %p = arith.select %l, %a0, %b0 : i8
    nv_tileas.yield %p : i8""",
        lambda a, b: (np.where(b[0] == 0, a[0], b[0]),),
    ),
}
"""By name; all of them are associative."""


@dataclass(frozen=True)
class Combined:
    """A reduction or a scan of random tiles."""

    name: str
    shape: tuple[int, ...]
    axis: int
    warps: int = 4
    scans: bool = False
    backward: bool = False

    @property
    def combiner(self) -> Combiner:
        """How elements are combined."""
        return COMBINERS[self.name]

    @property
    def left(self) -> tuple[int, ...]:
        """The extents of the results."""
        if self.scans:
            return self.shape
        return (*self.shape[: self.axis], *self.shape[self.axis + 1 :])

    @property
    def text(self) -> str:
        """The kernel: a tile of each array, and the results to further arrays."""
        elements = self.combiner.elements
        sources = [_tile(self.shape, element) for element in elements]
        results = [_tile(self.left, element) for element in elements]
        outputs = [result if self.left else f"1x{result}" for result in results]
        count = range(len(elements))
        body = "".join(
            load(f"t{k}", f"x{k}", f"memref<{source}>", source, _zeros(self.shape))
            for k, source in enumerate(sources)
        )
        kind = "scan" if self.scans else "reduce"
        flags = f"axis = {self.axis} : i32" + (", reverse" if self.backward else "")
        arguments = [f"%{c}{k}: {element}" for c in "ab" for k, element in enumerate(elements)]
        body += f"""{", ".join(f"%s{k}" for k in count)} = nv_tileas.{kind} {", ".join(f"%t{k}" for k in count)} {{{flags}}} : {_types(sources)} -> {_types(results)} {{
  ^bb0({", ".join(arguments)}):
    {self.combiner.body}
  }}
  """  # noqa: E501
        for k, output in enumerate(outputs):
            name = f"s{k}"
            if not self.left:
                body += f"""%e{k} = tensor.extract %s{k}[] : tensor<{elements[k]}>
  %o{k} = tensor.splat %e{k} : tensor<{output}>
  """
                name = f"o{k}"
            body += store(name, f"y{k}", f"memref<{output}>", output, _zeros(self.left or (1,)))
        parameters = [f"%x{k}: memref<{source}>" for k, source in enumerate(sources)]
        parameters += [f"%y{k}: memref<{output}>" for k, output in enumerate(outputs)]
        return kernel(", ".join(parameters), body, self.warps)

    def sources(self, rng: np.random.Generator) -> list[Array]:
        """Random tiles."""
        return [
            (4 * rng.standard_normal(self.shape)).astype(NUMPY[element])
            for element in self.combiner.elements
        ]

    def expected(self, sources: Sequence[Array]) -> list[Array]:
        """The results, element after element in order."""
        lines = [np.moveaxis(source, self.axis, 0) for source in sources]
        if self.backward:
            lines = [line[::-1] for line in lines]
        rows = [[line[0] for line in lines]]
        for k in range(1, self.shape[self.axis]):
            rows.append(list(self.combiner.step(rows[-1], [line[k] for line in lines])))
        if not self.scans:
            return [np.asarray(value).reshape(self.left or (1,)) for value in rows[-1]]
        found = [np.stack([row[k] for row in rows]) for k in range(len(lines))]
        if self.backward:
            found = [tile[::-1] for tile in found]
        return [np.moveaxis(tile, 0, self.axis) for tile in found]


def _tile(shape: Sequence[int], element: str) -> str:
    return "x".join([*map(str, shape), element])


def _types(tiles: Sequence[str]) -> str:
    return ", ".join(f"tensor<{tile}>" for tile in tiles)


def _zeros(shape: Sequence[int]) -> str:
    return ", ".join(["%zero"] * len(shape))
