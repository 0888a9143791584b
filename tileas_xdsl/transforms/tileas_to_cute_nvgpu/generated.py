"""Tiles that are computed from positions: the body of a `generate` for what a thread has.

The body runs once for each row of a thread: what depends on the row alone is a scalar, what depends
on columns a vector.  Elements of other tiles are in registers of the thread where their position
says so, else all threads exchange the tile before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from xdsl.dialects import arith, math, tensor
from xdsl.dialects.builtin import IndexType, VectorType
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.register_tiles import (
    PlainLayout,
    RowsLayout,
    column_layout,
)
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import LoadOp
from tileas_xdsl.dialects.nv_tileas.layout import GenerateOp
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.emitter import Emitter, Handler
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.fragments import (
    element,
    joined,
    length,
    numbers,
    repeated,
)
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.piece import Piece
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.positions import pieces
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.registers import in_registers, layout_of
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.scalars import on_vectors
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.scratch import Scratch, spilled
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.values import (
    Fragment,
    Lowered,
    Scalar,
    Splat,
    held_as,
)

ONE_BY_ONE = (
    arith.CmpfOp,
    arith.CmpiOp,
    arith.ExtSIOp,
    arith.ExtUIOp,
    arith.FPToSIOp,
    arith.FPToUIOp,
    arith.IndexCastOp,
    arith.SelectOp,
    arith.SIToFPOp,
    arith.TruncIOp,
    arith.UIToFPOp,
)
"""Operations of `arith` that xDSL has on scalars only, or that choose by one bit."""


@dataclass
class Generation:
    """The body of a `generate` at work."""

    e: Emitter
    op: GenerateOp
    layout: PlainLayout
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """What values of the body are in the row at hand: scalars, or vectors of its registers."""
    tiles: dict[SSAValue, Fragment] = field(default_factory=dict[SSAValue, Fragment])
    rooms: dict[SSAValue, Scratch] = field(default_factory=dict[SSAValue, Scratch])
    """Tiles that are read at any place."""

    def fetch(self) -> None:
        """Bring the tiles that elements are taken from to where they can be."""
        for inner in self.op.body.block.ops:
            if not isinstance(inner, tensor.ExtractOp):
                continue
            source = inner.tensor
            if isinstance(self.e.get(source), Splat):
                continue
            self.tiles[source] = tile = in_registers(self.e, inner, source)
            if source not in self.rooms and not self._is_at_hand(inner, tile):
                self.rooms[source] = spilled(self.e, inner, tile)

    def _is_at_hand(self, op: tensor.ExtractOp, tile: Fragment) -> bool:
        """Whether a thread has the elements that it needs."""
        shape, layout = tile.layout.shape, self.layout
        arguments = tuple(self.op.body.block.args)
        if not shape:
            return True
        if tuple(op.indices) == arguments:
            return tile.layout == layout
        of_rows = isinstance(layout, RowsLayout) and tile.layout == column_layout(layout)
        return of_rows and tuple(op.indices) == arguments[:-1]

    def row(self, block: int) -> SSAValue:
        """The registers of one block."""
        body, count = self.op.body.block, self.layout.registers
        self.values = dict(zip(body.args, self._coordinates(block), strict=True))
        *inner, end = body.ops
        for op in inner:
            self._lower(op, block)
        value = self._value(end.operands[0])
        return value if _is_vector(value) else repeated(self.e, value, count)

    def _coordinates(self, block: int) -> Sequence[SSAValue]:
        """For each dimension the position, a scalar or a vector."""
        e, shape = self.e, self.layout.shape
        if not shape:
            return []
        mine = [piece for piece in pieces(e, self.layout, 0) if piece.block == block]
        last = self._columns(mine)
        row = mine[0].row
        if row is not None:
            return [*_unravelled(e, e.as_type(row, IndexType()), shape[:-1]), last]
        return _unravelled(e, last, shape)

    def _columns(self, mine: Sequence[Piece]) -> SSAValue:
        e = self.e
        base = repeated(e, e.as_type(mine[0].column, IndexType()), self.layout.registers)
        offsets = [piece.shift + k for piece in mine for k in range(piece.count)]
        if not any(offsets):
            return base
        return e.add(base, numbers(e, offsets, IndexType()))

    def _value(self, value: SSAValue) -> SSAValue:
        return self.values[value] if value in self.values else self.e.scalar(value)

    def _lower(self, op: Operation, block: int) -> None:
        if isinstance(op, tensor.ExtractOp):
            self.values[op.result] = self._extract(op, block)
            return
        used = {value for inner in op.walk() for value in inner.operands if value in self.values}
        vectors = [value for value in used if _is_vector(self.values[value])]
        self.e.values.update({value: Scalar(self.values[value]) for value in used})
        if not vectors:
            self.e.lower(op)
            self.values.update({value: self.e.scalar(value) for value in op.results})
        elif _is_lifted(op):
            self.values[op.results[0]] = self._on_vectors(op)
        else:
            self._one_by_one(op, vectors)

    def _on_vectors(self, op: Operation) -> SSAValue:
        count = self.layout.registers
        found = [self._value(value) for value in op.operands]
        operands = [v if _is_vector(v) else repeated(self.e, v, count) for v in found]
        return on_vectors(self.e, op, operands, VectorType(op.results[0].type, [count]))

    def _one_by_one(self, op: Operation, vectors: Sequence[SSAValue]) -> None:
        e, given = self.e, list[list[SSAValue]]()
        for k in range(self.layout.registers):
            for value in vectors:
                e.values[value] = Scalar(element(e, self.values[value], k))
            e.lower(op)
            given.append([e.scalar(value) for value in op.results])
        for position, value in enumerate(op.results):
            self.values[value] = joined(e, [row[position] for row in given])

    def _extract(self, op: tensor.ExtractOp, block: int) -> SSAValue:
        e, found = self.e, self.e.get(op.tensor)
        if isinstance(found, Splat):
            return number_of_splat(e, found)
        tile = self.tiles[op.tensor]
        if not self._is_at_hand(op, tile):
            return self._from_room(op, tile)
        if not tile.layout.shape:
            return element(e, tile.parts[0], 0)
        if tile.layout == self.layout:
            return tile.parts[block]
        return element(e, tile.parts[0], block)

    def _from_room(self, op: tensor.ExtractOp, tile: Fragment) -> SSAValue:
        e, room = self.e, self.rooms[op.tensor]
        indices = [self._value(value) for value in op.indices]
        if not any(map(_is_vector, indices)):
            return element_of_room(e, room, tile.layout.shape, indices)
        found: list[SSAValue] = []
        for k in range(self.layout.registers):
            here = [element(e, v, k) if _is_vector(v) else v for v in indices]
            found.append(element_of_room(e, room, tile.layout.shape, here))
        return joined(e, found)


def _is_vector(value: SSAValue) -> bool:
    return isinstance(value.type, VectorType)


def _is_lifted(op: Operation) -> bool:
    """Whether an operation works on vectors as it does on scalars."""
    known: Any = (*arith.Arith.operations, *math.Math.operations)
    return type(op) in known and len(op.results) == 1 and not isinstance(op, ONE_BY_ONE)


def _unravelled(e: Emitter, position: SSAValue, shape: Sequence[int]) -> list[SSAValue]:
    """The index along each dimension of a position in row-major order, scalar or vector."""
    found: list[SSAValue] = []
    left = position
    for extent in reversed(shape[1:]):
        divisor = _filled(e, extent, position)
        found.insert(0, e.insert(arith.RemUIOp(left, divisor)).result)
        left = e.insert(arith.DivUIOp(left, divisor)).result
    return [left, *found]


def _filled(e: Emitter, number: int, like: SSAValue) -> SSAValue:
    if _is_vector(like):
        return numbers(e, [number] * length(like), IndexType())
    return e.index(number)


def element_of_room(
    e: Emitter, room: Scratch, shape: Sequence[int], indices: Sequence[SSAValue]
) -> SSAValue:
    """The element at indices, from shared memory."""
    position = indices[0]
    for extent, index in zip(shape[1:], indices[1:], strict=True):
        position = e.add(e.multiply(position, extent), index)
    return e.insert(LoadOp(e.advance(room.pointer, position), room.element)).result


def number_of_splat(e: Emitter, tile: Splat) -> SSAValue:
    """The only value that a tile has."""
    if isinstance(tile.constant, SSAValue):
        return tile.constant
    constant: Any = tile.constant
    return e.insert(arith.ConstantOp(constant)).result


def generate(e: Emitter, op: GenerateOp) -> Sequence[Lowered]:
    """A tile whose elements the body computes."""
    type_ = op.result.type
    work = Generation(e, op, layout_of(e, op, type_.get_shape()))
    work.fetch()
    parts = [work.row(block) for block in range(work.layout.blocks)]
    return [Fragment(work.layout, held_as(type_.element_type), tuple(parts))]


def extract(e: Emitter, op: tensor.ExtractOp) -> Sequence[Lowered]:
    """One element, which all threads get."""
    if any(isinstance(parent, GenerateOp) for parent in _parents(op)):
        raise op_error(
            op, "takes an element under a condition, which is not lowered to threads yet"
        )
    found = e.get(op.tensor)
    if isinstance(found, Splat):
        return [Scalar(number_of_splat(e, found))]
    tile = in_registers(e, op, op.tensor)
    if not tile.layout.shape:
        return [Scalar(element(e, tile.parts[0], 0))]
    indices = [e.scalar(value) for value in op.indices]
    return [Scalar(element_of_room(e, spilled(e, op, tile), tile.layout.shape, indices))]


def _parents(op: Operation) -> Iterator[Operation]:
    parent = op.parent_op()
    while parent is not None:
        yield parent
        parent = parent.parent_op()


_TABLE: Any = {GenerateOp: generate, tensor.ExtractOp: extract}

GENERATED: Mapping[type[Operation], Handler] = _TABLE
"""Tiles from positions, and elements of tiles."""
