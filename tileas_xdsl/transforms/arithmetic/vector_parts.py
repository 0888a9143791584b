"""Which scalar an element of a vector is, where the vector was put together of scalars.

%w = extui %b0 | extui %b1 << 8 | ... : i32     element 1 of %t is %b1, and so is element 5 of
%v = cute.fragment.make %w                      %whole, if %x has four elements; an element of
%t = vector.bitcast %v to vector<4xi8>          %x, which was loaded, was no scalar
%whole = cute.fragment.make %x, %t
"""

from __future__ import annotations

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.dialects.cute import MakeFragmentOp
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.threads.registers.vector_values import element_type, length


def put_in(whole: SSAValue, position: int) -> SSAValue | None:
    """Return the scalar that an element of a vector was; None where no operation put it there."""
    match whole.owner:
        case MakeFragmentOp() as made:
            for part in made.operands:
                if position < length(part):
                    return put_in(part, position) if isinstance(part.type, VectorType) else part
                position -= length(part)
            return None
        case vector.BitcastOp() as made:
            return _unpacked(made.source, element_type(whole), position)
        case _:
            return None


def _unpacked(words: SSAValue, element: Attribute, position: int) -> SSAValue | None:
    """Return the number that was packed into words as an element."""
    bits, wide = bits_of(element), bits_of(element_type(words))
    if not bits or not wide or wide <= bits:
        return None
    index, first = divmod(position * bits, wide)
    word = put_in(words, index)
    terms = None if word is None else _terms(word)
    if terms is None or any(at % bits or bits_of(term.type) != bits for term, at in terms):
        return None
    # Terms that are as wide as an element and as far apart have no bits in common.
    found = [term for term, at in terms if at == first]
    return _of_type(found[0], element) if len(found) == 1 else None


def _terms(word: SSAValue) -> list[tuple[SSAValue, int]] | None:
    """Return what is extended, shifted and joined to a word, and its first bits; None of others."""
    match word.owner:
        case arith.OrIOp() as both:
            left, right = _terms(both.lhs), _terms(both.rhs)
            return None if left is None or right is None else left + right
        case arith.ShLIOp() as moved:
            shift, terms = constant_integer(moved.rhs), _terms(moved.lhs)
            if shift is None or terms is None:
                return None
            return [(term, at + shift) for term, at in terms]
        case arith.ExtUIOp() as extended:
            return [(extended.input, 0)]
        case _:
            return None


def _of_type(bits: SSAValue, element: Attribute) -> SSAValue | None:
    """Return a number whose bits are known, as one of a type that somebody had it in."""
    if bits.type == element:
        return bits
    made = bits.owner
    if isinstance(made, arith.BitcastOp) and made.input.type == element:
        return made.input
    return None
