"""Vectors that begin between aligned ones, cut out of the two that contain them.

All threads shift by the same number of elements, so that it is computed once:

    %low, %high = 8 f16 from column 0, and from column 8
    %r = elements 5 to 12 of both                    permutations of the bytes of two words each

The same for all threads is a selector, not a predicate: ptxas moves a uniform predicate to another
one for each selection.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from xdsl.dialects import vector
from xdsl.dialects.builtin import VectorType, i32
from xdsl.ir import SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute_nvgpu import PrmtOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.units import BYTE_BITS, WORD_BITS
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    divide,
    i32_constant,
    modulo,
    multiply,
)
from tileas_xdsl.threads.registers.vector_values import element, element_type, joined

FIRST_WORD, NEXT_BYTES = 0x3210, 0x1111
"""The selector of the first of two words, and what selects the bytes behind others (PTX, prmt)."""


@dataclass(frozen=True)
class VectorCut:
    """Where a vector begins in two aligned ones, in each thread of the agent."""

    e: ThreadBuilder
    words: int
    """Of a vector."""
    far: Sequence[tuple[int, SSAValue]]
    """By a number of words, the selector of the first of two words, or of the other one if the
    vector is so many further on."""
    rest: SSAValue | None
    """The selector of a word that begins as many bytes in the first of two; None for none."""

    @staticmethod
    def of(
        e: ThreadBuilder, beyond: SSAValue, vector_bits: int, bits: int, known: int
    ) -> VectorCut:
        """The cut `beyond` elements of `bits` into the first vector; `known` bits divide that."""
        place = multiply(e, beyond, bits)
        # Of words that are known to be whole ones, or two, no part is moved.
        steps = [
            step
            for step in (2, 1)
            if 2 * step * WORD_BITS <= vector_bits and known <= WORD_BITS * step
        ]
        far = [
            (n, bytes_behind(e, modulo(e, divide(e, place, WORD_BITS * n), 2), 4)) for n in steps
        ]
        rest = (
            bytes_behind(e, divide(e, modulo(e, place, WORD_BITS), BYTE_BITS))
            if known < WORD_BITS
            else None
        )
        return VectorCut(e, vector_bits // WORD_BITS, far, rest)

    def cut_out(self, both: Sequence[SSAValue]) -> SSAValue:
        """The elements of two vectors that are those of one."""
        e, kind = self.e, element_type(both[0])
        whole = VectorType(i32, [2 * self.words])
        words = e.insert(vector.BitcastOp(joined(e, both), whole)).result
        found = [element(e, words, k) for k in range(2 * self.words)]
        for step, is_far in self.far:
            pairs = zip(found[:-step], found[step:], strict=True)
            found = [shifted_word(e, near, far, is_far) for near, far in pairs]
        if self.rest is not None:
            found = [shifted_word(e, low, high, self.rest) for low, high in pairwise(found)]
        made = joined(e, found[: self.words])
        type_ = VectorType(kind, [self.words * WORD_BITS // bits_of(kind)])
        return e.insert(vector.BitcastOp(made, type_)).result


def shifted_word(e: ThreadBuilder, low: SSAValue, high: SSAValue, bytes_: SSAValue) -> SSAValue:
    """Return the word of two that a selector (`bytes_behind`) means."""
    return e.insert(PrmtOp(low, high, bytes_)).result


def bytes_behind(e: ThreadBuilder, count: SSAValue, size: int = 1) -> SSAValue:
    """Return the selector of the word that is `count` times `size` bytes behind the first one."""
    return add(e, multiply(e, count, size * NEXT_BYTES), i32_constant(e, FIRST_WORD))
