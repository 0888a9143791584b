"""Layouts composed with a swizzle or with another layout: `outer o offset o inner`.

The function is `outer(offset + inner(coordinate))`. A tile of 8 rows of 128 bytes under CuTe's
`Swizzle<3,4,3>`, which xors bits 7 to 9 of an offset into bits 4 to 6:

>>> from tileas_xdsl.layout.swizzle import Swizzle
>>> tile = ComposedLayout(Swizzle(3, 4, 3), 0, Layout((8, 128), (128, 1)))
>>> print(tile)
S<3,4,3> o 0 o (8,128):(128,1)
>>> [tile((row, 0)) for row in range(4)]
[0, 144, 288, 432]

Row 1 begins at 128 + 16: the same column of eight rows falls into eight different 16-byte units.
Source: CUTLASS include/cute/layout_composed.hpp, swizzle_layout.hpp.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import wraps
from typing import Any, Concatenate, ParamSpec, Protocol, overload

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.axes import ANONYMOUS, coefficient_of
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import Coord, IntTuple, has_none
from tileas_xdsl.layout.integers import Symbolic
from tileas_xdsl.layout.layout import Layout, LayoutBase, as_layout
from tileas_xdsl.layout.swizzle import Swizzle


@dataclass(frozen=True, slots=True)
class ComposedLayout(LayoutBase):
    """The function `outer(offset + inner(c))`; `outer` counts what `inner` counts."""

    outer: Swizzle | Layout
    offset: int
    inner: Layout | ComposedLayout

    def __post_init__(self) -> None:
        named = [axis for axis in self.inner.axes() if axis != ANONYMOUS]
        if named:
            raise LayoutError(
                f"{self.inner} has named axes ({', '.join(named)}): "
                f"a composed layout counts plain offsets"
            )

    @property
    def layoutA(self) -> Layout | ComposedLayout:  # noqa: N802 (pycute's name)
        """pycute's name of `inner`."""
        return self.inner

    @property
    def layoutB(self) -> Swizzle | Layout:  # noqa: N802 (pycute's name)
        """pycute's name of `outer`."""
        return self.outer

    @property
    def shape(self) -> IntTuple:
        """The shape of the domain."""
        return self.inner.shape

    @property
    def rank(self) -> int:
        """The number of top-level modes."""
        return self.inner.rank

    @property
    def depth(self) -> int:
        """How deep the modes nest."""
        return self.inner.depth

    @property
    def swizzle(self) -> Swizzle:
        """The swizzle on the outside; `LayoutError` where a layout stands there."""
        if isinstance(self.outer, Swizzle):
            return self.outer
        raise LayoutError(f"{self} has no swizzle on the outside")

    def size(self) -> int:
        """How many coordinates the layout maps."""
        return self.inner.size()

    def axes(self) -> tuple[str, ...]:
        """Return the axes of the offsets: those of an outer layout, else the anonymous one."""
        return self.outer.axes() if isinstance(self.outer, Layout) else (ANONYMOUS,)

    def cosize(self) -> int:
        """An upper bound of the span of 0 and the offsets: for a swizzle, in whole periods."""
        if isinstance(self.outer, Layout):
            return self.outer.cosize()
        low, high = _bounds(self)
        return high + 1 - min(0, low)

    def index(self, crd: Coord) -> Any:
        """The offset of a coordinate."""
        return self.outer(self.offset + self._inner_index(crd))

    def slice(self, crd: Coord) -> ComposedLayout:
        """The sub-layout of the modes that stand under `None` in `crd`."""
        offset = self._inner_index(crd) if isinstance(self.inner, Layout) else 0
        return ComposedLayout(self.outer, self.offset + offset, self.inner.slice(crd))

    def _inner_index(self, crd: Coord) -> Any:
        offset = self.inner.index(crd)
        assert isinstance(offset, (int, Symbolic))
        return offset

    def __call__(self, *crd: Coord) -> Any:
        """The offset of a coordinate, or the sub-layout where the coordinate has `None`."""
        one: Coord = crd[0] if len(crd) == 1 else crd
        return self.slice(one) if has_none(one) else self.index(one)

    def __len__(self) -> int:
        return self.rank

    def __getitem__(self, i: int) -> ComposedLayout:
        return ComposedLayout(self.outer, self.offset, self.inner[i])

    def __iter__(self) -> Iterator[ComposedLayout]:
        return (self[i] for i in range(self.rank))

    def __str__(self) -> str:
        return f"{self.outer} o {self.offset} o {self.inner}"


AnyLayout = Layout | ComposedLayout


def _bounds(layout: AnyLayout) -> tuple[int, int]:
    """Bounds of the smallest and of the largest offset of `layout`."""
    if isinstance(layout, Layout):
        reaches = [(s - 1) * coefficient_of(d, ANONYMOUS) for s, d in layout.leaves()]
        return sum(min(0, reach) for reach in reaches), sum(max(0, reach) for reach in reaches)
    if isinstance(layout.outer, Layout):
        return _bounds(layout.outer)
    low, high = (layout.offset + bound for bound in _bounds(layout.inner))
    if not layout.outer.bits:
        return low, high
    period = layout.outer.size()
    return low // period * period, (high // period + 1) * period - 1


def make_composed_layout(
    outer: Swizzle | Layout, offset: int, inner: Layout | ComposedLayout
) -> ComposedLayout:
    """`outer o offset o inner`."""
    return ComposedLayout(outer, offset, inner)


def get_swizzle_portion(layout: AnyLayout) -> Swizzle:
    """The swizzle of a layout; the identity for a plain one."""
    return layout.swizzle if isinstance(layout, ComposedLayout) else Swizzle(0, 0, 0)


def get_nonswizzle_portion(layout: AnyLayout) -> AnyLayout:
    """The layout without its swizzle."""
    return layout.inner if isinstance(layout, ComposedLayout) else layout


P = ParamSpec("P")


class DomainOperation(Protocol[P]):
    """An operation on the domain of a layout: what is composed on the outside stays as it is."""

    @overload
    def __call__(
        self, layout: Layout | IntTuple, /, *args: P.args, **kwargs: P.kwargs
    ) -> Layout: ...
    @overload
    def __call__(
        self, layout: ComposedLayout, /, *args: P.args, **kwargs: P.kwargs
    ) -> ComposedLayout: ...


def lifted(operation: Callable[Concatenate[Layout, P], Layout]) -> DomainOperation[P]:
    """`operation`, also on composed layouts, where it acts on the innermost plain layout.

    A shape stands for its compact layout.
    """

    @wraps(operation)
    def lift(layout: Any, /, *args: P.args, **kwargs: P.kwargs) -> Any:
        if isinstance(layout, Layout):
            return operation(layout, *args, **kwargs)
        return lift_domain(lambda plain: operation(as_layout(plain), *args, **kwargs), layout)

    return lift


def lift_domain(operation: Callable[[Any], Any], layout: Any) -> Any:
    """`operation(layout)`, below everything that is composed on the outside."""
    if isinstance(layout, ComposedLayout):
        inner = lift_domain(operation, layout.inner)
        return ComposedLayout(layout.outer, layout.offset, inner)
    return operation(layout)


def innermost(layout: Any) -> Any:
    """The plain layout at the bottom of a composed one; anything else as it is."""
    return innermost(layout.inner) if isinstance(layout, ComposedLayout) else layout
