"""Lines combined with rotated rows, kept in shared memory, where each row reads at its own shift.

Element `p` of a row that is rotated by `-d` is combined with column `p - d` of a line of weights,
so that no vector of a thread is aligned in it.  The words of a line are in as many planes as a
vector has words:

    vectors of 4 words     0 1 2 3   4 5 6 7   8 9 a b
    plane 0                0 4 8 ...                       lanes read words of one plane at a time,
    plane 1                1 5 9 ...                       side by side: a vector from word 2 on is
    plane 2                2 6 a ...                       2 and 3 of planes 2 and 3, and 4 and 5 of
    plane 3                3 7 b ...                       the next place of planes 0 and 1

No access has a bank conflict, whatever `d` is, and what differs from row to row is an address for
each plane.  Elements narrower than a word are shifted by what is left (`vector_cuts.py`); where a
vector is narrower, as of bytes beside rows of `i64`, each element is a word.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import (
    AnyFloat,
    FloatAttr,
    IntegerAttr,
    IntegerType,
    VectorType,
    i32,
)
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.analysis.memory.kept_tiles import readers_of
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import LoadOp, StoreOp
from tileas_xdsl.dialects.cute_nvgpu import GetDynSmemOp
from tileas_xdsl.dialects.cute_nvgpu.threads.innermost_loops import compute_in_front
from tileas_xdsl.dialects.nv_tileas.memory.tiled import (
    KEPT_EXTENDED,
    AsyncTiledLoadOp,
    TiledLoadOp,
)
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.xdsl_ops import comparison
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES, rows_layout
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.units import BYTE_BITS, WORD_BITS
from tileas_xdsl.threads.codegen.barriers import synchronize_agent
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    add,
    cast_index,
    divide,
    i32_constant,
    is_equal,
    logical_and,
    modulo,
    multiply,
)
from tileas_xdsl.threads.codegen.known_integers import constant_value, interval_of
from tileas_xdsl.threads.codegen.lowered_values import GlobalView, LoadedLine, RegisterTile
from tileas_xdsl.threads.codegen.pointer_ops import advance
from tileas_xdsl.threads.codegen.shared_allocations import KeptLine
from tileas_xdsl.threads.gmem.bounds_and_vector_width import GlobalTile
from tileas_xdsl.threads.gmem.coalesced_access import layout_within_rows, load_window, padding_of
from tileas_xdsl.threads.gmem.rows.rotated_row import either, shift_of_row
from tileas_xdsl.threads.gmem.rows.vector_cuts import bytes_behind, shifted_word
from tileas_xdsl.threads.pipeline.tile_properties import runs_again
from tileas_xdsl.threads.registers.access_chunk import AccessChunk
from tileas_xdsl.threads.registers.coordinates import is_first_replica, thread_chunks
from tileas_xdsl.threads.registers.vector_values import (
    constant_elements,
    element,
    joined,
    length,
    strip,
    tile_of_chunks,
    zero_of,
)


def load_line(e: ThreadBuilder, op: AsyncTiledLoadOp) -> LoadedLine:
    """Load a line, as the weights of a norm, for all rows that are combined with it."""
    source, layout = e.get(op.view), _layout_of_line(e, op)
    assert isinstance(source, GlobalView)
    window = GlobalTile.of(e, op, source, layout.shape)
    values = load_window(e, op, window, layout)
    return LoadedLine(lambda: values, _allocated(e, op, values, window), op)


def keep_line(e: ThreadBuilder, line: KeptLine, values: RegisterTile, op: AsyncTiledLoadOp) -> None:
    """Put a line into shared memory, from where rows read it."""
    if runs_again(op):
        synchronize_agent(e)
    _store(e, line, _as_kept(e, line, values))
    synchronize_agent(e)


def _as_kept(e: ThreadBuilder, line: KeptLine, values: RegisterTile) -> RegisterTile:
    """The elements of a line as they are stored: extended once where all rows extend them."""
    element = line.element
    if element == values.element:
        return values
    extended = [arith.ExtFOp(part, VectorType(element, [length(part)])) for part in values.parts]
    return RegisterTile(values.layout, element, tuple(e.insert(op).result for op in extended))


def read_line(e: ThreadBuilder, op: TiledLoadOp, line: KeptLine) -> RegisterTile:
    """Read a line where the rows of a tile have their elements, in the type that it is kept in."""
    layout = layout_within_rows(e, op)
    readers: dict[int, _Reader] = {}
    part = _part(e, op, layout)

    def read(chunk: AccessChunk) -> SSAValue:
        if isinstance(part, int):
            chunk = replace(chunk, shift=chunk.shift + part)
        if isinstance(part, int) and not line.has(chunk.shift):
            return _padding(e, line, chunk)
        row = 0 if op.modulus is None else chunk.line
        if row not in readers:
            shift = shift_of_row(e, op, layout.shape, chunk.row)
            readers[row] = _Reader.of(e, op, line, shift, part)
        return readers[row].read(chunk)

    chunks = thread_chunks(e, layout, bits_of(line.loaded))
    return tile_of_chunks(e, layout, line.element, [(chunk, read(chunk)) for chunk in chunks])


def _part(e: ThreadBuilder, op: TiledLoadOp, layout: RegisterLayout) -> SSAValue | int:
    """The element of its line that the part begins with which an operation reads."""
    source = e.get(op.view)
    if op.row_width is None or not isinstance(source, GlobalView):
        return 0
    start, width = GlobalTile.of(e, op, source, layout.shape).starts[-1], op.row_width.value.data
    number = constant_value(start)
    return modulo(e, cast_index(e, start, i32), width) if number is None else number % width


@dataclass(frozen=True)
class _Reader:
    """How a thread reads a line for one row."""

    e: ThreadBuilder
    line: KeptLine
    bases: Sequence[SSAValue]
    """The addresses of words that follow one another, which a vector begins with or follows."""
    rest: SSAValue | None
    """The selector of a word that begins as many bytes behind it; None for none."""
    part: SSAValue | None
    """The element of the line that the part begins with; None where the chunks say so."""

    @staticmethod
    def of(
        e: ThreadBuilder, op: TiledLoadOp, line: KeptLine, shift: SSAValue, part: SSAValue | int
    ) -> _Reader:
        """How a row is read that is rotated by so many columns, or a part of it.

        Where a part begins that is known is in the chunks of the threads.
        """
        span, bits = interval_of(shift), bits_of(line.element)
        if op.rotated is None or span is None or not -line.reach <= span[0] <= span[1] <= 0:
            raise op_error(op, f"rotates a line by other than 0 to {line.reach} elements")
        moved = multiply(e, shift, bits)
        words = e.insert(arith.ShRSIOp(moved, i32_constant(e, line.bits.bit_length() - 1))).result
        is_by_words = line.bits == bits or 8 * op.rotated.value.data % WORD_BITS == 0
        count = line.planes if is_by_words else line.planes + 1
        # Vectors in front of a line are at the first places: no word of these is at a negative one.
        begin = line.front * line.planes
        places = [_place(e, line, add(e, words, begin + k)) for k in range(count)]
        bases = [*map(compute_in_front, places)]
        if not isinstance(part, int):
            bases = [advance(e, base, divide(e, part, line.run)) for base in bases]
        moving = None if isinstance(part, int) else part
        rest = (
            None
            if is_by_words
            else bytes_behind(e, divide(e, modulo(e, moved, WORD_BITS), BYTE_BITS))
        )
        return _Reader(e, line, bases, rest, moving)

    def read(self, chunk: AccessChunk) -> SSAValue:
        """A vector of a thread, or padding behind the vectors that are stored."""
        e, line = self.e, self.line
        if self.part is None or line.end is None:
            return self._stored(chunk)
        behind = i32_constant(e, line.end + line.reach - chunk.shift)
        is_stored = e.insert(comparison(self.part, behind, "slt")).result
        return either(
            e, is_stored, lambda: [self._stored(chunk)], lambda: [_padding(e, line, chunk)]
        )[0]

    def _stored(self, chunk: AccessChunk) -> SSAValue:
        e, line = self.e, self.line
        found = [
            e.insert(LoadOp(_of_chunk(e, line, base, chunk), line.word, chunk.exists)).result
            for base in self.bases
        ]
        if self.rest is not None:
            found = [shifted_word(e, low, high, self.rest) for low, high in pairwise(found)]
        return _from_words(e, line, found)


def _padding(e: ThreadBuilder, line: KeptLine, chunk: AccessChunk) -> SSAValue:
    return constant_elements(e, _number_behind(line), chunk.count)


def _number_behind(line: KeptLine) -> FloatAttr | IntegerAttr:
    """The number behind the end of a line, in the type that it is kept in."""
    return number_in(line.padding, line.element)


def number_in(number: FloatAttr | IntegerAttr | None, kind: Attribute) -> FloatAttr | IntegerAttr:
    """Return a number in the type that a line is kept in; None stands for zero."""
    number = number or zero_of(kind)
    if isinstance(number, FloatAttr) and isinstance(kind, AnyFloat):
        return FloatAttr(number.value.data, kind)
    return number


def _layout_of_line(e: ThreadBuilder, op: AsyncTiledLoadOp) -> RegisterLayout:
    """By which threads store a line: their vectors are those of its readers, and of its planes."""
    layout, shape = layout_within_rows(e, [op, *readers_of(op)][-1]), shape_of(op.loaded_type())
    if shape is None or shape == layout.shape:
        return layout
    vector = next(iter(thread_chunks(e, layout, bits_of(element_of(op.view.type))))).count
    return rows_layout(shape, e.agent.warps, max(ACCESS_BYTES // vector, 1))


def _rotated_by(op: TiledLoadOp) -> int:
    """Columns that rows of a load are rotated by at most, as far as is known."""
    if op.modulus is not None:
        return op.modulus.value.data - 1
    span = interval_of(op.offsets[-1])
    return 0 if span is None else -span[0]


def _allocated(
    e: ThreadBuilder, op: AsyncTiledLoadOp, values: RegisterTile, window: GlobalTile
) -> KeptLine:
    """Allocate shared memory for a line, with vectors in front for rotation and one behind.

    A row is rotated by less than 16 bytes of its own elements, which may be several vectors of
    threads: those have fewer elements where others of the row are wider, or warps are many.
    """
    kept = op.attributes.get(KEPT_EXTENDED, values.element)
    bits, end = bits_of(kept), window.end
    chunks = list(thread_chunks(e, values.layout, bits_of(values.element)))
    run = chunks[0].count
    word = IntegerType(WORD_BITS if run * bits >= WORD_BITS else bits)
    planes = run * bits // word.width.data
    padding = padding_of(op.padding_value, values.element)
    front = max([1, *(ceil_div(_rotated_by(one), run) for one in readers_of(op))])
    model = (values.layout, values.element, kept, values.parts[0], run, word, planes)
    line = KeptLine(*model, places=0, front=front, end=end, padding=padding)
    last = [chunk for chunk in chunks if line.has(chunk.shift)][-1]
    places = front + (last.shift + last.span) // run + 1
    name, what = f"%{op.result.name_hint or 'line'}", f"{values.layout.shape[-1]}, by words"
    size = planes * places * line.bits // 8
    offset = e.plan.shared.allocate(op, name, size, what, ACCESS_BYTES)
    pointer = e.insert(GetDynSmemOp(offset, word, ACCESS_BYTES)).result
    return replace(line, pointer=pointer, places=places)


def _store(e: ThreadBuilder, line: KeptLine, values: RegisterTile) -> None:
    """Store the words of each vector, and in front of the first one those that end the tile."""
    mine = is_first_replica(e, line.layout)
    every = thread_chunks(e, line.layout, bits_of(line.loaded))
    chunks = [chunk for chunk in every if line.has(chunk.shift)]
    begin = _bases(e, line, line.front)
    for chunk in chunks:
        value = strip(e, values.parts[chunk.block], chunk.register, chunk.count)
        places = [_of_chunk(e, line, base, chunk) for base in begin]
        _store_words(e, line, value, places, logical_and(e, mine, chunk.exists))
    _store_around(e, line, values, chunks[-1], mine)


def _store_around(
    e: ThreadBuilder,
    line: KeptLine,
    values: RegisterTile,
    last: AccessChunk,
    mine: SSAValue | None,
) -> None:
    """Store the vectors that end a tile in front of its first one, and a word behind the last."""
    width = line.layout.shape[-1]
    is_stored = last.shift + last.span >= width
    value = (
        strip(e, values.parts[last.block], last.register, last.count)
        if is_stored
        else constant_elements(e, _number_behind(line), line.run)
    )
    column = add(e, cast_index(e, last.column, i32), last.shift if is_stored else 0)
    first = width - line.reach if is_stored else 0
    for k in range(line.front):
        places = _bases(e, line, k)
        if k == line.front - 1:
            # That word is read where all of its bits are shifted out.
            behind = i32_constant(e, (line.places - 1) * line.planes)
            places = [*places, _place(e, line, behind)]
        is_mine = is_equal(e, column, first + k * line.run)
        holds = logical_and(e, mine, logical_and(e, last.exists, is_mine))
        _store_words(e, line, value, places, holds)


def _bases(e: ThreadBuilder, line: KeptLine, place: int) -> Sequence[SSAValue]:
    """The addresses of the words of a vector, in the planes."""
    return [_place(e, line, i32_constant(e, place * line.planes + k)) for k in range(line.planes)]


def _place(e: ThreadBuilder, line: KeptLine, word: SSAValue) -> SSAValue:
    """The address of a word."""
    plane, place = modulo(e, word, line.planes), divide(e, word, line.planes)
    return advance(e, line.pointer, add(e, multiply(e, plane, line.places), place))


def _of_chunk(e: ThreadBuilder, line: KeptLine, base: SSAValue, chunk: AccessChunk) -> SSAValue:
    """The address of a word in the vector of a thread; `base` is that of the first vector."""
    column = divide(e, cast_index(e, chunk.column, i32), line.run)
    return advance(e, advance(e, base, column), chunk.shift // line.run)


def _store_words(
    e: ThreadBuilder,
    line: KeptLine,
    value: SSAValue,
    places: Sequence[SSAValue],
    holds: SSAValue | None,
) -> None:
    words = e.insert(vector.BitcastOp(value, VectorType(line.word, [line.planes]))).result
    for k, place in enumerate(places):
        e.insert(StoreOp(element(e, words, k % line.planes), place, holds))


def _from_words(e: ThreadBuilder, line: KeptLine, words: Sequence[SSAValue]) -> SSAValue:
    type_ = VectorType(line.element, [line.run])
    return e.insert(vector.BitcastOp(joined(e, words), type_)).result
