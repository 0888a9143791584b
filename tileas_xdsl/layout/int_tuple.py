"""Integers and nested tuples of integers: the shapes, strides and coordinates of layouts.

Pure functions under pycute's names.  A *shape* is an `IntTuple`; a *stride* is a tuple congruent
to it whose leaves may also be `AxisSum`s; a coordinate is an integer or a tuple weakly congruent to
the shape.  Source: CUTLASS include/cute/int_tuple.hpp, stride.hpp, and python/pycute.
"""

from __future__ import annotations

from abc import ABC, ABCMeta
from collections.abc import Sequence
from itertools import chain
from math import prod
from typing import TYPE_CHECKING, Any, TypeAlias, TypeGuard

from tileas_xdsl.layout.axes import AxisSum, Offset
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.expr.expression import quotient, remainder
from tileas_xdsl.layout.integers import Symbolic, whole

if TYPE_CHECKING:
    from typing_extensions import TypeIs

IntTuple: TypeAlias = "int | tuple[IntTuple, ...]"
Stride: TypeAlias = "int | AxisSum | tuple[Stride, ...]"
Coord: TypeAlias = "int | tuple[Coord, ...] | None"


class _IntegerMeta(ABCMeta):
    def __subclasscheck__(cls, subclass: type) -> bool:
        return issubclass(subclass, int) and not issubclass(subclass, bool)

    def __instancecheck__(cls, instance: object) -> bool:
        return is_int(instance)


class Integer(ABC, metaclass=_IntegerMeta):
    """What counts as an integer here: `int`, but neither `bool` nor `float`."""


def is_int(x: object) -> TypeGuard[int]:
    """Whether `x` is an integer leaf."""
    return isinstance(x, int) and not isinstance(x, bool)


def is_tuple(x: object) -> TypeIs[tuple[Any, ...]]:
    """Whether `x` is an inner node."""
    return isinstance(x, tuple)


def wrap(t: Any) -> tuple[Any, ...]:
    """`t` as a tuple: a leaf becomes a tuple of one."""
    return t if is_tuple(t) else (t,)


def unwrap(t: Any) -> Any:
    """The only element of a tuple of one, else `t` itself."""
    return unwrap(t[0]) if is_tuple(t) and len(t) == 1 else t


def flat(t: Any) -> tuple[Any, ...]:
    """The leaves of `t`, left to right."""
    if not is_tuple(t):
        return (t,)
    leaves: list[Any] = []
    for x in t:
        if is_tuple(x):
            leaves.extend(flat(x))
        else:
            leaves.append(x)
    return tuple(leaves)


def signum(a: int) -> int:
    """-1, 0 or 1."""
    return (a > 0) - (a < 0)


def product(a: IntTuple) -> int:
    """The product of all leaves: how many coordinates a shape has."""
    if is_tuple(a):
        return prod(product(x) for x in a)
    return a if type(a) is int else whole(a, "an extent: a product is that of a shape")


def product_each(a: IntTuple) -> tuple[int, ...]:
    """The size of each top-level mode."""
    return tuple(product(x) for x in wrap(a))


def product_like(a: IntTuple, profile: IntTuple) -> IntTuple:
    """`a` with every subtree that stands under a leaf of `profile` replaced by its size."""
    if not is_tuple(profile):
        return product(a)
    return tuple(product_like(x, p) for x, p in zip_same(a, profile, "product_like"))


def tuple_sum(a: IntTuple) -> int:
    """The sum of all leaves."""
    return sum(flat(a))


def tuple_max(a: IntTuple) -> int:
    """The largest leaf."""
    return max(flat(a))


def inner_product(a: IntTuple, b: Stride) -> Any:
    """The sum of the products of the leaves of two congruent tuples."""
    if not is_tuple(a):
        return a * b
    return sum(inner_product(x, y) for x, y in zip_same(a, b, "inner_product"))


def zip_same(a: Any, b: Any, what: str) -> zip[tuple[Any, Any]]:
    """Pairs of the elements of two tuples of one length; `LayoutError` otherwise."""
    if not (is_tuple(a) and is_tuple(b) and len(a) == len(b)):
        raise LayoutError(f"{what}: {show(a)} and {show(b)} do not have the same profile")
    return zip(a, b, strict=True)


def show(t: Any) -> str:
    """CuTe's text of a tuple: `(4,(2,3))`, no blanks."""
    if is_tuple(t):
        return f"({','.join(show(x) for x in t)})"
    return "_" if t is None else str(t)


# Profiles


def rank(t: Any) -> int:
    """The number of top-level modes; 1 for a leaf."""
    return len(t) if is_tuple(t) else 1


def depth(t: Any) -> int:
    """How deep tuples nest; 0 for a leaf."""
    if not is_tuple(t):
        return 0
    return 1 + max((depth(x) for x in t), default=0)


def congruent(a: Any, b: Any) -> bool:
    """Whether two tuples have the same profile."""
    if not is_tuple(a) or not is_tuple(b):
        return not is_tuple(a) and not is_tuple(b)
    return len(a) == len(b) and all(congruent(x, y) for x, y in zip(a, b, strict=True))


def weakly_congruent(a: Any, b: Any) -> bool:
    """Whether `b` refines the profile of `a`: a leaf of `a` may be a subtree of `b`."""
    if not is_tuple(a):
        return True
    if not is_tuple(b) or len(a) != len(b):
        return False
    return all(weakly_congruent(x, y) for x, y in zip(a, b, strict=True))


def compatible(a: IntTuple, b: IntTuple) -> bool:
    """Whether every coordinate of shape `a` is also one of shape `b`, with equal sizes."""
    if not is_tuple(a):
        return a == product(b)
    if not is_tuple(b) or len(a) != len(b):
        return False
    return all(compatible(x, y) for x, y in zip(a, b, strict=True))


def evenly_divides(a: IntTuple, b: IntTuple) -> bool:
    """Whether tiles of shape `b` tile shape `a` without remainder, mode by mode."""
    if not is_tuple(b):
        return product(a) % b == 0
    if not is_tuple(a) or len(a) < len(b):
        return False
    return all(evenly_divides(x, y) for x, y in zip(a, b, strict=False))


# Arithmetic


def elem_scale(a: IntTuple, b: IntTuple) -> IntTuple:
    """`a` scaled leaf by leaf by the sizes of the matching parts of `b`."""
    if not is_tuple(a):
        return a * product(b)
    return tuple(elem_scale(x, y) for x, y in zip_same(a, b, "elem_scale"))


def ceil_div(a: IntTuple, b: IntTuple) -> IntTuple:
    """How many `b` cover `a`; an integer `b` divides a tuple from the left, as in CuTe."""
    if not is_tuple(a):
        return -(-a // product(b))
    if is_tuple(b):
        if len(b) > len(a):
            raise LayoutError(f"ceil_div: {show(b)} has more modes than {show(a)}")
        return tuple(ceil_div(x, y) for x, y in zip(a, (*b, *[1] * (len(a) - len(b))), strict=True))
    result: list[IntTuple] = []
    for x in a:
        result.append(ceil_div(x, b))
        b = -(-b // product(x))
    return tuple(result)


def round_up(a: IntTuple, b: IntTuple) -> IntTuple:
    """The least multiple of `b` that is at least `a`, leaf by leaf."""
    if not is_tuple(a):
        if is_tuple(b):
            raise LayoutError(f"round_up: {a} is one integer and {show(b)} a tuple")
        return -(-a // b) * b
    padded = (*wrap(b), *[1] * (len(a) - rank(b)))
    return tuple(round_up(x, y) for x, y in zip_same(a, padded, "round_up"))


def shape_div(a: IntTuple, b: IntTuple) -> IntTuple:
    """`a` divided by `b` from the left; of each pair met one must divide the other.

    >>> shape_div((3, 4), 6)
    (1, 2)
    """
    if is_tuple(a):
        if is_tuple(b):
            return tuple(shape_div(x, y) for x, y in zip_same(a, b, "shape_div"))
        result: list[IntTuple] = []
        for x in a:
            result.append(shape_div(x, b))
            b = product(shape_div(b, product(x)))
        return tuple(result)
    divisor = product(b)
    if divisor == 0 or (a % divisor and (a == 0 or divisor % a)):
        raise LayoutError(f"shape_div: neither of {a} and {divisor} divides the other")
    return -(-a // divisor)


def prefix_product(a: IntTuple, init: Any = 1) -> Any:
    """Exclusive prefix products, congruent to `a`: the compact column-major strides of a shape."""
    if not is_tuple(a):
        if is_tuple(init):
            raise LayoutError(f"prefix_product: {a} is one integer and {show(init)} a tuple")
        return init
    if is_tuple(init):
        return tuple(prefix_product(x, i) for x, i in zip_same(a, init, "prefix_product"))
    result: list[Any] = []
    for x in a:
        result.append(prefix_product(x, init))
        init = init * product(x)
    return tuple(result)


def filter_zeros(stride: Stride, shape: IntTuple) -> IntTuple:
    """`shape` with extent 1 wherever `stride` is 0."""
    if is_tuple(stride):
        return tuple(filter_zeros(d, s) for d, s in zip_same(stride, shape, "filter_zeros"))
    return 1 if stride == 0 else shape


# Order of coordinates


def lex_less(a: IntTuple, b: IntTuple) -> bool:
    """Lexicographic order: the first mode decides first."""
    return flat(a) < flat(b)


def colex_less(a: IntTuple, b: IntTuple) -> bool:
    """Colexicographic order: the last mode decides first, as a layout counts."""
    return flat(a)[::-1] < flat(b)[::-1]


def elem_less(a: IntTuple, b: IntTuple) -> bool:
    """Whether every leaf of `a` is less than its partner in `b`: is the coordinate in bounds?"""
    if not is_tuple(a) or not is_tuple(b):
        return product(a) < product(b)
    return all(elem_less(x, y) for x, y in zip_same(a, b, "elem_less"))


# Coordinates


def crd2idx(crd: Coord, shape: IntTuple, stride: Stride | None = None) -> Any:
    """The offset that `shape:stride` maps `crd` to; `stride` defaults to compact column-major.

    The last mode is unbounded, and a negative integer maps to minus the offset of its absolute
    value, as C++ division in CuTe makes it.
    """
    if is_tuple(crd):
        stride = prefix_product(shape) if stride is None else stride
        if not is_tuple(shape) or len(crd) != len(shape) or not is_tuple(stride):
            raise LayoutError(f"coordinate {show(crd)} does not fit shape {show(shape)}")
        return sum(crd2idx(c, s, d) for c, s, d in zip(crd, shape, stride, strict=True))
    index = crd if type(crd) is int else 0 if crd is None else whole(crd, "a coordinate")
    return _int2idx(index, shape, prefix_product(shape) if stride is None else stride)


def _int2idx(crd: int, shape: IntTuple, stride: Stride) -> Any:
    if isinstance(crd, Symbolic):
        return _symbolic_index(crd, flat(shape), flat(stride))
    if crd < 0:
        return -_int2idx(-crd, shape, stride)
    extents, steps = flat(shape), flat(stride)
    result: Any = 0
    for k in range(len(extents) - 1):
        crd, digit = divmod(crd, extents[k])
        result += digit * steps[k]
    return result + crd * steps[-1] if extents else result


def _symbolic_index(crd: Any, extents: tuple[Any, ...], steps: tuple[Any, ...]) -> Any:
    """As `_int2idx`: division that truncates maps a negative integer to minus its image."""
    result: Any = 0
    for extent, step in zip(extents[:-1], steps, strict=False):
        result += remainder(crd, extent) * step
        crd = quotient(crd, extent)
    return result + crd * steps[-1] if extents else result


def idx2crd(idx: IntTuple, shape: IntTuple, stride: Stride | None = None) -> IntTuple:
    """The coordinate in `shape` of the index `idx`: inverts `crd2idx` for compact strides."""
    if stride is None:
        stride = prefix_product(shape)
    if is_tuple(idx):
        if not is_tuple(shape) or len(idx) != len(shape) or not is_tuple(stride):
            raise LayoutError(f"index {show(idx)} does not fit shape {show(shape)}")
        return tuple(idx2crd(i, s, d) for i, s, d in zip(idx, shape, stride, strict=True))
    if is_tuple(shape):
        return tuple(idx2crd(idx, s, d) for s, d in zip_same(shape, stride, "idx2crd"))
    if not isinstance(stride, (int, Symbolic)):
        raise LayoutError(f"idx2crd: stride {show(stride)} is not an integer")
    return 0 if stride == 0 or shape == 1 else idx // stride % shape


def crd2crd(crd: IntTuple, dst_shape: IntTuple, src_shape: IntTuple | None = None) -> IntTuple:
    """`crd`, a coordinate of `src_shape`, as a coordinate of `dst_shape`, which must hold it."""
    if not is_tuple(crd):
        return _coordinate_of(crd, dst_shape)
    if is_tuple(dst_shape) and src_shape is None:
        return tuple(crd2crd(x, y) for x, y in zip_same(crd, dst_shape, "crd2crd"))
    if src_shape is None:
        raise LayoutError(f"crd2crd: {show(crd)} needs its own shape to become one integer")
    return _coordinate_of(crd2idx(crd, src_shape), dst_shape)


def _coordinate_of(idx: int, shape: IntTuple) -> IntTuple:
    if not 0 <= idx < product(shape):
        raise LayoutError(f"crd2crd: index {idx} is outside shape {show(shape)}")
    return idx2crd(idx, shape)


def increment(crd: IntTuple, shape: IntTuple) -> IntTuple:
    """The coordinate after `crd` in colexicographic order; wraps to 0 after the last."""
    return idx2crd((crd2idx(crd, shape) + 1) % product(shape), shape)


def compact_col_major(shape: IntTuple, current: int = 1) -> Any:
    """Strides that count the leftmost mode fastest."""
    return prefix_product(shape, current)


def compact_row_major(shape: IntTuple, current: int = 1) -> Any:
    """Strides that count the rightmost mode fastest."""
    if not is_tuple(shape):
        return current
    result: list[Any] = []
    for x in reversed(shape):
        result.append(compact_row_major(x, current))
        current *= product(x)
    return tuple(reversed(result))


def compact_order(shape: IntTuple, order: IntTuple) -> Any:
    """Compact strides that count modes by increasing `order`; equal orders count left first.

    `order` is weakly congruent to `shape`: a mode under one order leaf is column-major inside.
    """
    flat_order = flat(order)
    parts = _parts_under(shape, order)
    if len(parts) != len(flat_order):
        raise LayoutError(f"order {show(order)} does not fit shape {show(shape)}")
    strides: list[Any] = [None] * len(parts)
    current = 1
    for k in sorted(range(len(parts)), key=lambda k: flat_order[k]):
        strides[k] = prefix_product(parts[k], current)
        current *= product(parts[k])
    remaining = iter(strides)

    def rebuild(profile: IntTuple) -> Any:
        if is_tuple(profile):
            return tuple(rebuild(p) for p in profile)
        return next(remaining)

    return rebuild(order)


def _parts_under(shape: IntTuple, profile: IntTuple) -> list[IntTuple]:
    if not is_tuple(profile):
        return [shape]
    return [
        part for s, p in zip_same(shape, profile, "compact_order") for part in _parts_under(s, p)
    ]


def has_none(a: Any) -> bool:
    """Whether a coordinate keeps a mode whole (`None` is CuTe's underscore)."""
    if is_tuple(a):
        return any(has_none(x) for x in a)
    return a is None


def slice_(crd: Coord, trg: Any) -> Any:
    """What of `trg` stands under the `None`s of `crd`; the profile is kept, as in CuTe."""
    if is_tuple(crd):
        parts = [slice_(c, t) for c, t in zip_same(crd, trg, "slice_")]
        return tuple(chain.from_iterable(part for part in parts if part != ()))
    return (trg,) if crd is None else ()


def dice(crd: Coord, trg: Any) -> Any:
    """What of `trg` stands under the integers of `crd`: the rest of `slice_`."""
    if is_tuple(crd):
        parts = [dice(c, t) for c, t in zip_same(crd, trg, "dice")]
        return tuple(chain.from_iterable(part for part in parts if part != ()))
    return () if crd is None else (trg,)


def escan(a: Sequence[int], init: int = 1) -> tuple[int, ...]:
    """Exclusive scan by multiplication."""
    result: list[int] = []
    for x in a:
        result.append(init)
        init *= x
    return tuple(result)


def iscan(a: Sequence[int], init: int = 1) -> tuple[int, ...]:
    """Inclusive scan by multiplication."""
    return tuple(x * y for x, y in zip(a, escan(a, init), strict=True))


__all__ = [
    "Coord", "IntTuple", "Integer", "Offset", "Stride", "ceil_div", "colex_less",
    "compact_col_major", "compact_order", "compact_row_major", "compatible", "congruent",
    "crd2crd", "crd2idx", "depth", "dice", "elem_less", "elem_scale", "escan", "evenly_divides",
    "filter_zeros", "flat", "has_none", "idx2crd", "increment", "inner_product", "is_int",
    "is_tuple", "iscan", "lex_less", "prefix_product", "product", "product_each", "product_like",
    "rank", "round_up", "shape_div", "show", "signum", "slice_", "tuple_max", "tuple_sum",
    "unwrap", "weakly_congruent", "wrap", "zip_same",
]  # fmt: skip
