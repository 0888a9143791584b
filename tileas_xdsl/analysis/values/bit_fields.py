"""Which bits of which word an element of a fragment is, and how many of its own bits say all of it.

%s = arith.shrsi %w, dense<[0, 4]> : vector<2xi32>      element 1: bits 4 to 31 of %w[1]
%q = arith.andi %s, dense<15> : vector<2xi32>           4 bits, without a sign; element 1 is
                                                        bits 4 to 7 of %w[1]
%d = arith.shrsi (arith.shli %b, 4), 4 : i8             4 bits, the last one a sign; bits 0 to
                                                        3 of %b
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerType
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operands_of
from tileas_xdsl.dialects.cute import MakeFragmentOp, SliceFragmentOp
from tileas_xdsl.dialects.cute.types.elements import as_vector, element_of, integer_bits
from tileas_xdsl.dialects.cute_nvgpu import ShuffleOp
from tileas_xdsl.dialects.dense_elements import is_splat
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.memoized_walks import memoized_walk

MAX_DEPTH = 32
"""Operations that are followed from an element."""

INDEX_BITS = 32


@dataclass(frozen=True, slots=True)
class Span:
    """The low bits of a number that say all of it."""

    bits: int
    signed: bool
    """Whether the last one is a sign."""

    def joined(self, other: Span) -> Span:
        """What holds the numbers of both."""
        if self.signed == other.signed:
            return Span(max(self.bits, other.bits), self.signed)
        return Span(max(one.bits + (not one.signed) for one in (self, other)), signed=True)


@dataclass(frozen=True, slots=True)
class Element:
    """An element of a fragment, or a scalar, whose position is 0."""

    value: SSAValue
    position: int = 0

    @property
    def bits(self) -> int:
        """The width of its type."""
        return integer_bits(element_of(self.value.type)) or INDEX_BITS


@dataclass(frozen=True, slots=True)
class BitField:
    """Bits of an element, from an offset on."""

    element: Element
    offset: int = 0


def origin(element: Element) -> Element:
    """Follow an element through fragments that it was put into, cut out of or repeated in."""
    value, position = element.value, element.position
    while True:
        match value.owner:
            case SliceFragmentOp() as cut:
                value, position = cut.source, position + cut.offset.value.data
            case MakeFragmentOp() as made:
                value, position = _part(made, position)
            case vector.BroadcastOp() as repeated:
                value, position = repeated.source, 0
            case vector.ExtractOp() as taken if not taken.dynamic_position:
                value, (position,) = taken.vector, taken.static_position.get_values()
            case _:
                return Element(value, position)


def _part(made: MakeFragmentOp, position: int) -> tuple[SSAValue, int]:
    for part in made.parts:
        vector_type = as_vector(part.type)
        length = 1 if vector_type is None else vector_type.get_shape()[0]
        if position < length:
            return part, position
        position -= length
    raise AssertionError("an element of a fragment is one of its parts")


@memoized_walk
def constant_of(element: Element, depth: int = 0) -> int | None:
    """Return the number that an element always is; None where it is not known."""
    found = origin(element)
    owner = found.value.owner
    if isinstance(owner, arith.ConstantOp):
        if isinstance(owner.value, DenseIntOrFPElementsAttr):
            values = owner.value.get_values()
            number = values[0 if is_splat(owner.value) else found.position]
            return number if isinstance(number, int) else None
        return constant_integer(found.value)
    if depth < MAX_DEPTH and isinstance(owner, arith.AddiOp):
        a, b = (constant_of(Element(v, found.position), depth + 1) for v in operands_of(owner))
        return None if a is None or b is None else a + b
    return None


@memoized_walk
def span_of(element: Element, depth: int = 0) -> Span:
    """Return how many low bits of an element say all of it: all of its type at most."""
    found = origin(element)
    number = constant_of(found)
    known = _of_operands(found, depth) if number is None else _of_number(number)
    # A number without a sign has fewer bits than its type, so that it is not negative in it either.
    return known if known.bits + (not known.signed) <= found.bits else Span(found.bits, signed=True)


def _of_number(number: int) -> Span:
    if number < 0:
        return Span((~number).bit_length() + 1, signed=True)
    return Span(max(number.bit_length(), 1), signed=False)


def _of_operands(found: Element, depth: int) -> Span:
    owner: Any = found.value.owner
    rule = _SPANS.get(owner.__class__)
    if rule is None or depth > MAX_DEPTH:
        return Span(found.bits, signed=True)
    return rule(owner, found, lambda value: span_of(Element(value, found.position), depth + 1))


Rule = Callable[[Any, Element, Callable[[SSAValue], Span]], Span]


def _masked(op: arith.AndIOp, _: Element, of: Callable[[SSAValue], Span]) -> Span:
    """What has no sign clears those of the other."""
    spans = [of(value) for value in op.operands]
    plain = [span for span in spans if not span.signed]
    return min(plain, key=lambda span: span.bits) if plain else spans[0].joined(spans[1])


def _shifted(
    op: arith.ShRUIOp | arith.ShRSIOp, found: Element, of: Callable[[SSAValue], Span]
) -> Span:
    count, span = constant_of(Element(op.rhs, found.position)), of(op.lhs)
    if count is None or not 0 <= count < found.bits:
        return Span(found.bits, signed=True)
    if span.signed and isinstance(op, arith.ShRUIOp):
        return Span(found.bits - count, signed=count == 0)
    return Span(max(span.bits - count, 1), span.signed)


def _zero_extended(op: arith.ExtUIOp, _: Element, of: Callable[[SSAValue], Span]) -> Span:
    span = of(op.input)
    return span if not span.signed else Span(Element(op.input).bits, signed=False)


def _same(op: Operation, _: Element, of: Callable[[SSAValue], Span]) -> Span:
    return of(op.operands[0])


def _reinterpreted_span(
    op: vector.BitcastOp, found: Element, of: Callable[[SSAValue], Span]
) -> Span:
    """That of the element of this width which words were put together of."""
    whole = field_of(found, found.bits)
    is_other = whole.element != found and whole.offset == 0 and whole.element.bits == found.bits
    return span_of(whole.element) if is_other else Span(found.bits, signed=True)


def _chosen(op: arith.SelectOp, _: Element, of: Callable[[SSAValue], Span]) -> Span:
    return of(op.lhs).joined(of(op.rhs))


_SPANS: Mapping[type[Operation], Rule] = {
    arith.AndIOp: _masked,
    arith.ExtSIOp: _same,
    arith.ExtUIOp: _zero_extended,
    arith.SelectOp: _chosen,
    arith.ShRSIOp: _shifted,
    arith.ShRUIOp: _shifted,
    arith.TruncIOp: _same,
    ShuffleOp: _same,
    vector.BitcastOp: _reinterpreted_span,
}


def field_of(element: Element, width: int) -> BitField:
    """Return where the low `width` bits of an element come from, past shifts and masks."""
    found = BitField(origin(element))
    for _ in range(MAX_DEPTH):
        step = _step(found, width)
        if step is None:
            break
        found = BitField(origin(step.element), step.offset)
    return found


def _step(one: BitField, width: int) -> BitField | None:
    """The same bits in an operand of what makes them; None where they are computed."""
    owner: Any = one.element.value.owner
    rule = _FIELDS.get(owner.__class__)
    found = None if rule is None else rule(owner, one, width)
    if found is None or not 0 <= found.offset <= found.element.bits - width:
        return None
    return found


def _unmasked(op: arith.AndIOp, one: BitField, width: int) -> BitField | None:
    position, bits = one.element.position, (1 << width) - 1
    for value, mask in (operands_of(op), operands_of(op)[::-1]):
        number = constant_of(Element(mask, position))
        if number is not None and number >> one.offset & bits == bits:
            return BitField(Element(value, position), one.offset)
    return None


def _united(op: arith.OrIOp, one: BitField, width: int) -> BitField | None:
    position = one.element.position
    for value, other in (operands_of(op), operands_of(op)[::-1]):
        if _is_zero(BitField(Element(other, position), one.offset), width):
            return BitField(Element(value, position), one.offset)
    return None


@memoized_walk
def _is_zero(one: BitField, width: int, depth: int = 0) -> bool:
    """Whether bits are known to be zeros: below a left shift, or above a number without a sign."""
    found = origin(one.element)
    span, owner = span_of(found), found.value.owner
    if not span.signed and one.offset >= span.bits:
        return True
    if depth > MAX_DEPTH:
        return False
    if isinstance(owner, arith.OrIOp):
        parts = [BitField(Element(value, found.position), one.offset) for value in owner.operands]
        return all(_is_zero(part, width, depth + 1) for part in parts)
    if isinstance(owner, arith.ShLIOp):
        count = constant_of(Element(owner.rhs, found.position))
        if count is None or one.offset + width <= count:
            return count is not None
        before = BitField(Element(owner.lhs, found.position), one.offset - count)
        return before.offset >= 0 and _is_zero(before, width, depth + 1)
    return False


def _moved(
    op: arith.ShLIOp | arith.ShRSIOp | arith.ShRUIOp, one: BitField, width: int
) -> BitField | None:
    count = constant_of(Element(op.rhs, one.element.position))
    if count is None:
        return None
    by = -count if isinstance(op, arith.ShLIOp) else count
    return BitField(Element(op.lhs, one.element.position), one.offset + by)


def _resized(op: Operation, one: BitField, width: int) -> BitField:
    return BitField(Element(op.operands[0], one.element.position), one.offset)


def _reinterpreted(op: vector.BitcastOp, one: BitField, width: int) -> BitField | None:
    """Elements of other widths that share the bits."""
    if not isinstance(element_of(op.source.type), IntegerType):
        return None
    first = one.element.position * one.element.bits + one.offset
    position, offset = divmod(first, Element(op.source).bits)
    return BitField(Element(op.source, position), offset)


_FIELDS: Mapping[type[Operation], Callable[[Any, BitField, int], BitField | None]] = {
    arith.AndIOp: _unmasked,
    arith.ExtSIOp: _resized,
    arith.ExtUIOp: _resized,
    arith.OrIOp: _united,
    arith.ShLIOp: _moved,
    arith.ShRSIOp: _moved,
    arith.ShRUIOp: _moved,
    arith.TruncIOp: _resized,
    vector.BitcastOp: _reinterpreted,
}
