"""Sums, extremes and shifts of packed integers, on words that hold two or four of them.

PTX has them of pairs of 16 bits.  Of bytes they are those of bytes 0 and 2, and of bytes 1 and 3,
each with eight bits in front of it:

    even, odd = w & 0x00ff00ff, prmt w by 0x4341         min.u16x2 of both, or a sum of 32 bits
    w         = prmt even, odd by 0x6240

Both stay apart from one operation to the next: what a permutation has put together is not taken
apart again.  Sums may fill the eight bits, which the permutation leaves out; before more than that
is carried they are put together first.  Differences are those of words whose upper bits are left
out, so that nothing is borrowed from one byte by the next:

    a - b  =  ((a | 0x80808080) - (b & 0x7f7f7f7f)) ^ ((a ^ ~b) & 0x80808080)

Shifts by a constant are those of words, without the bits that come from the integer beside:

    a >> 4 =  (w >> 4) & 0x0f0f0f0f

Source: H. S. Warren, Hacker's Delight, 2-18.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from xdsl.dialects import arith
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.backend.ptx.lowering.forms import Form
from tileas_xdsl.backend.ptx.lowering.lowering import Halves, Lowering
from tileas_xdsl.dialects import ptx
from tileas_xdsl.layout.units import BYTE_BITS

UPPER, REST = 0x80808080, 0x7F7F7F7F
"""The upper bit of each byte, and the other bits."""

EVEN = 0x00FF00FF
"""Bytes 0 and 2 of a word."""

EVERY_BYTE, EVERY_HALF = 0x01010101, 0x00010001
"""The lowest bit of each integer of a word."""

ODD, ZIPPED = 0x4341, 0x6240
"""The selections of `prmt` that take bytes 1 and 3, and that put two words together again."""

MAX_TERMS = 256
"""Bytes whose sum has 16 bits."""

Words = Callable[[Lowering, SSAValue, SSAValue], SSAValue]


def packed_binary(op: Operation, low: Lowering, form: Form) -> SSAValue | None:
    """Compute two or four integers in each register; None where they are computed one by one."""
    if not form.packed or form.kind != "b32":
        return None
    make = (PAIRS if form.bits == 16 else BYTES).get(type(op))
    return None if make is None else make(low, *map(low.value, op.operands))


def packed_shift(
    op: arith.ShLIOp | arith.ShRUIOp, low: Lowering, form: Form, by: int
) -> SSAValue | None:
    """Shift integers of words by a constant, in zeros; None where they are shifted one by one."""
    if not form.packed or form.kind != "b32" or not 0 < by < form.bits:
        return None
    whole = (1 << form.bits) - 1
    is_left = isinstance(op, arith.ShLIOp)
    kept = whole << by & whole if is_left else whole >> by
    mask = kept * (EVERY_BYTE if form.bits == BYTE_BITS else EVERY_HALF)
    amount, word = low.constant(by), low.value(op.lhs)
    moved = low.emit(ptx.ShlOp(word, amount, "b32") if is_left else ptx.ShrOp(word, amount, "u32"))
    return low.emit(ptx.AndOp(moved, low.constant(mask), "b32"))


def _sums_of_pairs(low: Lowering, a: SSAValue, b: SSAValue) -> SSAValue:
    return low.emit(ptx.AddOp(a, b, "s16x2"))


def _extremes_of_pairs(kind: type[ptx.BinaryOp], type_: str) -> Words:
    return lambda low, a, b: low.emit(kind(a, b, type_))


def _sums(low: Lowering, a: SSAValue, b: SSAValue) -> SSAValue:
    """Each half is a sum of words, into whose upper bytes it may grow."""
    terms = sum(low.apart[value].terms if value in low.apart else 1 for value in (a, b))
    most = MAX_TERMS if terms <= MAX_TERMS else 1
    pairs = zip(_halves(low, a, most), _halves(low, b, most), strict=True)
    even, odd = (low.emit(ptx.AddOp(x, y, "u32")) for x, y in pairs)
    return _together(low, even, odd, terms if most > 1 else 2)


def _differences(low: Lowering, a: SSAValue, b: SSAValue) -> SSAValue:
    full = low.emit(ptx.OrOp(a, low.constant(UPPER), "b32"))
    lower = low.emit(ptx.AndOp(b, low.constant(REST), "b32"))
    rest = low.emit(ptx.SubOp(full, lower, "u32"))
    bits = low.emit(ptx.XorOp(a, low.emit(ptx.NotOp(b, "b32")), "b32"))
    upper = low.emit(ptx.AndOp(bits, low.constant(UPPER), "b32"))
    return low.emit(ptx.XorOp(rest, upper, "b32"))


def _extremes(kind: type[ptx.BinaryOp]) -> Words:
    """Of unsigned bytes."""

    def made(low: Lowering, a: SSAValue, b: SSAValue) -> SSAValue:
        pairs = zip(_halves(low, a, 1), _halves(low, b, 1), strict=True)
        even, odd = (low.emit(kind(x, y, "u16x2")) for x, y in pairs)
        return _together(low, even, odd, 1)

    return made


def _extremes_of_signed(kind: type[ptx.BinaryOp]) -> Words:
    """With the upper bits flipped, signed bytes have the order of unsigned ones."""
    unsigned = _extremes(kind)

    def made(low: Lowering, a: SSAValue, b: SSAValue) -> SSAValue:
        upper = low.constant(UPPER)
        flipped = (low.emit(ptx.XorOp(value, upper, "b32")) for value in (a, b))
        return low.emit(ptx.XorOp(unsigned(low, *flipped), upper, "b32"))

    return made


def _together(low: Lowering, even: SSAValue, odd: SSAValue, terms: int) -> SSAValue:
    """Words of both halves, which are remembered."""
    made = low.emit(ptx.PrmtOp(even, odd, low.constant(ZIPPED), "b32"))
    low.apart[made] = Halves(even, odd, terms)
    return made


def _halves(low: Lowering, value: SSAValue, most: int) -> tuple[SSAValue, SSAValue]:
    """Bytes 0 and 2, and bytes 1 and 3, as sums of so many terms at most."""
    found = low.apart.get(value)
    if found is not None and found.terms <= most:
        return found.even, found.odd
    even = low.emit(ptx.AndOp(value, low.constant(EVEN), "b32"))
    odd = low.emit(ptx.PrmtOp(value, low.constant(0), low.constant(ODD), "b32"))
    return even, odd


PAIRS: Mapping[type[Operation], Words] = {
    arith.AddiOp: _sums_of_pairs,
    arith.MinUIOp: _extremes_of_pairs(ptx.MinOp, "u16x2"),
    arith.MaxUIOp: _extremes_of_pairs(ptx.MaxOp, "u16x2"),
    arith.MinSIOp: _extremes_of_pairs(ptx.MinOp, "s16x2"),
    arith.MaxSIOp: _extremes_of_pairs(ptx.MaxOp, "s16x2"),
}
BYTES: Mapping[type[Operation], Words] = {
    arith.AddiOp: _sums,
    arith.SubiOp: _differences,
    arith.MinUIOp: _extremes(ptx.MinOp),
    arith.MaxUIOp: _extremes(ptx.MaxOp),
    arith.MinSIOp: _extremes_of_signed(ptx.MinOp),
    arith.MaxSIOp: _extremes_of_signed(ptx.MaxOp),
}
