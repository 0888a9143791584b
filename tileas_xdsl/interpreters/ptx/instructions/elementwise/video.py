"""Video instructions.  Source: PTX ISA 9.7.17 (parts of words) and 9.7.18 (vectors in words).

A scalar one computes on bytes or halves that selectors name, exactly, and saturates to what is
written; then it combines the result with a third operand, or replaces a part of that:

    vadd.s32.u32.s32.sat %d.h0, %a.b1, %b.h1, %c;

No GPU since sm_50 has them; ptxas writes other instructions for them, whose results differ from the
pseudo-code of the PTX ISA in corners.  These are the results of ptxas 13.5 on an H200
(`tests/hardware/cases/video.py`).

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
from tileas_xdsl.interpreters.ptx.parsing.syntax import Minus, Operand, Selected

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
    operand = operand.value if isinstance(operand, Minus) else operand
    return (operand.register, operand.part) if isinstance(operand, Selected) else (operand, "")


def _words(f: ConvergenceGroup, slots: Sequence[int]) -> list[Array]:
    return [spread(f.r[slot], f.warpgroup.lanes, WORD) for slot in slots]


# Parts of words


def _bit_field(site: Site, part: str) -> tuple[int, int]:
    """Return where the part of a word begins, and its width: `b2` is bits 16 to 23."""
    if not part:
        return 0, 32
    bits = 8 if part[0] == "b" else 16
    if len(part) != 2 or part[0] not in "bh" or int(part[1]) * bits >= 32:
        site.fail(f".{part} is no byte or half of a word")
    return int(part[1]) * bits, bits


SHIFTS = ("vshl", "vshr")
WRAPPED_BITS = 34
"""Bits that are left of a saturated `vshl` before it saturates."""


def build_scalar(site: Site) -> Step:
    """One result of parts of two words."""
    function = _scalar_function(site)
    saturates = site.flag("sat")
    second = next((name for name in SECOND if site.flag(name)), None)
    is_set = site.name == "vset"
    signs = [site.modifiers.pop(0) == "s32" for _ in range(2 if is_set else 3)]
    # The result of vset is unsigned, but it is compared with c as values of A's type are.
    to_signed = signs[0] if is_set else signs.pop(0)
    site.no_more()
    (target, selected), *sources = [_split(site, index) for index in range(len(site.operands))]
    if len(sources) != (2 if second is None and not selected else 3):
        site.fail("a third operand goes with a second operation or a part of the result")
    fields = [_bit_field(site, part) for _, part in sources[:2]]
    start, bits = _bit_field(site, selected)
    dest = site.destination(target, U32)
    slots = [site.source(operand, U32) for operand, _ in sources]
    name = site.name
    is_word = name in ("vadd", "vsub") or (saturates and name in SHIFTS)

    def step(f: ConvergenceGroup) -> None:
        words = _words(f, slots)
        a, b = (
            _signed(word >> np.uint32(at), width, signed)
            for word, (at, width), signed in zip(words, fields, signs, strict=False)
        )
        found = function(a, b).astype(np.int64)
        if saturates:
            found = _saturated(name, found, bits, to_signed)
        if second is not None:
            found = _signed(found, 32, True) if is_word else found
            found = _combined(second, found, words[2], to_signed)
        elif selected:
            mask = (1 << bits) - 1
            kept = words[2].astype(np.int64) & ~(mask << start)
            found = kept | (found & mask) << start
        f.r[dest] = (found & 0xFFFF_FFFF).astype(np.uint32)

    return step


def _saturated(name: str, found: Array, bits: int, signed: bool) -> Array:
    """Saturate a result of 64 bits that is written to a part of `bits`.

    A part gets at most the largest number of its type, which negative results exceed as they are
    compared unsigned.  Shifts saturate to words, whatever is written.
    """
    if name in SHIFTS:
        return _clamped(_signed(found, WRAPPED_BITS, True), 32, signed)
    if bits < 32:
        largest = (1 << (bits - signed)) - 1
        return np.where((found < 0) | (found > largest), largest, found)
    return _clamped(found, 32, True) if signed else np.maximum(found, 0)


def _combined(second: str, found: Array, word: Array, signed: bool) -> Array:
    """Combine a result of 64 bits with c, extended to as many; both are compared unsigned where
    the type of the result is."""
    c = _signed(word, 32, signed)
    if signed or second == "add":
        return SECOND[second](found, c)
    return SECOND[second](found.view(np.uint64), c.view(np.uint64)).view(np.int64)


SCALES = {"shr7": 7, "shr15": 15}


def build_mad(site: Site) -> Step:
    """`vmad`: the product of parts of two words, plus a word."""
    increments, saturates = site.flag("po"), site.flag("sat")
    scale = next((SCALES[name] for name in SCALES if site.flag(name)), 0)
    _, *signs = [site.modifiers.pop(0) == "s32" for _ in range(3)]
    site.no_more()
    site.count(4)
    (target, selected), (a, a_part), (b, b_part), (c, c_part) = (_split(site, i) for i in range(4))
    if selected or c_part:
        site.fail("only the factors are parts of words")
    minus = [isinstance(operand, Minus) for operand in site.operands[1:]]
    negates = minus[0] != minus[1]
    if negates + minus[2] + increments > 1:
        site.fail("either the product or c is negated, and neither with .po")
    is_signed = any(signs) or negates or minus[2]
    fields = [_bit_field(site, part) for part in (a_part, b_part)]
    dest = site.destination(target, U32)
    slots = [site.source(operand, U32) for operand in (a, b, c)]

    def step(f: ConvergenceGroup) -> None:
        words = _words(f, slots)
        # Whole words, and c, are signed whatever their type.
        left, right = (
            _signed(word >> np.uint32(at), width, signed or width == 32)
            for word, (at, width), signed in zip(words, fields, signs, strict=False)
        )
        product, more = left * right, _signed(words[2], 32, True)
        found = (-product if negates else product) + (-more if minus[2] else more) + increments
        found = found >> scale if is_signed else (found.view(np.uint64) >> scale).view(np.int64)
        if saturates:
            found = _clamped(found, 32, is_signed)
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
    Semantics("vmad", build_mad),
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
