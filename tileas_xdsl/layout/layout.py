"""The one layout class: CuTe's `shape:stride` with integer and named-axis strides.

The same class is a pycute layout, a TMA coordinate layout (`1@0`, `1@1`), a register fragment
(`@thread`, `@value`), a TMEM layout (`@lane`, `@column`) and an MMA atom's operand.  Replication is
a digit of an extra input mode.  Source: CUTLASS include/cute/layout.hpp.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterable, Iterator
from typing import Any, final

from tileas_xdsl.layout import int_tuple
from tileas_xdsl.layout.axes import ANONYMOUS, AxisSum, E, Offset, coefficient_of, terms_of
from tileas_xdsl.layout.errors import CongruenceError, LayoutError
from tileas_xdsl.layout.int_tuple import Coord, IntTuple, Stride, is_tuple, product, show
from tileas_xdsl.layout.integers import Symbolic, whole


class LayoutBase:
    """What `is_layout` accepts: plain and composed layouts."""

    __slots__ = ()


def is_layout(x: object) -> bool:
    """Whether `x` is a plain or a composed layout."""
    return isinstance(x, LayoutBase)


@final
class Layout(LayoutBase):
    """An immutable function from coordinates to offsets, `shape:stride`.

    `shape` is a nested tuple of extents (at least 1), `stride` a congruent tuple of integers or
    `AxisSum`s; without it the layout is compact and column-major.  Calling it with an integer or a
    coordinate gives the offset; `None` in a coordinate keeps that mode and gives a sub-layout.

    >>> Layout((4, 8), (8, 1))(3, 5)
    29
    """

    __slots__ = ("_axes", "_hash", "_leaves", "_size", "shape", "stride")

    shape: IntTuple
    stride: Stride
    _size: int | None
    _hash: int | None
    _leaves: tuple[tuple[int, Offset], ...] | None
    _axes: tuple[str, ...] | None

    def __init__(self, shape: IntTuple, stride: Stride | None = None) -> None:
        self.shape = _checked_shape(shape)
        if stride is None:
            self.stride = int_tuple.prefix_product(self.shape)
        else:
            self.stride = _checked_stride(stride, self.shape)
        self._size = self._hash = self._leaves = self._axes = None

    # What it is

    @property
    def rank(self) -> int:
        """The number of top-level modes."""
        return int_tuple.rank(self.shape)

    @property
    def depth(self) -> int:
        """How deep the modes nest."""
        return int_tuple.depth(self.shape)

    def size(self) -> int:
        """How many coordinates the layout maps."""
        if self._size is None:
            self._size = product(self.shape)
        return self._size

    def cosize(self) -> int:
        """The length of the interval of offsets that the layout spans; integer strides only."""
        for d in int_tuple.flat(self.stride):
            if isinstance(d, AxisSum):
                raise LayoutError(
                    f"{self} has named axes: ask for its extents instead of its cosize"
                )
        return self.extents().get(ANONYMOUS, 1)

    def extents(self) -> dict[str, int]:
        """For each axis, the length of the interval that the layout spans on it."""
        spans: dict[str, int] = {}
        for s, d in self.leaves():
            for axis, k in terms_of(d):
                spans[axis] = spans.get(axis, 1) + (s - 1) * abs(k)
        return spans

    def axes(self) -> tuple[str, ...]:
        """The axes that the strides mention, in order of appearance; `""` is the anonymous one."""
        if self._axes is None:
            axes = (axis for _, d in self.leaves() for axis, _ in terms_of(d))
            self._axes = tuple(dict.fromkeys(axes))
        return self._axes

    def leaves(self) -> tuple[tuple[int, Offset], ...]:
        """The `(extent, stride)` of every leaf, left to right."""
        if self._leaves is None:
            self._leaves = tuple(_leaf_pairs(self.shape, self.stride))
        return self._leaves

    def along(self, axis: str) -> Layout:
        """The integer layout of this layout's component on one axis."""
        return Layout(self.shape, map_leaves(lambda d: coefficient_of(d, axis), self.stride))

    # Where it maps

    def index(self, crd: Coord) -> Offset:
        """The offset of a coordinate."""
        return int_tuple.crd2idx(crd, self.shape, self.stride)

    def slice(self, crd: Coord) -> Layout:
        """The sub-layout of the modes that stand under `None` in `crd`."""
        if crd is None:
            return self
        return Layout(int_tuple.slice_(crd, self.shape), int_tuple.slice_(crd, self.stride))

    def __call__(self, *crd: Coord) -> Any:
        """The offset of a coordinate, or the sub-layout where the coordinate has `None`."""
        one: Coord = crd[0] if len(crd) == 1 else crd
        return self.slice(one) if int_tuple.has_none(one) else self.index(one)

    # As a tuple of modes

    def __len__(self) -> int:
        return self.rank

    def __getitem__(self, i: int) -> Layout:
        if isinstance(self.shape, tuple) and isinstance(self.stride, tuple):
            return trusted(self.shape[i], self.stride[i])
        if i not in (0, -1):
            raise IndexError(f"mode {i} of the rank-1 layout {self}")
        return self

    def __iter__(self) -> Iterator[Layout]:
        return (self[i] for i in range(self.rank))

    # As a value

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Layout) and self.shape == other.shape and self.stride == other.stride
        )

    def __hash__(self) -> int:
        if self._hash is None:
            self._hash = hash((self.shape, self.stride))
        return self._hash

    def __str__(self) -> str:
        return f"{show(self.shape)}:{show(self.stride)}"

    def __repr__(self) -> str:
        return f"Layout({self.shape!r}, {self.stride!r})"


def trusted(shape: Any, stride: Any) -> Layout:
    """`Layout(shape, stride)` for parts of layouts, which need no checking."""
    layout = object.__new__(Layout)
    layout.shape = shape
    layout.stride = stride
    layout._size = layout._hash = None  # pyright: ignore[reportPrivateUsage]
    layout._leaves = layout._axes = None  # pyright: ignore[reportPrivateUsage]
    return layout


def _leaf_pairs(shape: Any, stride: Any) -> list[tuple[int, Offset]]:
    if not is_tuple(shape):
        return [(shape, stride)]
    pairs: list[tuple[int, Offset]] = []
    for s, d in zip(shape, stride, strict=True):
        if is_tuple(s):
            pairs.extend(_leaf_pairs(s, d))
        else:
            pairs.append((s, d))
    return pairs


def _checked_shape(shape: Any) -> IntTuple:
    if is_tuple(shape):
        return tuple([_checked_shape(x) for x in shape])
    extent = whole(shape, "an extent of a layout")
    if not isinstance(extent, Symbolic) and extent < 1:
        raise LayoutError(f"extent {extent} of a layout is not positive")
    return extent


def _checked_stride(stride: Any, shape: IntTuple) -> Stride:
    if not is_tuple(shape):
        return stride if isinstance(stride, AxisSum) else whole(stride, "a stride of a layout")
    if not is_tuple(stride) or len(stride) != len(shape):
        raise CongruenceError(f"stride {show(stride)} is not congruent to shape {show(shape)}")
    return tuple([_checked_stride(d, s) for d, s in zip(stride, shape, strict=True)])


def map_leaves(f: Callable[[Any], Any], t: Any) -> Any:
    """Apply a function to the leaves of a nested tuple."""
    return tuple(map_leaves(f, x) for x in t) if is_tuple(t) else f(t)


# Construction


def make_layout(*layouts: Any) -> Layout:
    """One layout with each of `layouts` as a mode; also takes one iterable of layouts."""
    modes: Iterable[Any] = layouts
    if len(layouts) == 1 and not isinstance(layouts[0], LayoutBase):
        modes = layouts[0]
    modes = tuple(modes)
    for mode in modes:
        if not isinstance(mode, Layout):
            plain_layout(mode, "make_layout")
    return trusted(tuple([m.shape for m in modes]), tuple([m.stride for m in modes]))


def as_layout(x: Layout | IntTuple) -> Layout:
    """`x` itself, or the compact layout of the shape `x`."""
    if isinstance(x, Layout):
        return x
    if isinstance(x, LayoutBase):
        raise LayoutError(f"{x} is composed where a plain layout is needed")
    return Layout(x)


def plain_layout(x: Any, operation: str) -> Layout:
    """`x`, which must be a plain layout: the error names the operation that needs it."""
    if isinstance(x, Layout):
        return x
    reason = "is composed" if isinstance(x, LayoutBase) else "is no layout"
    raise LayoutError(f"{operation}: {x} {reason}; it needs a plain layout")


def layout_for(x: Any, operation: str) -> Layout:
    """A plain layout as it is, the compact layout of a shape; composed ones are refused."""
    return plain_layout(x, operation) if isinstance(x, LayoutBase) else Layout(x)


def make_ordered_layout(shape: IntTuple, order: IntTuple) -> Layout:
    """The compact layout that counts the modes of `shape` by increasing `order`."""
    return Layout(shape, int_tuple.compact_order(shape, order))


def make_identity_layout(shape: IntTuple) -> Layout:
    """The layout that maps a coordinate to itself: strides `1@0`, `1@1`, nested as `1@1@0`."""

    def basis(s: IntTuple, path: str) -> Stride:
        if not is_tuple(s):
            return E(path) if path else 1
        return tuple(basis(x, f"{i}@{path}" if path else str(i)) for i, x in enumerate(s))

    return Layout(shape, basis(shape, ""))


def _shape_of(x: Any) -> Any:
    return x.shape if isinstance(x, LayoutBase) else x  # pyright: ignore[reportUnknownVariableType, reportAttributeAccessIssue, reportUnknownMemberType]


def rank(x: Any) -> int:
    """The number of top-level modes of a layout or a tuple; 1 for a leaf."""
    return int_tuple.rank(_shape_of(x))


def depth(x: Any) -> int:
    """How deep a layout or a tuple nests; 0 for a leaf."""
    return int_tuple.depth(_shape_of(x))


def congruent(a: Any, b: Any) -> bool:
    """Whether two layouts or tuples have the same profile; of a layout its shape counts."""
    return int_tuple.congruent(_shape_of(a), _shape_of(b))


def weakly_congruent(a: Any, b: Any) -> bool:
    """Whether `b` refines the profile of `a`; of a layout its shape counts."""
    return int_tuple.weakly_congruent(_shape_of(a), _shape_of(b))


def compatible(a: Any, b: Any) -> bool:
    """Whether every coordinate of `a` is also one of `b`; of a layout its shape counts."""
    return int_tuple.compatible(_shape_of(a), _shape_of(b))


def size(x: Any) -> int:
    """The number of coordinates of a layout or a shape."""
    return product(_shape_of(x))


def cosize(layout: Any) -> int:
    """The length of the interval of offsets that a layout spans."""
    return layout.cosize() if isinstance(layout, LayoutBase) else Layout(layout).cosize()  # pyright: ignore[reportUnknownVariableType, reportAttributeAccessIssue, reportUnknownMemberType]


def coshape(layout: Layout) -> Any:
    """The extents of the codomain: an integer, or one extent per coordinate mode `@0, @1, ...`."""
    layout = layout_for(layout, "coshape")
    spans = layout.extents()
    if set(spans) <= {ANONYMOUS}:
        return spans.get(ANONYMOUS, 1)
    if not all(axis.isdigit() for axis in spans):
        raise LayoutError(f"the axes of {layout} are not coordinate modes: ask for its extents")
    return tuple(spans.get(str(i), 1) for i in range(1 + builtins.max(int(a) for a in spans)))


def coprofile(layout: Layout) -> Any:
    """0 in the profile of the codomain: an integer, or one 0 for each coordinate mode."""
    return map_leaves(lambda _: 0, coshape(layout))


def transform_layout(a: Layout, b: Any, f: Any) -> Layout:
    """`f` applied to the modes that `a` and `b` share; further modes of the longer one are kept."""
    a, b = layout_for(a, "transform_layout"), layout_for(b, "transform_layout")
    common = min(len(a), len(b))
    longer = a if len(a) > common else b
    return make_layout(
        *(f(a[i], b[i]) for i in range(common)), *(longer[i] for i in range(common, len(longer)))
    )
