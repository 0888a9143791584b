"""Answers of the CuTe DSL to questions of the layout algebra, judged beside ours.

Two answers agree if they are written alike.  Where we refuse, CuTe's answer must contradict what
its documentation defines the operation to be: `R(i) == A(B(i))` for a composition, a tile and its
repetitions that reach every element for divides, disjoint offsets for complements and products.
Where CuTe refuses, any answer of ours must meet that definition.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

from tileas_xdsl.layout import cute as algebra
from tileas_xdsl.layout.cute import Layout
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.output.text import parse_cute_layout


@dataclass(frozen=True)
class Question:
    """An operation and its arguments: layouts, tuples and numbers as text, tilers in brackets."""

    operation: str
    arguments: tuple[str, ...]

    def __str__(self) -> str:
        return "\t".join((self.operation, *self.arguments))


def as_arguments(question: Question, layout: Callable[[Any, Any], Any]) -> list[Any]:
    """Return the arguments as values, layouts made by `layout`."""
    return [_value(text, layout) for text in question.arguments]


def _value(text: str, layout: Callable[[Any, Any], Any]) -> Any:
    if text.startswith("["):
        return tuple(_value(part, layout) for part in text[1:-1].split("; "))
    if ":" in text:
        found = parse_cute_layout(text)
        return layout(found.shape, found.stride)
    return ast.literal_eval(text.replace(")", ",)"))


def answer(question: Question) -> str:
    """Return our answer as CuTe prints it, `!` for a refusal."""
    arguments = as_arguments(question, Layout)
    try:
        if question.operation == "crd2idx":
            return str(arguments[1](arguments[0]))
        return str(getattr(algebra, question.operation)(*arguments)).replace(" ", "")
    except LayoutError:
        return "!"


def judged(question: Question, theirs: str) -> tuple[str, str]:
    """Return the verdict, `different` or why there is no difference, and our answer."""
    ours = answer(question)
    if ours == theirs:
        return ("refused by both" if ours == "!" else "equal"), ours
    if ours == "!":
        meets = meets_definition(question, theirs)
        return ("different" if meets else "no answer by CuTe's own definition"), ours
    if theirs == "!":
        return ("refused by CuTe alone" if meets_definition(question, ours) else "different"), ours
    return "different", ours


def meets_definition(question: Question, text: str) -> bool:
    """Whether an answer is what the operation is defined to give, by tables of all offsets."""
    try:
        return _meets_definition(question, text)
    except LayoutError:  # extents of 0, offsets without a complement
        return False


def _meets_definition(question: Question, text: str) -> bool:
    arguments = as_arguments(question, Layout)
    name = question.operation
    if name.startswith("max_common"):
        return _is_common(arguments, text)
    result = parse_cute_layout(text)
    checks: dict[str, Callable[[Sequence[Any], Layout], bool]] = {
        "left_inverse": lambda a, r: all(r(a[0](i)) == i for i in range(a[0].size())),
        "complement": _is_complement,
        "composition": lambda a, r: _composes(a[0], a[1], r),
        "recast_layout": _is_recast,
        "tile_to_shape": _tiles,
    }
    if name in checks:
        return checks[name](arguments, result)
    if name.endswith("_divide"):
        return _divides(arguments[0], arguments[1], name, result)
    return _reproduces(arguments[0], arguments[1], name, result)


def _offsets(layout: Layout) -> list[int]:
    return [layout(i) for i in range(layout.size())]


def _is_common(arguments: Sequence[Layout], text: str) -> bool:
    count = parse_cute_layout(text).size() if ":" in text else int(text)
    inverses = [algebra.right_inverse(a) for a in arguments]
    return all(inverse.size() >= count for inverse in inverses) or count == 1


def _is_complement(arguments: Sequence[Any], result: Layout) -> bool:
    block, rest = _offsets(algebra.filter(arguments[0])), _offsets(result)
    sums = {a + b for a in block for b in rest}
    return len(sums) == len(block) * len(rest) >= arguments[1]


def _composes(a: Layout, b: Any, result: Layout) -> bool:
    if isinstance(b, tuple):
        pairs = zip(a, b, result, strict=False)
        return all(_composes(mode, tile, part) for mode, tile, part in pairs)
    right = b if isinstance(b, Layout) else Layout(b)
    return all(result(i) == a(right(i)) for i in range(right.size()))


def _is_recast(arguments: Sequence[Any], result: Layout) -> bool:
    layout, old, new = arguments
    bits = {x * old + bit for x in _offsets(layout) for bit in range(old)}
    return bits == {x * new + bit for x in _offsets(result) for bit in range(new)}


def _tiles(arguments: Sequence[Any], result: Layout) -> bool:
    block = set(_offsets(arguments[0]))
    repeats = result.size() // arguments[0].size()
    return len(set(_offsets(result))) == repeats * len(block)


def _divides(a: Layout, tiler: Any, name: str, result: Layout) -> bool:
    """Whether the result walks `a` by tiles: through a tile, then from tile to tile.

    A tuple of tilers does so mode by mode; `logical_divide` keeps each mode's two walks together,
    the others walk through all modes of a tile first.
    """
    by_mode = isinstance(tiler, tuple)
    tiled = [
        (mode, tile if isinstance(tile, Layout) else Layout(tile))
        for mode, tile in zip(a if by_mode else (a,), tiler if by_mode else (tiler,), strict=False)
    ]
    rests = [algebra.complement(tile, algebra.size(mode)) for mode, tile in tiled]
    left = [mode for mode in tuple(a)[len(tiled) :]] if by_mode else []
    walks = [range(tile.size()) for _, tile in tiled] + [range(rest.size()) for rest in rests]
    n = len(tiled)
    order = [k for i in range(n) for k in (i, n + i)] if name[0] == "l" else list(range(2 * n))
    walks += [range(mode.size()) for mode in left]
    order += range(2 * n, len(walks))
    found: list[int] = []
    for reversed_indices in product(*(walks[k] for k in reversed(order))):
        at = dict(zip(reversed(order), reversed_indices, strict=True))
        steps = [mode(tile(at[i]) + rests[i](at[n + i])) for i, (mode, tile) in enumerate(tiled)]
        found.append(sum(steps) + sum(mode(at[2 * n + i]) for i, mode in enumerate(left)))
    return found == _offsets(result)


def _reproduces(block: Layout, tiler: Layout, name: str, result: Layout) -> bool:
    """Whether `result` is copies of `block` that start where its complement is, as `tiler` says."""
    starts = algebra.complement(block, algebra.size(block) * algebra.cosize(tiler))
    copies = [starts(tiler(i)) for i in range(tiler.size())]
    sums = [start + x for start in copies for x in _offsets(block)]
    if name in ("blocked_product", "raked_product"):
        return sorted(sums) == sorted(_offsets(result))
    return sums == _offsets(result)
