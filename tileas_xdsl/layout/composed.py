"""Layouts composed with a swizzle or with another layout: `outer o offset o inner`.

Source: CUTLASS include/cute/layout_composed.hpp, swizzle_layout.hpp.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Protocol, overload

from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import Coord, IntTuple, has_none
from tileas_xdsl.layout.layout import Layout, LayoutBase
from tileas_xdsl.layout.swizzle import Swizzle


@dataclass(frozen=True, slots=True)
class ComposedLayout(LayoutBase):
    """The function `outer(offset + inner(c))`; `outer` counts what `inner` counts."""

    outer: Swizzle | Layout
    offset: int
    inner: Layout | ComposedLayout

    @property
    def shape(self) -> IntTuple:
        """The shape of the domain."""
        return self.inner.shape

    @property
    def rank(self) -> int:
        """The number of top-level modes."""
        return self.inner.rank

    @property
    def swizzle(self) -> Swizzle:
        """The swizzle on the outside; `LayoutError` where a layout stands there."""
        if isinstance(self.outer, Swizzle):
            return self.outer
        raise LayoutError(f"{self} has no swizzle on the outside")

    def size(self) -> int:
        """How many coordinates the layout maps."""
        return self.inner.size()

    def cosize(self) -> int:
        """An upper bound of the offsets: for a swizzle, whole periods that the layout touches."""
        reach = self.offset + self.inner.cosize()
        if isinstance(self.outer, Layout):
            return self.outer.cosize()
        if not self.outer.bits:
            return reach
        period = self.outer.size()
        return -(-reach // period) * period

    def index(self, crd: Coord) -> int:
        """The offset of a coordinate."""
        inner = self.offset + self._inner_index(crd)
        return self.outer(inner)

    def slice(self, crd: Coord) -> ComposedLayout:
        """The sub-layout of the modes that stand under `None` in `crd`."""
        offset = self._inner_index(crd) if isinstance(self.inner, Layout) else 0
        return ComposedLayout(self.outer, self.offset + offset, self.inner.slice(crd))

    def _inner_index(self, crd: Coord) -> int:
        offset = self.inner.index(crd)
        if not isinstance(offset, int):
            raise LayoutError(f"{self}: offsets along named axes cannot be composed with")
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


class DomainOperation(Protocol):
    """An operation on the domain of a layout: what is composed on the outside stays as it is."""

    @overload
    def __call__(self, layout: Layout, /, *args: Any) -> Layout: ...
    @overload
    def __call__(self, layout: ComposedLayout, /, *args: Any) -> ComposedLayout: ...


def lifted(operation: Callable[..., Layout]) -> DomainOperation:
    """`operation`, also on composed layouts, where it acts on the innermost plain layout."""

    def lift(layout: Any, /, *args: Any) -> Any:
        if isinstance(layout, ComposedLayout):
            return ComposedLayout(layout.outer, layout.offset, lift(layout.inner, *args))
        return operation(layout, *args)

    lift.__name__ = operation.__name__
    lift.__doc__ = operation.__doc__
    return lift
