"""Random layouts, and an evaluator of layouts that is independent of the package."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product as cartesian
from typing import Any

from hypothesis import strategies as st

from tileas_xdsl.layout import AxisSum, E, Layout

EXTENTS = st.sampled_from([1, 1, 2, 2, 3, 4, 5, 6, 8])


def leaves_of(t: Any) -> list[Any]:
    return [leaf for x in t for leaf in leaves_of(x)] if isinstance(t, tuple) else [t]


def offsets(layout: Layout) -> list[Any]:
    """Return every offset by nested loops over leaf coordinates, first leaf fastest."""
    shape, stride = leaves_of(layout.shape), leaves_of(layout.stride)
    result = []
    for crd in cartesian(*(range(s) for s in reversed(shape))):
        total: Any = 0
        for c, d in zip(reversed(crd), stride, strict=True):
            total = total + c * d
        result.append(total)
    return result


def shapes(depth: int = 4, extents: Any = EXTENTS) -> Any:
    """Generate nested shapes up to `depth`, of any rank, with at most a few hundred coordinates."""

    def extend(children: Any) -> Any:
        return st.lists(children, max_size=3).map(tuple)

    nested = extents
    for _ in range(depth):
        nested = st.one_of(extents, extend(nested))
    return nested.filter(lambda s: size_of(s) <= 256)


def size_of(shape: Any) -> int:
    result = 1
    for s in leaves_of(shape):
        result *= s
    return result


def unflatten_like(profile: Any, leaves: Iterator[Any]) -> Any:
    if isinstance(profile, tuple):
        return tuple(unflatten_like(p, leaves) for p in profile)
    return next(leaves)


@st.composite
def layouts(draw: Any, strides: Any = None, depth: int = 4, extents: Any = EXTENTS) -> Layout:
    """Generate layouts of any shape with arbitrary strides (default: 0 to 40)."""
    shape = draw(shapes(depth, extents))
    leaf = st.integers(0, 40) if strides is None else strides
    drawn = iter([draw(leaf) for _ in leaves_of(shape)])
    return Layout(shape, unflatten_like(shape, drawn))


signed_strides = st.integers(-20, 20)

axis_strides = st.builds(
    lambda a, b, c: a + E("thread", b) + E("value", c),
    st.integers(-3, 3),
    st.integers(-3, 9),
    st.integers(0, 9),
)


@st.composite
def compact_layouts(
    draw: Any, gaps: bool = False, depth: int = 3, extents: Any = EXTENTS
) -> Layout:
    """Generate injective layouts: leaves in random order, with optional gaps between them."""
    shape = draw(shapes(depth, extents))
    leaves = leaves_of(shape)
    order = draw(st.permutations(range(len(leaves))))
    strides = [0] * len(leaves)
    current = 1
    for k in order:
        if gaps:
            current *= draw(st.sampled_from([1, 1, 2, 3]))
        strides[k] = current
        current *= leaves[k]
    return Layout(shape, unflatten_like(shape, iter(strides)))


@st.composite
def digit_fragments(draw: Any) -> Layout:
    """Generate injective layouts onto the thread and value axes, with holes."""
    base = draw(compact_layouts(depth=2))
    leaves = leaves_of(base.shape)
    current = {"thread": 1, "value": 1}
    strides: dict[int, int | AxisSum] = {}
    for k in draw(st.permutations(range(len(leaves)))):
        axis = draw(st.sampled_from(["thread", "value"]))
        current[axis] *= draw(st.sampled_from([1, 1, 2, 3]))
        strides[k] = E(axis, current[axis])
        current[axis] *= leaves[k]
    flat = iter([strides[k] for k in range(len(leaves))])
    return Layout(base.shape, unflatten_like(base.shape, flat))
