"""Rearrange modes: the same operations for tuples and, on shape and stride together, for layouts.

>>> print(group(Layout((2, 3, 4)), 0, 2))
((2,3),4):((1,2),6)
>>> print(select(Layout((2, 3, 4)), 2, 0))
(4,2):(6,1)
>>> zip2_by(((8, 4), (16, 2), 5), (0, 0))
((8, 16), (4, 2, 5))

On a composed layout they act on the innermost plain layout, which alone has modes. Source: CUTLASS
include/cute/algorithm/tuple_algorithms.hpp and layout.hpp.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from tileas_xdsl.layout import int_tuple
from tileas_xdsl.layout.composed import AnyLayout, ComposedLayout, lift_domain
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import Coord, IntTuple, is_tuple, show, wrap, zip_same
from tileas_xdsl.layout.layout import Layout, plain_layout, rank, trusted

T = TypeVar("T", bound="AnyLayout | tuple[Any, ...] | int")

TRIVIAL = Layout(1, 0)
"""The mode that padding adds: one coordinate at offset 0."""


def _both(t: Any, f: Callable[[Any], Any]) -> Any:
    """`f` on a tuple, on the shape and stride of a layout, below what is composed outside."""

    def on_plain(x: Any) -> Any:
        return trusted(f(x.shape), f(x.stride)) if isinstance(x, Layout) else f(x)

    return lift_domain(on_plain, t)


def _pair(t: Any, x: Any, f: Callable[[Any, Any], Any], what: str) -> Any:
    """`f` on two tuples or layouts; `x` is a plain layout where `t` is a layout."""

    def on_plain(t: Any) -> Any:
        if not isinstance(t, Layout):
            return f(t, x)
        mode = plain_layout(x, what)
        return trusted(f(t.shape, mode.shape), f(t.stride, mode.stride))

    return lift_domain(on_plain, t)


def flatten(t: Any) -> Any:
    """All leaves as one tuple; a leaf stays a tuple of one, as in pycute."""
    return _both(t, int_tuple.flat)


def unflatten(t: Any, profile: IntTuple) -> Any:
    """The leaves of `t` in the profile of `profile`."""

    def build(leaves: Any) -> Any:
        remaining = list(int_tuple.flat(leaves))
        if len(remaining) != len(int_tuple.flat(profile)):
            raise LayoutError(
                f"unflatten: {show(leaves)} does not have the leaves of {show(profile)}"
            )
        remaining.reverse()

        def take_like(p: Any) -> Any:
            return tuple(take_like(x) for x in p) if is_tuple(p) else remaining.pop()

        return take_like(profile)

    return _both(t, build)


def append(t: T, x: Any) -> T:
    """`t` with the mode `x` at the end."""
    return _pair(t, x, lambda a, b: (*wrap(a), b), "append")


def prepend(t: T, x: Any) -> T:
    """`t` with the mode `x` at the front."""
    return _pair(t, x, lambda a, b: (b, *wrap(a)), "prepend")


def pad_rank(layout: Layout, n: int) -> Layout:
    """`layout` with trivial modes appended up to rank `n` (CuTe's `append<N>`)."""
    for _ in range(n - layout.rank):
        layout = append(layout, TRIVIAL)
    return layout


def insert(t: T, i: int, x: Any) -> T:
    """`t` with the mode `x` before mode `i`."""
    return _pair(t, x, lambda a, b: (*wrap(a)[:i], b, *wrap(a)[i:]), "insert")


def remove(t: T, i: int) -> T:
    """`t` without mode `i`."""
    _check_mode(t, i)
    return _both(t, lambda a: (*wrap(a)[:i], *wrap(a)[i + 1 :]))


def replace(t: T, i: int, x: Any) -> T:
    """`t` with mode `i` replaced by `x`."""
    _check_mode(t, i)
    return _pair(t, x, lambda a, b: (*wrap(a)[:i], b, *wrap(a)[i + 1 :]), "replace")


def take(t: T, begin: int, end: int) -> T:
    """Modes `begin` to `end` (exclusive); a single mode is unwrapped as in CuTe's `take`."""
    if not 0 <= begin < end <= rank(t):
        raise LayoutError(f"take: modes {begin} to {end} of a rank-{rank(t)} value")
    return _both(t, lambda a: wrap(a)[begin:end])


def select(t: T, *modes: int) -> T:
    """The modes `modes`, in that order."""
    for i in modes:
        _check_mode(t, i)
    return _both(t, lambda a: tuple(wrap(a)[i] for i in modes))


def group(t: T, begin: int, end: int) -> T:
    """Modes `begin` to `end` (exclusive) as one nested mode."""
    if not 0 <= begin <= end <= rank(t):
        raise LayoutError(f"group: modes {begin} to {end} of a rank-{rank(t)} value")
    return _both(t, lambda a: (*wrap(a)[:begin], wrap(a)[begin:end], *wrap(a)[end:]))


def repeat(x: Any, n: int) -> tuple[Any, ...]:
    """`n` times `x`."""
    return (x,) * n


def repeat_like(profile: Any, x: Any) -> Any:
    """`x` at every leaf of `profile`."""
    return tuple(repeat_like(p, x) for p in profile) if is_tuple(profile) else x


def zip_modes(a: T, b: T) -> T:
    """Modes of two values of one rank in pairs: `((a0,b0),(a1,b1),...)` (CuTe's `zip`)."""
    if isinstance(a, ComposedLayout):
        plain_layout(a, "zip_modes")
    return _pair(a, b, lambda x, y: tuple(zip_same(wrap(x), wrap(y), "zip_modes")), "zip_modes")


def zip2_by(t: Any, guide: Any) -> Any:
    """Gather the pairs at the terminals of `guide` into `((firsts...),(seconds..., rest...))`.

    Source: CUTLASS tuple_algorithms.hpp `zip2_by`.
    """
    if not is_tuple(guide):
        if not is_tuple(t) or len(t) != 2:
            raise LayoutError(f"zip2_by: {show(t)} is not a pair")
        return t
    if not is_tuple(t) or len(t) < len(guide):
        raise LayoutError(f"zip2_by: {show(t)} has fewer modes than its guide")
    pairs = [zip2_by(x, g) for x, g in zip(t, guide, strict=False)]
    return (
        tuple(pair[0] for pair in pairs),
        (*(pair[1] for pair in pairs), *t[len(guide) :]),
    )


def dice(crd: Coord, t: Any) -> Any:
    """The modes of a tuple or layout that stand under integers of `crd`: the rest of a slice."""
    return _both(t, lambda a: int_tuple.dice(crd, a))


def domain_offset(crd: Coord, layout: AnyLayout) -> tuple[Any, Any]:
    """`layout` and the offset that moves its origin to `crd`; a composed layout keeps it inside."""
    if not isinstance(layout, ComposedLayout):
        return layout, layout.index(crd)
    inner, offset = domain_offset(crd, layout.inner)
    return ComposedLayout(layout.outer, layout.offset + offset, inner), 0


def _check_mode(t: Any, i: int) -> None:
    if not 0 <= i < rank(t):
        raise LayoutError(f"mode {i} of a rank-{rank(t)} value")
