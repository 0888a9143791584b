"""Kinds of reads: from a buffer to a loop over part of it, and its index expressions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import prod

from tests.support.tl_programs.writer import MAX_ELEMENTS, Writer
from tileas_xdsl.layout.expr.expression import Number, dimension

Index = Number | None
"""An index expression; None is a data-dependent index."""


@dataclass(frozen=True)
class Reading:
    """A loop over some extents whose iterations read a buffer once or several times."""

    extents: tuple[int, ...]
    accesses: tuple[tuple[Index, ...], ...]
    inner: tuple[int, ...] = ()


Shape = tuple[int, ...]
Kind = Callable[[Writer, Shape], Reading | None]
"""Function from a shape to the read of such a buffer, or None if not applicable."""


def dim(k: int) -> Number:
    """Return loop variable k."""
    return dimension(k)


def const(k: int) -> Number:
    """Return a constant index."""
    return k


def identity(w: Writer, shape: Shape) -> Reading:
    """`f[i, j]`."""
    return Reading(shape, (tuple(map(dim, range(len(shape)))),))


def transposed(w: Writer, shape: Shape) -> Reading | None:
    """`f[j, i]`."""
    if len(shape) < 2:
        return None
    order = w.random.sample(range(len(shape)), len(shape))
    if order == sorted(order):
        order.reverse()
    extents = tuple(shape[k] for k in order)
    return Reading(extents, (tuple(dim(order.index(k)) for k in range(len(shape))),))


def broadcast(w: Writer, shape: Shape) -> Reading | None:
    """`f[i]` by a loop over `i` and `j`, in either order."""
    room = MAX_ELEMENTS // prod(shape)
    if len(shape) > 2 or room < 2:
        return None
    place, more = w.number(0, len(shape)), w.number(2, min(room, 64))
    extents = (*shape[:place], more, *shape[place:])
    kept = [k for k in range(len(extents)) if k != place]
    return Reading(extents, (tuple(map(dim, kept)),))


def sliced(w: Writer, shape: Shape) -> Reading | None:
    """`f[i + 3, j]` over a part."""
    if max(shape) < 2:
        return None
    begins = [w.number(0, extent - 1) for extent in shape]
    extents = tuple(w.number(1, e - b) for e, b in zip(shape, begins, strict=True))
    return Reading(extents, (tuple(dim(k) + b for k, b in enumerate(begins)),))


def one_row(w: Writer, shape: Shape) -> Reading | None:
    """`f[3, j]`."""
    if len(shape) < 2:
        return None
    axis = w.number(0, len(shape) - 1)
    extents = (*shape[:axis], *shape[axis + 1 :])
    indices = [dim(k) for k in range(len(extents))]
    indices.insert(axis, const(w.number(0, shape[axis] - 1)))
    return Reading(extents, (tuple(indices),))


def one_element(w: Writer, shape: Shape) -> Reading:
    """`f[3, 5]` in every iteration."""
    at = tuple(const(w.number(0, extent - 1)) for extent in shape)
    return Reading(w.shape(), (at,))


def strided(w: Writer, shape: Shape) -> Reading | None:
    """`f[2 * i + 1, j]`."""
    axis, step = w.number(0, len(shape) - 1), w.number(2, 4)
    if shape[axis] < step:
        return None
    begin = w.number(0, step - 1)
    extents = list(shape)
    extents[axis] = (shape[axis] - begin + step - 1) // step
    indices = tuple(dim(k) * step + begin if k == axis else dim(k) for k in range(len(shape)))
    return Reading(tuple(extents), (indices,))


def sparse(w: Writer, shape: Shape) -> Reading | None:
    """`f[2 * g + r, 0]`: the article's read."""
    group = w.choose([k for k in (2, 3, 4) if shape[0] >= k] or [0])
    if len(shape) < 2 or not group:
        return None
    rest = [const(w.choose((0, extent - 1))) for extent in shape[1:]]
    return Reading((shape[0] // group, group), ((dim(0) * group + dim(1), *rest),))


def diagonal(w: Writer, shape: Shape) -> Reading | None:
    """`f[i, i]`."""
    if len(shape) < 2:
        return None
    return Reading((min(shape),), (tuple(dim(0) for _ in shape),))


def rotated(w: Writer, shape: Shape) -> Reading | None:
    """`f[(i + 3) mod n, j]`."""
    axis = w.number(0, len(shape) - 1)
    if shape[axis] < 2:
        return None
    return Reading(shape, (_rotated(shape, axis, w.number(1, shape[axis] - 1)),))


def _rotated(shape: Shape, axis: int, by: int) -> tuple[Number, ...]:
    return tuple((dim(k) + by) % shape[k] if k == axis else dim(k) for k in range(len(shape)))


def backwards(w: Writer, shape: Shape) -> Reading:
    """`f[n - 1 - i, j]`."""
    axis = w.number(0, len(shape) - 1)
    indices = tuple(
        dim(k) * -1 + (shape[k] - 1) if k == axis else dim(k) for k in range(len(shape))
    )
    return Reading(shape, (indices,))


def flattened(w: Writer, shape: Shape) -> Reading | None:
    """`f[i floordiv n, i mod n]`."""
    if len(shape) < 2:
        return None
    rest, indices = dim(0), list[Number]()
    for extent in reversed(shape[1:]):
        indices.append(rest % extent)
        rest = rest // extent
    return Reading((prod(shape),), ((rest, *reversed(indices)),))


def grouped(w: Writer, shape: Shape) -> Reading | None:
    """`f[i floordiv 4, j]`: several iterations read the same element."""
    axis, group = w.number(0, len(shape) - 1), w.number(2, 8)
    if prod(shape) * group > MAX_ELEMENTS:
        return None
    extents = tuple(e * group if k == axis else e for k, e in enumerate(shape))
    indices = tuple(dim(k) // group if k == axis else dim(k) for k in range(len(shape)))
    return Reading(extents, (indices,))


def repeated(w: Writer, shape: Shape) -> Reading | None:
    """`f[i mod n, j]` over more than n."""
    axis = w.number(0, len(shape) - 1)
    room = MAX_ELEMENTS // prod(shape) * shape[axis]
    if room <= shape[axis]:
        return None
    extents = tuple(
        w.number(e + 1, min(room, 3 * e + 1)) if k == axis else e for k, e in enumerate(shape)
    )
    indices = tuple(dim(k) % shape[k] if k == axis else dim(k) for k in range(len(shape)))
    return Reading(extents, (indices,))


def two_indices(w: Writer, shape: Shape) -> Reading | None:
    """`f[i, j]` and `f[i, (j + 3) mod n]`."""
    axis = w.number(0, len(shape) - 1)
    if shape[axis] < 2:
        return None
    here = identity(w, shape).accesses[0]
    return Reading(shape, (here, _rotated(shape, axis, w.number(1, shape[axis] - 1))))


def by_data(w: Writer, shape: Shape) -> Reading:
    """`f[i, p[i]]`."""
    axis = w.number(0, len(shape) - 1)
    indices = tuple(None if k == axis else dim(k) for k in range(len(shape)))
    return Reading(shape, (indices,))


def in_the_body(w: Writer, shape: Shape) -> Reading | None:
    """`f[i, k]` by a serial loop over `k` in the body."""
    if len(shape) < 2:
        return None
    axis = w.number(0, len(shape) - 1)
    outer = [k for k in range(len(shape)) if k != axis]
    indices = tuple(
        dim(len(outer)) if k == axis else dim(outer.index(k)) for k in range(len(shape))
    )
    return Reading(tuple(shape[k] for k in outer), (indices,), (shape[axis],))


KINDS: Mapping[str, Kind] = {
    "identity": identity,
    "transposed": transposed,
    "broadcast": broadcast,
    "sliced": sliced,
    "one row": one_row,
    "one element": one_element,
    "strided": strided,
    "sparse": sparse,
    "diagonal": diagonal,
    "rotated": rotated,
    "reversed": backwards,
    "flattened": flattened,
    "grouped": grouped,
    "repeated": repeated,
    "two indices": two_indices,
    "by data": by_data,
    "serial in the body": in_the_body,
}
"""Kinds of reads by name."""


def reading(w: Writer, shape: Shape, kind: str = "") -> tuple[str, Reading]:
    """Return a loop that reads a buffer of this shape by an applicable kind."""
    names = [kind] if kind else w.random.sample(list(KINDS), len(KINDS))
    for name in names:
        found = KINDS[name](w, shape)
        if found is not None and prod(found.extents) * prod(found.inner) <= MAX_ELEMENTS:
            return name, found
    return "identity", identity(w, shape)


def fitting(w: Writer, extents: Shape, shape: Shape) -> tuple[Number, ...] | None:
    """Return indices into a buffer within an existing loop, or None if it has no variables."""
    return tuple(_fitting(w, extents, extent, k) for k, extent in enumerate(shape))


def _fitting(w: Writer, extents: Shape, extent: int, axis: int) -> Number:
    """Return an index below `extent`, by the loop variable of the same or another dimension."""
    k = axis if axis < len(extents) and not w.chance(3) else w.number(0, len(extents) - 1)
    if extents[k] <= extent:
        return dim(k) + w.choose((0, 0, extent - extents[k]))
    return w.choose((dim(k) % extent, dim(k) // (-(-extents[k] // extent))))
