"""Build vectors of registers from elements, sub-vectors or a splat, and slice them again.

A tile in registers is a few `vector` values a thread (`vector_split.py` says how many). A vector of
32-bit elements is that many registers, so that joining and slicing cost nothing:
`cute.fragment.make` and `cute.fragment.slice` only rename registers. Elements of 8 bits share
registers: PTX has none of 8 bits, so single bytes are packed into words first, and a slice that is
not made of whole words is taken apart by element:

    %w = extui %b0 | extui %b1 << 8 | extui %b2 << 16 | extui %b3 << 24     : i32
    %v = cute.fragment.make %w : vector<1xi32>
    %t = vector.bitcast %v : vector<1xi32> to vector<4xi8>
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    AnyFloat,
    DenseIntOrFPElementsAttr,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
    i1,
    i8,
    i32,
)
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.dialects.cute import MakeFragmentOp
from tileas_xdsl.dialects.interned import integer_type, vector_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.xdsl_ops import constant_op, extraction
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.units import BYTE_BITS
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import i32_constant
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile, Splat
from tileas_xdsl.threads.registers.access_chunk import AccessChunk
from tileas_xdsl.threads.registers.coordinates import thread_chunks
from tileas_xdsl.threads.registers.vector_split import vectors_of

MAX_ELEMENTS = 256
"""Operands of one `cute.fragment.make`; longer vectors are built of groups of elements."""


def assembled(
    e: ThreadBuilder,
    layout: RegisterLayout,
    element: Attribute,
    make: Callable[[AccessChunk], SSAValue],
) -> RegisterTile:
    """Build a tile from its access chunks; `make` returns the element or vector of a chunk."""
    found = [(chunk, make(chunk)) for chunk in thread_chunks(e, layout, bits_of(element))]
    return tile_of_chunks(e, layout, element, found)


def tile_of_chunks(
    e: ThreadBuilder,
    layout: RegisterLayout,
    element: Attribute,
    found: Sequence[tuple[AccessChunk, SSAValue]],
) -> RegisterTile:
    """Build a tile from chunks and the element or vector of each."""
    parts: list[SSAValue] = []
    vectors = vectors_of(layout)
    for block in range(vectors.count):
        of_block = {chunk.register: value for chunk, value in found if chunk.block == block}
        parts.append(filled(e, of_block, vectors.length, element))
    return RegisterTile(layout, element, tuple(parts))


def one_vector(e: ThreadBuilder, tile: RegisterTile) -> SSAValue:
    """Return all elements of a thread as one vector."""
    return joined(e, tile.parts)


def tile_of_vector(
    e: ThreadBuilder, layout: RegisterLayout, element: Attribute, whole: SSAValue
) -> RegisterTile:
    """Return the tile whose elements in a thread are those of `whole`, in order."""
    vectors = vectors_of(layout)
    starts = range(0, vectors.elements, vectors.length)
    parts = tuple([strip(e, whole, first, vectors.length) for first in starts])
    return RegisterTile(layout, element, parts)


def filled(
    e: ThreadBuilder, found: Mapping[int, SSAValue], count: int, element: Attribute
) -> SSAValue:
    """Return a vector of `count` elements from slices by their first register; gaps are 0.

    Gaps occur where a layout has registers without an element: tiles smaller than the agent.
    """
    values: list[SSAValue] = []
    end = 0
    for register in [*sorted(found), count]:
        if register > end:
            values += [zero(e, element)] * (register - end)
        if register < count:
            values.append(found[register])
            end = register + length(found[register])
    return joined(e, values)


def zero(e: ThreadBuilder, element: Attribute) -> SSAValue:
    """Return the zero that fills registers without an element."""
    kind: Any = element
    is_float = isinstance(element, AnyFloat)
    number: Any = FloatAttr(0.0, kind) if is_float else IntegerAttr(0, kind)
    return e.insert(constant_op(number)).result


def joined(e: ThreadBuilder, values: Sequence[SSAValue]) -> SSAValue:
    """Elements and vectors as one vector."""
    if len(values) == 1 and isinstance(values[0].type, VectorType):
        return values[0]
    type_ = element_type(values[0])
    if len(values) > 1 and sum(map(length, values)) > MAX_ELEMENTS and not _are_words(values):
        values = [joined(e, group) for group in _groups(values)]
    if len(values) > 1 and type_ != i1 and bits_of(type_) == BYTE_BITS and not _are_words(values):
        return _joined_bytes(e, values, type_)
    return e.insert(MakeFragmentOp(values)).result


def _groups(values: Sequence[SSAValue]) -> Iterator[Sequence[SSAValue]]:
    """Split values into groups of about `MAX_ELEMENTS / 2` elements, at multiples of a word."""
    group: list[SSAValue] = []
    count = 0
    for value in values:
        group.append(value)
        count += length(value)
        if count >= MAX_ELEMENTS // 2 and count % 4 == 0:
            yield group
            group, count = [], 0
    if group:
        yield group


def _are_words(values: Sequence[SSAValue]) -> bool:
    """Whether vectors of bytes fill whole registers."""
    return all(isinstance(v.type, VectorType) and length(v) % 4 == 0 for v in values)


def _joined_bytes(e: ThreadBuilder, values: Sequence[SSAValue], type_: Attribute) -> SSAValue:
    """Join 8-bit elements by packing them into 32-bit words: no register is one byte wide.

    Pairs of bytes, as 16-bit accesses load them, are halves of words.
    """
    if len(values) % 2 == 0 and all(length(v) == 2 for v in values):
        pair = vector_of(integer_type(2 * BYTE_BITS), 1)
        halves = [e.insert(vector.BitcastOp(v, pair)).result for v in values]
        joint = e.insert(MakeFragmentOp(halves)).result
        return e.insert(vector.BitcastOp(joint, vector_of(type_, 2 * len(values)))).result
    singles = [element(e, v, k) for v in values for k in range(length(v))]
    per_word = min(len(singles), 4)
    words = [
        _word(e, singles[first : first + per_word]) for first in range(0, len(singles), per_word)
    ]
    if per_word < 4:
        words = [e.insert(arith.TruncIOp(words[0], IntegerType(BYTE_BITS * per_word))).result]
    joint = e.insert(MakeFragmentOp(words)).result
    return e.insert(vector.BitcastOp(joint, vector_of(type_, len(singles)))).result


def _word(e: ThreadBuilder, singles: Sequence[SSAValue]) -> SSAValue:
    """Pack up to four bytes into an `i32`, the first one lowest."""
    word: SSAValue | None = None
    for position, single in enumerate(singles):
        bits = single
        if not isinstance(single.type, IntegerType):
            bits = e.insert(arith.BitcastOp(single, i8)).result
        wide = e.insert(arith.ExtUIOp(bits, i32)).result
        if word is None:
            word = wide
            continue
        moved = e.insert(arith.ShLIOp(wide, i32_constant(e, BYTE_BITS * position))).result
        word = e.insert(arith.OrIOp(word, moved)).result
    assert word is not None
    return word


def strip(e: ThreadBuilder, part: SSAValue, first: int, count: int) -> SSAValue:
    """Return elements `first` to `first + count` of a vector, as a vector."""
    if first == 0 and part.type == vector_of(element_type(part), count):
        return part
    if _cuts_words(part, first, count):
        return joined(e, [element(e, part, first + k) for k in range(count)])
    return e.slice(part, first, count)


def _cuts_words(part: SSAValue, first: int, count: int) -> bool:
    """Return whether a slice of 8-bit elements is not made of whole 32-bit words."""
    type_ = element_type(part)
    return type_ != i1 and bits_of(type_) == BYTE_BITS and bool(first % 4 or count % 4)


def element(e: ThreadBuilder, part: SSAValue, position: int) -> SSAValue:
    """One element of a vector; a scalar is its own."""
    if not is_vector(part):
        return part
    return e.insert(extraction(part, position, element_type(part))).result


def is_vector(value: SSAValue) -> bool:
    """Whether a value is a vector of registers, not a scalar."""
    return isinstance(value.type, VectorType)


def vector_type(value: SSAValue) -> VectorType[Attribute] | None:
    """The type of a vector; None for a scalar."""
    type_: Any = value.type
    return type_ if is_vector(value) else None


def element_type(value: SSAValue) -> Attribute:
    """The type of the elements of a vector, that of a scalar itself."""
    type_ = vector_type(value)
    return value.type if type_ is None else type_.element_type


def length(value: SSAValue) -> int:
    """The elements of a vector."""
    type_ = vector_type(value)
    return 1 if type_ is None else type_.get_shape()[0]


def repeated(e: ThreadBuilder, value: SSAValue, count: int) -> SSAValue:
    """A scalar in all elements of a vector."""
    return e.insert(vector.BroadcastOp(value, vector_of(value.type, count))).vector


def numbers(e: ThreadBuilder, values: Sequence[int | float], element: Attribute) -> SSAValue:
    """A constant vector; one number stands for all of its elements."""
    dense: Any = DenseIntOrFPElementsAttr
    attribute = dense.from_list(vector_of(element, len(values)), values)
    return e.insert(constant_op(attribute)).result


def splat(e: ThreadBuilder, tile: Splat, layout: RegisterLayout) -> RegisterTile:
    """A tile of one number in registers."""
    constant, vectors = tile.constant, vectors_of(layout)
    count = vectors.length
    if isinstance(constant, SSAValue):
        part = repeated(e, constant, count)
    else:
        assert isinstance(constant, FloatAttr | IntegerAttr)
        part = numbers(e, [constant.value.data] * count, tile.element)
    return RegisterTile(layout, tile.element, (part,) * vectors.count)


def splat_scalar(e: ThreadBuilder, tile: Splat) -> SSAValue:
    """The number that all elements of a tile are, as a scalar."""
    if isinstance(tile.constant, SSAValue):
        return tile.constant
    constant: Any = tile.constant
    return e.insert(arith.ConstantOp(constant)).result


def constant_elements(e: ThreadBuilder, number: FloatAttr | IntegerAttr, count: int) -> SSAValue:
    """Return a vector of one number."""
    return repeated(e, e.insert(arith.ConstantOp(number)).result, count)


def zero_of(element: Attribute) -> FloatAttr | IntegerAttr:
    """The zero of a type of elements."""
    kind: Any = element
    return FloatAttr(0.0, kind) if isinstance(element, AnyFloat) else IntegerAttr(0, kind)
