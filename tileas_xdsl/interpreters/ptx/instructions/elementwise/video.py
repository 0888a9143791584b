"""Video instructions.  Source: PTX ISA 9.7.17 (parts of words) and 9.7.18 (vectors in words).

A scalar one computes on bytes or halves that selectors name, exactly, and saturates to what is
written; then it combines the result with a third operand, or replaces a part of that:

    vadd.s32.u32.s32.sat %d.h0, %a.b1, %b.h1, %c;

One on vectors takes its elements from both words (`%a.h30`: the low half of %a, the high one of
%b); elements beside its mask are those of the third operand.  With `.add` the elements are summed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, spread
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES
from tileas_xdsl.interpreters.ptx.parsing.syntax import Operand, Selected

WORD = np.dtype(np.uint32)
U32 = TYPES["u32"]
Binary = Callable[[Array, Array], Array]

COMPARISONS: Mapping[str, Binary] = {
    "eq": np.equal, "ne": np.not_equal, "lt": np.less, "le": np.less_equal,
    "gt": np.greater, "ge": np.greater_equal,
}  # fmt: skip
SECOND: Mapping[str, Binary] = {"add": np.add, "min": np.minimum, "max": np.maximum}


def _average(a: Array, b: Array) -> Array:
    total = a + b
    return np.where(total >= 0, total + 1, total) >> 1


FUNCTIONS: Mapping[str, Binary] = {
    "vadd": np.add,
    "vsub": np.subtract,
    "vabsdiff": lambda a, b: np.abs(a - b),
    "vmin": np.minimum,
    "vmax": np.maximum,
    "vavrg": _average,
}


def _signed(words: Array, bits: int, signed: bool) -> Array:
    """Return the low bits of words as numbers."""
    low = words.astype(np.int64) & ((1 << bits) - 1)
    return low - ((low >> (bits - 1) & 1) << bits) if signed else low


def _clamped(numbers: Array, bits: int, signed: bool) -> Array:
    least = -(1 << (bits - 1)) if signed else 0
    return np.clip(numbers, least, least + (1 << bits) - 1)


def _split(site: Site, index: int) -> tuple[Operand, str]:
    """Return an operand and its selector."""
    operand = site.operands[index]
    return (operand.register, operand.part) if isinstance(operand, Selected) else (operand, "")


def _words(f: ConvergenceGroup, slots: Sequence[int]) -> list[Array]:
    return [spread(f.r[slot], f.warpgroup.lanes, WORD) for slot in slots]


# Parts of words


def _place(site: Site, part: str) -> tuple[int, int]:
    """Return where the part of a word begins, and its width: `b2` is bits 16 to 23."""
    if not part:
        return 0, 32
    bits = 8 if part[0] == "b" else 16
    if len(part) != 2 or part[0] not in "bh" or int(part[1]) * bits >= 32:
        site.fail(f".{part} is no byte or half of a word")
    return int(part[1]) * bits, bits


def build_scalar(site: Site) -> Step:
    """One result of parts of two words."""
    is_set = site.name == "vset"
    function = _scalar_function(site)
    saturates = site.flag("sat")
    second = next((name for name in SECOND if site.flag(name)), None)
    signs = [site.modifiers.pop(0) == "s32" for _ in range(2 if is_set else 3)]
    to_signed = False if is_set else signs.pop(0)
    site.no_more()
    (target, selected), *sources = [_split(site, index) for index in range(len(site.operands))]
    if len(sources) != (2 if second is None and not selected else 3):
        site.fail("a third operand goes with a second operation or a part of the result")
    places = [_place(site, part) for _, part in sources[:2]]
    start, bits = _place(site, selected)
    dest = site.destination(target, U32)
    slots = [site.source(operand, U32) for operand, _ in sources]

    def step(f: ConvergenceGroup) -> None:
        words = _words(f, slots)
        a, b = (
            _signed(word >> np.uint32(at), width, signed)
            for word, (at, width), signed in zip(words, places, signs, strict=False)
        )
        found = function(a, b).astype(np.int64)
        if saturates:
            found = _clamped(found, bits, to_signed)
        if second is not None:
            found = _signed(found, 32, to_signed)
            found = SECOND[second](found, _signed(words[2], 32, to_signed))
        elif selected:
            mask = (1 << bits) - 1
            kept = words[2].astype(np.int64) & ~(mask << start)
            found = kept | (found & mask) << start
        f.r[dest] = (found & 0xFFFF_FFFF).astype(np.uint32)

    return step


def _scalar_function(site: Site) -> Binary:
    if site.name == "vset":
        return COMPARISONS[site.choose(COMPARISONS)]
    if site.name not in ("vshl", "vshr"):
        return FUNCTIONS[site.name]
    wraps = site.choose(("clamp", "wrap")) == "wrap"
    left = site.name == "vshl"

    def shift(a: Array, b: Array) -> Array:
        count = b & 31 if wraps else np.minimum(b, 32)
        return a << count if left else a >> count

    return shift


# Vectors of 16 and of 8 bits


def build_vector(site: Site) -> Step:
    """Each element of two vectors of 16 or four of 8 bits."""
    count = int(site.name[-1])
    bits = 32 // count
    is_set = site.name.startswith("vset")
    function = COMPARISONS[site.choose(COMPARISONS)] if is_set else FUNCTIONS[site.name[:-1]]
    saturates, sums = site.flag("sat"), site.flag("add")
    signs = [site.modifiers.pop(0) == "s32" for _ in range(2 if is_set else 3)]
    to_signed = False if is_set else signs.pop(0)
    site.no_more()
    site.count(4)
    (target, mask), (a, a_part), (b, b_part), (c, _) = [_split(site, i) for i in range(4)]
    written = _elements(site, mask, range(count), count, count)
    taken = [
        _elements(site, part, range(first, first + count), 2 * count, count, every=True)
        for part, first in ((a_part, 0), (b_part, count))
    ]
    dest = site.destination(target, U32)
    slots = [site.source(operand, U32) for operand in (a, b, c)]

    def step(f: ConvergenceGroup) -> None:
        words = _words(f, slots)
        found = words[2].astype(np.int64)
        for i in written:
            operands = (
                _signed(words[e // count] >> np.uint32(bits * (e % count)), bits, signed)
                for e, signed in zip((taken[0][i], taken[1][i]), signs, strict=True)
            )
            one = function(*operands).astype(np.int64)
            if sums:
                found = found + one
                continue
            one = _clamped(one, bits, to_signed) if saturates else one
            ones = (1 << bits) - 1
            found = found & ~(ones << bits * i) | (one & ones) << bits * i
        f.r[dest] = (found & 0xFFFF_FFFF).astype(np.uint32)

    return step


def _elements(
    site: Site, part: str, default: Sequence[int], limit: int, count: int, *, every: bool = False
) -> Sequence[int]:
    """Return the elements that a selector or a mask names, the lowest first: `h30` is 0 and 3."""
    if not part:
        return default
    named = [int(digit) for digit in reversed(part[1:]) if digit.isdigit()]
    wrong = part[0] != ("h" if count == 2 else "b") or len(named) != len(part) - 1
    if wrong or any(e >= limit for e in named) or (every and len(named) != count):
        site.fail(f".{part} does not select elements of two vectors of {count}")
    return named


TABLE = (
    *(
        Semantics(name, build_scalar)
        for name in ("vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset")
    ),
    *(
        Semantics(f"{name}{count}", build_vector)
        for count in (2, 4)
        for name in (*FUNCTIONS, "vset")
    ),
)
