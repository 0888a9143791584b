"""The pass `expand-int-to-float`: small integers become 16-bit floats by bits below an exponent.

    %s = arith.shrsi %w, dense<[0, 16]> : vector<2xi32>     // %w is one word twice
    %q = arith.andi %s, dense<15> : vector<2xi32>
    %d = arith.subi %q, dense<8> : vector<2xi32>
    %f = sitofp %d : vector<2xi32> to vector<2xf16>

becomes, for both halves of a register at once,

    %b = (%w & 0x000f000f) ^ 0x64006400                     // 1024 + q
    %f = %b - 1032.0                                        // q - 8

An integer `u` of at most as many bits as a significand stores, below the bits of the power of two
whose last place counts one, is that power plus `u`: 1024 of f16, 128 of bf16.  Where the last bit
of `u` is a sign it is flipped, which adds a power of two as well.  Both are subtracted again;
nothing is rounded, and zero is +0, as of a conversion.  A difference of two such integers is that
of the two sums.  Otherwise an element takes a shift, a mask, a subtraction and a conversion each,
and half of an instruction that packs two of them.

The 16 bits of a pair are picked out of their words by one shift where both are apart by 16 bits in
one word, else by one permutation of bytes of the shifted words.

Source: the converters of CUTLASS (`numeric_conversion.h`) and Marlin, for one order of nibbles
each; here any shifts and masks that `analysis/values/bit_fields.py` follows.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field

from xdsl.context import Context
from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import ModuleOp, VectorType, bf16, f16, i8, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.bit_fields import (
    BitField,
    Element,
    Span,
    constant_of,
    field_of,
    span_of,
)
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operands_of
from tileas_xdsl.dialects.cute import MakeFragmentOp, MapFragmentOp, SliceFragmentOp
from tileas_xdsl.dialects.cute.types.elements import as_vector, element_of, length_of
from tileas_xdsl.dialects.cute_nvgpu import PrmtOp
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.xdsl_ops import extraction
from tileas_xdsl.layout.units import BYTE_BITS, WORD_BITS
from tileas_xdsl.transforms.math_functions.expression_builder import Scope, Value

SIGNIFICANDS: Mapping[Attribute, int] = {f16: 10, bf16: 7}
"""Bits of a significand that are stored, by float."""

EXPONENTS: Mapping[Attribute, int] = {f16: 0x6400, bf16: 0x4300}
"""The bits of the power of two whose last place counts one."""

HALF = 16

PAIR = 2
"""Elements of a register."""

BOTH_HALVES = 0x10001


@dataclass(frozen=True)
class Term:
    """An integer of each element that is added or subtracted."""

    value: SSAValue
    span: Span


@dataclass(frozen=True)
class Sum:
    """A conversion of a term, less another one or nothing, plus a constant."""

    op: MapFragmentOp
    float: Attribute
    first: Term
    second: Term | None
    constant: int

    @property
    def span(self) -> Span:
        """What holds both terms, so that they are apart by no power of two."""
        return self.first.span if self.second is None else self.first.span.joined(self.second.span)

    @property
    def is_exact(self) -> bool:
        """Whether all numbers on the way are floats."""
        bits = SIGNIFICANDS[self.float]
        return self.span.bits <= bits and abs(self.constant) < 1 << (bits - 1)


@dataclass(frozen=True)
class ExpandIntToFloat(ModulePass):
    """Convert fragments of integers that are known to be small by putting bits below an exponent.

    Bytes that are converted whole stay: their lowering converts four of a register at once.
    """

    name = "expand-int-to-float"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for each in instances_in(op, MapFragmentOp):
            found = _sum_of(each)
            if found is not None and found.is_exact and length_of(each.inputs[0]) >= PAIR:
                _expand(found)


def _sum_of(op: MapFragmentOp) -> Sum | None:
    """Read a fragment that is converted to floats; None for any other body."""
    first, last = op.body.block.first_op, op.body.block.last_op
    if not isinstance(first, arith.SIToFPOp | arith.UIToFPOp) or first.next_op is not last:
        return None
    element, value = element_of(first.result.type), op.inputs[0]
    if element not in SIGNIFICANDS or first.input is not op.body.block.args[0]:
        return None
    if Element(value).bits > WORD_BITS:
        return None
    signed = isinstance(first, arith.SIToFPOp)
    return _terms(op, element, value) if signed or not _span(value).signed else None


def _terms(op: MapFragmentOp, element: Attribute, value: SSAValue) -> Sum | None:
    owner, whole = value.owner, Sum(op, element, Term(value, _span(value)), None, 0)
    if not isinstance(owner, arith.AddiOp | arith.SubiOp):
        return None if _is_byte(value) else whole
    sign = 1 if isinstance(owner, arith.AddiOp) else -1
    left, right = operands_of(owner)
    if (number := _splat(right)) is not None:
        return Sum(op, element, Term(left, _span(left)), None, sign * number)
    if sign > 0 and (number := _splat(left)) is not None:
        return Sum(op, element, Term(right, _span(right)), None, number)
    if sign > 0:
        return None
    return Sum(op, element, Term(left, _span(left)), Term(right, _span(right)), 0)


def _is_byte(value: SSAValue) -> bool:
    """Whether all of a byte is converted, as it is in a register with three others."""
    return element_of(value.type) == i8 and _span(value) == Span(BYTE_BITS, signed=True)


def _span(value: SSAValue) -> Span:
    spans = [span_of(Element(value, k)) for k in range(length_of(value))]
    found = spans[0]
    for span in spans[1:]:
        found = found.joined(span)
    return found


def _splat(value: SSAValue) -> int | None:
    """Return the number that all elements are."""
    found = {constant_of(Element(value, k)) for k in range(length_of(value))}
    return found.pop() if len(found) == 1 else None


def _expand(found: Sum) -> None:
    op = found.op
    writer = _Writer(found.float, found.span, lambda new: _insert(new, op))
    result = writer.biased(found.first.value)
    if found.second is None:
        result = result - float(writer.bias - found.constant)
    else:
        result = result - writer.biased(found.second.value)
    op.outputs[0].replace_all_uses_with(result.ssa)
    Rewriter.erase_op(op)


def _insert(new: Operation, before: Operation) -> None:
    new.location = before.location
    Rewriter.insert_op(new, InsertPoint.before(before))


@dataclass
class _Writer:
    """Emits the floats `bias + u` of integers `u` of one span."""

    float: Attribute
    span: Span
    insert: Callable[[Operation], object]
    shifted: dict[tuple[Element, int], SSAValue] = field(
        default_factory=dict[tuple[Element, int], SSAValue]
    )
    """Words that were shifted to the right, which several elements are bits of."""
    extended: dict[Element, SSAValue] = field(default_factory=dict[Element, SSAValue])
    """Elements that are narrower than a word, each in one of its own."""
    words: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """Fragments of narrower elements as fragments of words."""

    @property
    def sign(self) -> int:
        """The bit that is flipped, 0 without a sign."""
        return 1 << (self.span.bits - 1) if self.span.signed else 0

    @property
    def bias(self) -> int:
        """What the floats are larger by than the integers."""
        return (1 << SIGNIFICANDS[self.float]) + self.sign

    def biased(self, value: SSAValue) -> Value:
        """Return the floats of all elements."""
        count = length_of(value)
        elements = [Element(value, k) for k in range(count)]
        elements += elements[-1:] * (count % PAIR)
        fields = [field_of(element, self.span.bits) for element in elements]
        pairs = list(zip(fields[::PAIR], fields[1::PAIR], strict=True))
        unique = {pair: k for k, pair in enumerate(dict.fromkeys(pairs))}
        floats = self._floats([self._word(*pair) for pair in unique])
        parts = [self._cut(floats, PAIR * unique[pair], PAIR) for pair in pairs]
        whole = self._made(MakeFragmentOp(parts))
        whole = whole if count % PAIR == 0 else self._cut(whole, 0, count)
        return Scope(self.insert, count).take(whole)

    def _floats(self, words: Sequence[SSAValue]) -> SSAValue:
        """Put the low bits of both halves of words below the exponent."""
        bits = Scope(self.insert, len(words)).take(self._made(MakeFragmentOp(words)))
        mask, exponent = (1 << self.span.bits) - 1, EXPONENTS[self.float] | self.sign
        made = (bits & mask * BOTH_HALVES) ^ exponent * BOTH_HALVES
        type_ = VectorType(self.float, [PAIR * len(words)])
        return self._made(vector.BitcastOp(made.ssa, type_))

    def _word(self, first: BitField, second: BitField) -> SSAValue:
        """The word whose halves begin with the bits of two elements."""
        first, second = self._of_word(first), self._of_word(second)
        if first.element == second.element and second.offset == first.offset + HALF:
            return self._shifted(first.element, first.offset)
        (a, lower), (b, upper) = self._bytes_of(first), self._bytes_of(second)
        selector = lower | (lower + 1) % 4 << 4 | (upper | 4) << 8 | ((upper + 1) % 4 | 4) << 12
        return self._made(PrmtOp(a, b, self._constant(selector)))

    def _bytes_of(self, one: BitField) -> tuple[SSAValue, int]:
        """The shifted word, and its byte that bits begin with; what is behind them does not count.

        Bits of one byte are shifted within it, so that those of four bytes share the shift.
        """
        by = one.offset % BYTE_BITS
        if by + self.span.bits > BYTE_BITS:
            by = one.offset
        return self._shifted(one.element, by), (one.offset - by) // BYTE_BITS

    def _of_word(self, one: BitField) -> BitField:
        """The same bits as those of an element of 32 bits."""
        value, position, bits = one.element.value, one.element.position, one.element.bits
        if bits == WORD_BITS:
            return one
        if as_vector(value.type) is None or length_of(value) * bits % WORD_BITS:
            return BitField(Element(self._extended(one.element)), one.offset)
        if value not in self.words:
            type_ = VectorType(i32, [length_of(value) * bits // WORD_BITS])
            self.words[value] = self._made(vector.BitcastOp(value, type_))
        word, place = divmod(position, WORD_BITS // bits)
        return BitField(Element(self.words[value], word), one.offset + place * bits)

    def _extended(self, element: Element) -> SSAValue:
        """An element that has no other three or one beside it in a word."""
        if element not in self.extended:
            scalar = self._scalar(element)
            self.extended[element] = self._made(arith.ExtUIOp(scalar, i32))
        return self.extended[element]

    def _shifted(self, element: Element, count: int) -> SSAValue:
        if (element, count) not in self.shifted:
            word = self._scalar(element)
            made = arith.ShRUIOp(word, self._constant(count)) if count else None
            self.shifted[element, count] = word if made is None else self._made(made)
        return self.shifted[element, count]

    def _scalar(self, element: Element) -> SSAValue:
        type_ = as_vector(element.value.type)
        if type_ is None:
            return element.value
        return self._made(extraction(element.value, element.position, type_.get_element_type()))

    def _cut(self, floats: SSAValue, first: int, count: int) -> SSAValue:
        return self._made(SliceFragmentOp(floats, first, count))

    def _made(self, op: Operation) -> SSAValue:
        self.insert(op)
        return op.results[0]

    def _constant(self, number: int) -> SSAValue:
        return Scope(self.insert).constant(number, i32).ssa
