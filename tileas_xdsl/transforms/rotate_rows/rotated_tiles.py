"""The tiles that are rotated if one of them is: rows, and what is combined with their elements.

%t = tiled_load %x[%i, 0]        an access: rows of an array, at a place
%e = extf %t                     a tile of the same rows
%m = reduce max of %e            takes elements in any order, and is left as it is
%w = tiled_load %line[0]         a line that rows meet
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from math import gcd, prod

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, TensorType
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.utils.hints import isa

from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, layout_role
from tileas_xdsl.analysis.values.float_ranges import combiner_of
from tileas_xdsl.analysis.values.launches.pointer_base_arrays import (
    stated_divisor,
    without_promises,
)
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.dense_elements import is_splat
from tileas_xdsl.dialects.ir_queries import enclosing
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.enums import MemSemantic, Space
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.transforms.rotate_rows.repeated_lines import is_repeatable

COMMUTATIVE = (
    *(arith.AddfOp, arith.MulfOp, arith.MaximumfOp, arith.MaxnumfOp, arith.MinimumfOp),
    *(arith.MinnumfOp, arith.AddiOp, arith.MuliOp, arith.MaxSIOp, arith.MaxUIOp, arith.MinSIOp),
    *(arith.MinUIOp, arith.AndIOp, arith.OrIOp, arith.XOrIOp),
)
"""What gives the same of elements in any order, as reductions may have them."""

Access = TiledLoadOp | TiledStoreOp


class UnrotatableError(Exception):
    """Where elements are in a row matters to an operation."""


@dataclass(frozen=True)
class Place:
    """The array that an access is to, and its row."""

    array: MakeMemrefOp
    coords: Sequence[SSAValue]
    """In all dimensions but the last one, in which rows are tiles."""
    bits: int
    """Of an element."""

    @property
    def strides(self) -> Sequence[SSAValue | int]:
        """Elements from row to row in each dimension but the last one."""
        return [self.array.stride(axis) for axis in range(len(self.coords))]

    @property
    def alignment(self) -> int:
        """Bytes that are known to divide the address of every row, those of a vector at most."""
        apart = (stated_divisor(stride) * self.bits // 8 for stride in self.strides)
        return gcd(ACCESS_BYTES, stated_divisor(self.array.pointer), *apart)

    def begins_as(self, other: Place) -> bool:
        """Whether both rows are as far behind a multiple of the widest access."""
        if self == other:
            return True
        pointers = (self.array.pointer, other.array.pointer)
        known = all(stated_divisor(pointer) % ACCESS_BYTES == 0 for pointer in pointers)
        is_equal = (self.coords, self.strides, self.bits) == (
            other.coords,
            other.strides,
            other.bits,
        )
        return known and is_equal


def place_of(op: Access) -> Place | None:
    """The place of an access that may be rotated: of rows, by threads, in no order."""
    view = op.view.owner
    if extents_of(tile_of(op)) is None or not isinstance(view, ViewOp):
        return None
    made = without_promises(view.source).owner
    is_plain = not op.offsets and op.rotated is None and not isinstance(op.atom.data, TmaAtom)
    is_weak = op.mem_semantic is None or op.mem_semantic.data is MemSemantic.WEAK
    if isinstance(op, TiledLoadOp) and op.mask is not None:
        return None
    if not (is_plain and is_weak) or view.indices or view.offset is not None:
        return None
    if not isinstance(made, MakeMemrefOp) or made.offset is not None:
        return None
    axes = range(made.array.get_num_dims())
    if space_of(op.view.type) is not Space.GMEM or made.stride(axes[-1]) != 1:
        return None
    return Place(made, tuple(op.coords[:-1]), bits_of(made.array.element_type))


def tile_of(op: Access) -> SSAValue:
    """The tile that an access moves."""
    return op.result if isinstance(op, TiledLoadOp) else op.value


def extents_of(tile: SSAValue) -> tuple[int, ...] | None:
    """The extents of a tile of rows; None of other tiles."""
    type_ = tile.type
    if not isa(type_, TensorType[Attribute]) or isinstance(type_.element_type, PtrType):
        return None
    extents = type_.get_shape()
    return extents if extents and extents[-1] > 1 else None


def count_of_rows(extents: Sequence[int]) -> int:
    """How many rows a tile has."""
    return prod(extents[:-1])


@dataclass
class RotatedTiles:
    """The tiles that are rotated if one of them is."""

    extents: tuple[int, ...]
    """Of a tile that is no line which all rows are combined with."""
    tiles: dict[SSAValue, None] = field(default_factory=dict[SSAValue, None])
    accesses: dict[Access, Place] = field(default_factory=dict[Access, Place])
    generated: dict[GenerateOp, None] = field(default_factory=dict[GenerateOp, None])
    _seen: set[Operation] = field(default_factory=set[Operation])

    @staticmethod
    def of(tile: SSAValue) -> RotatedTiles:
        """All tiles combined with a row, or several; raises `UnrotatableError`."""
        extents = extents_of(tile)
        assert extents is not None
        found = RotatedTiles(extents)
        left = [tile]
        while left:
            value = left.pop()
            if value in found.tiles:
                continue
            found.tiles[value] = None
            if not isinstance(value, OpResult):
                raise UnrotatableError
            for op in (value.op, *(use.operation for use in value.uses)):
                if isinstance(op, tensor.ExtractOp) and (whole := enclosing(op, GenerateOp)):
                    op = whole
                if op not in found._seen:
                    found._seen.add(op)
                    left += found._met(op)
        return found

    @property
    def width(self) -> int:
        """The elements of a row."""
        return self.extents[-1]

    @property
    def are_several(self) -> bool:
        """Whether tiles have several rows, each with an offset of its own."""
        return count_of_rows(self.extents) > 1

    def has(self, value: SSAValue) -> bool:
        """Whether a value is a tile of such rows, or a line that they may meet."""
        extents = extents_of(value)
        if extents is None or extents[-1] != self.width:
            return False
        return extents == self.extents or count_of_rows(extents) == 1

    def is_line(self, value: SSAValue) -> bool:
        """Whether a tile is a line that several rows meet."""
        return self.are_several and extents_of(value) != self.extents

    def _met(self, op: Operation) -> Sequence[SSAValue]:
        """The tiles that are rotated with those of an operation."""
        rows = [value for value in (*op.operands, *op.results) if self.has(value)]
        match op:
            case TiledLoadOp() | TiledStoreOp():
                place = place_of(op)
                if place is None or (self.is_line(tile_of(op)) and not is_repeatable(op)):
                    raise UnrotatableError
                self.accesses[op] = place
                return rows
            case GenerateOp():
                return self._met_in(op)
            case ReduceOp() if self._is_of_row(op):
                return ()
            case arith.ConstantOp():
                if isinstance(op.value, DenseIntOrFPElementsAttr) and is_splat(op.value):
                    return ()
            case tensor.SplatOp():
                return ()
            case ExpandDimsOp() | ViewOp() if (
                len(rows) == 2 and len({*map(self.is_line, rows)}) == 1
            ):
                return rows
            case _ if layout_role(op) is LayoutRole.ELEMENTWISE:
                return rows
            case _:
                pass
        raise UnrotatableError

    def _is_of_row(self, op: ReduceOp) -> bool:
        last = len(shape_of(op.sources[0].type) or ()) - 1
        is_alone = len(op.sources) == 1 and op.axis.value.data == last
        is_alone = is_alone and not self.is_line(op.sources[0])
        return is_alone and isinstance(combiner_of(op), COMMUTATIVE)

    def _met_in(self, op: GenerateOp) -> Sequence[SSAValue]:
        """The result, and the rows that are read at its coordinates."""
        if not self.has(op.result) or self.is_line(op.result):
            raise UnrotatableError
        rows: list[SSAValue] = [op.result]
        for read in self.read_in(op):
            of_row = 1 if self.is_line(read.tensor) or not self.are_several else len(self.extents)
            if list(read.indices)[-of_row:] != list(op.body.block.args)[-of_row:]:
                raise UnrotatableError
            rows.append(read.tensor)
        self.generated[op] = None
        return rows

    def read_in(self, op: GenerateOp) -> Iterator[tensor.ExtractOp]:
        """The operations in a body that take elements of rows."""
        for inner in operations_in(op.body.block):
            if isinstance(inner, tensor.ExtractOp) and self.has(inner.tensor):
                yield inner
