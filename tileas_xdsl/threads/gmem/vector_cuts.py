"""Vectors that begin between aligned ones, cut out of the two that contain them.

All threads shift by the same number of elements, so that it is computed once:

    %low, %high = 8 f16 from column 0, and from column 8
    %r = elements 5 to 12 of both                    selects by words, then a funnel shift in words
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import VectorType, i32, i64
from xdsl.ir import SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    divide,
    extend_to_i64,
    i64_constant,
    is_equal,
    modulo,
    multiply,
)
from tileas_xdsl.threads.registers.vector_values import element, element_type, joined

WORD = 32


@dataclass(frozen=True)
class VectorCut:
    """Where a vector begins in two aligned ones, in each thread of the agent."""

    e: ThreadBuilder
    words: int
    """Of a vector."""
    far: Sequence[tuple[int, SSAValue]]
    """By a number of words, whether the vector is so many further on."""
    rest: SSAValue | None
    """The bits in a word that it is further on, `i64`; None for none."""

    @staticmethod
    def of(
        e: ThreadBuilder, beyond: SSAValue, vector_bits: int, bits: int, known: int
    ) -> VectorCut:
        """The cut `beyond` elements of `bits` into the first vector; `known` bits divide that."""
        place = multiply(e, beyond, bits)
        # Of words that are known to be whole ones, or two, no part is moved.
        steps = [step for step in (2, 1) if 2 * step * WORD <= vector_bits and known <= WORD * step]
        far = [(n, is_equal(e, modulo(e, divide(e, place, WORD * n), 2), 1)) for n in steps]
        rest = extend_to_i64(e, modulo(e, place, WORD)) if known < WORD else None
        return VectorCut(e, vector_bits // WORD, far, rest)

    def cut_out(self, both: Sequence[SSAValue]) -> SSAValue:
        """The elements of two vectors that are those of one."""
        e, kind = self.e, element_type(both[0])
        whole = VectorType(i32, [2 * self.words])
        words = e.insert(vector.BitcastOp(joined(e, both), whole)).result
        found = [element(e, words, k) for k in range(2 * self.words)]
        for step, is_far in self.far:
            pairs = zip(found[:-step], found[step:], strict=True)
            found = [e.insert(arith.SelectOp(is_far, far, near)).result for near, far in pairs]
        if self.rest is not None:
            found = [shifted_word(e, low, high, self.rest) for low, high in pairwise(found)]
        made = joined(e, found[: self.words])
        type_ = VectorType(kind, [self.words * WORD // bits_of(kind)])
        return e.insert(vector.BitcastOp(made, type_)).result


def shifted_word(e: ThreadBuilder, low: SSAValue, high: SSAValue, bits: SSAValue) -> SSAValue:
    """The word `bits`, below 32, behind the beginning of two words: a funnel shift."""
    top = e.insert(arith.ShLIOp(extend_to_i64(e, high), i64_constant(e, WORD))).result
    bottom = e.insert(arith.ExtUIOp(low, i64)).result
    whole = e.insert(arith.OrIOp(top, bottom)).result
    return e.insert(arith.TruncIOp(e.insert(arith.ShRUIOp(whole, bits)).result, i32)).result
