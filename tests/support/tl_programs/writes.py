"""Kinds of writes: each iteration of a loop writes a distinct element."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from math import prod

from tests.support.tl_programs.reads import Shape, dim
from tests.support.tl_programs.writer import Writer
from tileas_xdsl.layout.expr.expression import Number

Written = tuple[Shape, tuple[Number, ...]]
"""The shape of the target, and the indices that an iteration writes."""


def identity(w: Writer, extents: Shape) -> Written:
    """`g[i, j]`."""
    return extents, tuple(map(dim, range(len(extents))))


def transposed(w: Writer, extents: Shape) -> Written:
    """`g[j, i]`."""
    order = w.random.sample(range(len(extents)), len(extents))
    return tuple(extents[k] for k in order), tuple(map(dim, order))


def backwards(w: Writer, extents: Shape) -> Written:
    """`g[n - 1 - i]`."""
    return extents, tuple(dim(k) * -1 + (e - 1) for k, e in enumerate(extents))


def rotated(w: Writer, extents: Shape) -> Written:
    """`g[(i + 3) mod n]`."""
    axis = w.number(0, len(extents) - 1)
    by = w.number(1, extents[axis])
    indices = [(dim(k) + by) % e if k == axis else dim(k) for k, e in enumerate(extents)]
    return extents, tuple(indices)


def flattened(w: Writer, extents: Shape) -> Written:
    """`g[i * n + j]`."""
    flat = dim(0)
    for k, extent in enumerate(extents[1:], start=1):
        flat = flat * extent + dim(k)
    return (prod(extents),), (flat,)


def shifted(w: Writer, extents: Shape) -> Written:
    """`g[i + 1, j + 3]` of something larger."""
    begins = [w.number(0, 3) for _ in extents]
    shape = tuple(e + b + w.number(0, 2) for e, b in zip(extents, begins, strict=True))
    return shape, tuple(dim(k) + b for k, b in enumerate(begins))


def strided(w: Writer, extents: Shape) -> Written:
    """`g[2 * i + 1, j]` of something twice as large."""
    axis = w.number(0, len(extents) - 1)
    indices = [dim(k) * 2 + 1 if k == axis else dim(k) for k in range(len(extents))]
    return tuple(2 * e if k == axis else e for k, e in enumerate(extents)), tuple(indices)


WHOLE: Mapping[str, Callable[[Writer, Shape], Written]] = {
    "identity": identity,
    "transposed": transposed,
    "reversed": backwards,
    "rotated": rotated,
    "flattened": flattened,
}
"""Kinds that write the whole target, by name."""

PARTIAL = {"shifted": shifted, "strided": strided}
"""Kinds that leave elements unwritten, by name."""
