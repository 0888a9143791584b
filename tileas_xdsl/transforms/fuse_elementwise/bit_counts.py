"""Recognise how programs count the bits of a word, which is one instruction (`popc`).

    %a = x - (x >> 1 & 0x55555555)                 pairs of bits
    %b = (a & 0x33333333) + (a >> 2 & 0x33333333)  nibbles
    %c = b + (b >> 4) & 0x0f0f0f0f                 bytes
    %n = c * 0x01010101 >> 24                      their sum
    // becomes
    %n = math.ctpop %x

Tile IR has no such operation, so that every program writes this out (H. S. Warren, Hacker's
Delight, 5-1; LLVM recognises the same).  Shifts may extend the sign: masks drop what it fills.
"""

from __future__ import annotations

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import i32, i64
from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from tileas_xdsl.dialects.ir_queries import uniform_integer
from tileas_xdsl.dialects.nv_tileas.spaces import element_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of

WORDS = (i32, i64)
"""Integers whose bits an instruction counts."""

_PAIRS, _NIBBLES, _BYTES, _ONES = 0x55, 0x33, 0x0F, 0x01
"""Bytes of the masks of every step."""

Shift = arith.ShRUIOp | arith.ShRSIOp


class CountBits(RewritePattern):
    """Replace the last shift of a population count."""

    root_kinds = (arith.ShRUIOp, arith.ShRSIOp)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if not isinstance(op, Shift):
            return
        element = element_of(op.result.type) or op.result.type
        if element not in WORDS:
            return
        bits = bits_of(element)
        if uniform_integer(op.rhs) != bits - 8 or (word := _counted(op.lhs, bits)) is None:
            return
        rewriter.replace(op, math.CtPopOp(word))


def _counted(product: SSAValue, bits: int) -> SSAValue | None:
    """Return the word of which a value has the number of bits in its highest byte."""
    sums = _with_constant(product, arith.MuliOp, _ONES, bits)
    masked = None if sums is None else _with_constant(sums, arith.AndIOp, _BYTES, bits)
    nibbles = None if masked is None else _added_to_shifted(masked, 4)
    pairs = None if nibbles is None else _added_masked(nibbles, bits)
    return None if pairs is None else _less_half(pairs, bits)


def _with_constant(
    value: SSAValue, kind: type[arith.MuliOp | arith.AndIOp], byte: int, bits: int
) -> SSAValue | None:
    """Return the other operand of an operation on a constant of equal bytes."""
    op = value.owner
    if not isinstance(op, kind):
        return None
    wanted = int.from_bytes(bytes([byte]) * (bits // 8), "little")
    for one, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        if uniform_integer(other) == wanted:
            return one
    return None


def _shifted(value: SSAValue, by: int) -> SSAValue | None:
    op = value.owner
    if not isinstance(op, Shift) or uniform_integer(op.rhs) != by:
        return None
    return op.lhs


def _added_to_shifted(value: SSAValue, by: int) -> SSAValue | None:
    """Return `x` of `x + (x >> by)`."""
    op = value.owner
    if not isinstance(op, arith.AddiOp):
        return None
    for one, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
        if _shifted(other, by) is one:
            return one
    return None


def _added_masked(value: SSAValue, bits: int) -> SSAValue | None:
    """Return `x` of `(x & 0x33..) + (x >> 2 & 0x33..)`."""
    op = value.owner
    if not isinstance(op, arith.AddiOp):
        return None
    found = [_with_constant(side, arith.AndIOp, _NIBBLES, bits) for side in op.operands]
    for one, other in (found, found[::-1]):
        if one is not None and other is not None and _shifted(other, 2) is one:
            return one
    return None


def _less_half(value: SSAValue, bits: int) -> SSAValue | None:
    """Return `x` of `x - (x >> 1 & 0x55..)`."""
    op = value.owner
    if not isinstance(op, arith.SubiOp):
        return None
    masked = _with_constant(op.rhs, arith.AndIOp, _PAIRS, bits)
    return op.lhs if masked is not None and _shifted(masked, 1) is op.lhs else None
