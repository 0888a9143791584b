"""The pass `tileas-rotate-rows`: rows that begin between vectors are held from a vector on.

Each row of 4095 f16 begins at another distance from a multiple of 16 bytes, so that no thread could
load or store eight elements at once.  Nothing that a kernel does with each element of a row, or
with all of them, depends on where in the tile an element is:

    %t = tiled_load %x[%i, 0] : tensor<1x4096xf16>
    %c = generate { (%0, %j): yield %j < %n }
    %m = reduce max of %t
    tiled_store %r, %y[%i, 0]
    ->
    %d = (%i * %stride) mod 8                                    // elements behind 16 bytes
    %t = tiled_load %x[%i, 0] offset[0, -%d] {rotated = 16}      // element p is column p - %d
    %c = generate { (%0, %p): %j = (%p - %d) mod 4096; yield %j < %n }
    %m = reduce max of %t
    tiled_store %r, %y[%i, 0] offset[0, -%d] {rotated = 1}       // aligned if %y has such rows

Tiles that meet are rotated alike: the pass follows a row through element-wise operations, and
leaves it where anything else reads it.  Rows of weights are rotated with it; their vectors are not
aligned by that, and are put together of two, or kept by a loop (`rotate_rows/kept_lines.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from math import gcd

from xdsl.context import Context
from xdsl.dialects import arith, func, gpu, scf, tensor
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    IndexType,
    IntegerAttr,
    ModuleOp,
    TensorType,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, layout_role
from tileas_xdsl.analysis.values.float_ranges import combiner_of
from tileas_xdsl.analysis.values.pointer_base_arrays import stated_divisor, without_promises
from tileas_xdsl.analysis.values.scalar_operations import operations_behind
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.dense_elements import is_splat
from tileas_xdsl.dialects.ir_queries import enclosing
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.compute.conversions import PtrToIntOp
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.enums import MemSemantic, Space
from tileas_xdsl.dialects.nv_tileas.memory.structure import SEGMENTS
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.pipelines.queries import KernelFacts
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.target.arch import Target
from tileas_xdsl.threads.pipeline.occupancy import has_room_for_rotated_words
from tileas_xdsl.transforms.rotate_rows.kept_lines import fit, keep_lines

LANES = 32
WORD = 32
"""Elements of so many bits, one to each lane, fill the sectors of memory that they touch."""

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
    """The place of an access that may be rotated: of one row, by threads, in no order."""
    tile = op.result if isinstance(op, TiledLoadOp) else op.value
    view = op.view.owner
    if row_width(tile) is None or not isinstance(view, ViewOp):
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


def row_width(tile: SSAValue) -> int | None:
    """The elements of a tile that is one row; None of other tiles."""
    type_ = tile.type
    if not isa(type_, TensorType[Attribute]) or isinstance(type_.element_type, PtrType):
        return None
    *front, last = type_.get_shape() or (0,)
    return last if all(extent == 1 for extent in front) and last > 1 else None


@dataclass
class RotatedTiles:
    """The tiles that are rotated if one of them is."""

    width: int
    tiles: dict[SSAValue, None] = field(default_factory=dict[SSAValue, None])
    accesses: dict[Access, Place] = field(default_factory=dict[Access, Place])
    generated: dict[GenerateOp, None] = field(default_factory=dict[GenerateOp, None])
    _seen: set[Operation] = field(default_factory=set[Operation])

    @staticmethod
    def of(tile: SSAValue) -> RotatedTiles:
        """All tiles that meet a row; raises `UnrotatableError`."""
        width = row_width(tile)
        assert width is not None
        found = RotatedTiles(width)
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

    def _met(self, op: Operation) -> Sequence[SSAValue]:
        """The tiles that are rotated with those of an operation."""
        rows = [value for value in (*op.operands, *op.results) if row_width(value) == self.width]
        match op:
            case TiledLoadOp() | TiledStoreOp():
                if (place := place_of(op)) is None:
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
            case ExpandDimsOp() | ViewOp() if len(rows) == 2:
                return rows
            case _ if layout_role(op) is LayoutRole.ELEMENTWISE:
                return rows
            case _:
                pass
        raise UnrotatableError

    def _is_of_row(self, op: ReduceOp) -> bool:
        last = len(shape_of(op.sources[0].type) or ()) - 1
        is_alone = len(op.sources) == 1 and op.axis.value.data == last
        return is_alone and isinstance(combiner_of(op), COMMUTATIVE)

    def _met_in(self, op: GenerateOp) -> Sequence[SSAValue]:
        """The result, and the rows that are read at its coordinates."""
        if row_width(op.result) != self.width:
            raise UnrotatableError
        rows: list[SSAValue] = [op.result]
        for read in rows_read(op, self.width):
            if read.indices[-1] is not op.body.block.args[-1]:
                raise UnrotatableError
            rows.append(read.tensor)
        self.generated[op] = None
        return rows


def rows_read(op: GenerateOp, width: int) -> Iterator[tensor.ExtractOp]:
    """The operations in a body that take elements of rows."""
    for inner in operations_in(op.body.block):
        if isinstance(inner, tensor.ExtractOp) and row_width(inner.tensor) == width:
            yield inner


def _insertion_point(found: RotatedTiles, anchor: Access) -> Operation | None:
    """The first operation of a row in the block of an access; None where others are before it."""
    block = anchor.parent
    inside: set[Operation] = set()
    for op in (*found.accesses, *found.generated):
        while op.parent is not block:
            parent = op.parent_op()
            if parent is None:
                return None
            op = parent
        inside.add(op)
    assert block is not None
    return next(op for op in block.ops if op in inside)


def _is_before(value: SSAValue, op: Operation) -> bool:
    """Whether a value that something behind uses in the same block is there before `op`."""
    made = value.owner
    if isinstance(made, Block) or made.parent is not op.parent:
        return True
    return made.is_before_in_block(op)


class _Writer:
    """Inserts scalar arithmetic in front of an operation."""

    def __init__(self, point: InsertPoint) -> None:
        self.point = point

    def value(self, op: Operation) -> SSAValue:
        Rewriter.insert_op(op, self.point)
        return op.results[0]

    def constant(self, number: int) -> SSAValue:
        return self.value(arith.ConstantOp(IntegerAttr(number, i32)))

    def as_i32(self, value: SSAValue | int) -> SSAValue:
        """The last 32 bits of an integer."""
        if isinstance(value, int):
            return self.constant((value + (1 << 31)) % (1 << 32) - (1 << 31))
        if isinstance(value.type, IndexType):
            return self.value(arith.IndexCastOp(value, i32))
        return self.value(arith.TruncIOp(value, i32)) if value.type == i64 else value

    def begin_of(self, place: Place, vector: int) -> SSAValue:
        """Elements that a row begins behind a multiple of so many, which is a power of two."""
        total: SSAValue | None = None
        if stated_divisor(place.array.pointer) % ACCESS_BYTES:
            address = self.value(PtrToIntOp(place.array.pointer, i64))
            step = self.value(
                arith.ConstantOp(IntegerAttr((place.bits // 8).bit_length() - 1, i64))
            )
            total = self.as_i32(self.value(arith.ShRUIOp(address, step)))
        for index, stride in zip(place.coords, place.strides, strict=True):
            rows = self.value(arith.MuliOp(self.as_i32(index), self.as_i32(stride)))
            total = rows if total is None else self.value(arith.AddiOp(total, rows))
        assert total is not None
        return self.value(arith.AndIOp(total, self.constant(vector - 1)))


@dataclass(frozen=True)
class _Rotation:
    """A row to rotate, with all that it meets."""

    anchor: Access
    """Whose row begins at a vector then."""
    found: RotatedTiles
    first: Operation
    """In front of which it can be computed by how much."""

    @property
    def place(self) -> Place:
        """Where the row is."""
        return self.found.accesses[self.anchor]

    def promise(self, other: Place) -> int:
        """Bytes that divide the address of the first element of another row that is rotated."""
        if other.begins_as(self.place):
            return ACCESS_BYTES
        apart = gcd(other.alignment, self.place.alignment * other.bits // self.place.bits)
        return max(apart, other.bits // 8)

    @property
    def lines(self) -> Sequence[TiledLoadOp]:
        """The loads that it does not align, as those of weights."""
        loads = ((op, at) for op, at in self.found.accesses.items() if isinstance(op, TiledLoadOp))
        return [op for op, at in loads if self.promise(at) < ACCESS_BYTES]

    def keeps_lines(self, target: Target) -> bool:
        """Whether CTAs that take one row after another keep its lines.

        One line of narrow elements is not worth that: vectors that are cut out of two are as fast
        (rms_norm f16 of 5,003 0.89 of a copy, kept 0.86; f32 by words 0.82, kept 0.89; H200).
        """
        least = 1 if self.place.bits >= WORD else 2
        if len(self.lines) < least or not fit(self.lines, target):
            return False
        if isinstance(self.anchor.parent_op(), scf.ForOp):
            return True
        return not any(_axes(coord) for op in self.lines for coord in op.coords)

    def pays(self, warps: int, target: Target) -> bool:
        """Whether its accesses take less time than those by elements.

        Of a word in each lane, those fill sectors: lines of words are not cut out of vectors, and
        those that are not kept take registers of their own.
        """
        if self.place.bits < WORD or self.keeps_lines(target):
            return True
        return not self.lines and has_room_for_rotated_words(self.found.width, warps, target)


def _rotate(made: _Rotation) -> None:
    """Rotate all tiles so that the row of an access begins at a vector."""
    found, place = made.found, made.place
    write = _Writer(InsertPoint.before(made.first))
    begin = write.begin_of(place, 8 * ACCESS_BYTES // place.bits)
    shift = write.value(arith.SubiOp(write.constant(0), begin))
    offset, zero = (
        write.value(arith.IndexCastOp(v, IndexType())) for v in (shift, write.constant(0))
    )
    for op, other in found.accesses.items():
        _replace(op, [zero] * (len(op.coords) - 1) + [offset], made.promise(other))
    for op in found.generated:
        _rename_columns(op, found, shift)


def _replace(op: Access, offsets: Sequence[SSAValue], promise: int) -> None:
    """Give an access offsets, by which it rotates its rows."""
    new: Access
    if isinstance(op, TiledLoadOp):
        new = TiledLoadOp(
            op.view,
            op.coords,
            offsets=offsets,
            token=op.token,
            atom=op.atom,
            result_type=op.result.type,
            rotated=promise,
        )
    else:
        new = TiledStoreOp(
            op.value,
            op.view,
            op.coords,
            offsets=offsets,
            token=op.token,
            atom=op.atom,
            rotated=promise,
        )
    kept = {name: value for name, value in op.properties.items() if name != SEGMENTS}
    new.properties.update(kept)
    new.attributes.update(op.attributes)
    Rewriter.replace_op(op, new)


def _rename_columns(op: GenerateOp, found: RotatedTiles, shift: SSAValue) -> None:
    """Have a body compute with the columns that elements are, where it does not read rows."""
    block = op.body.block
    position, own = block.args[-1], set(rows_read(op, found.width))
    uses = [use for use in position.uses if use.operation not in own]
    if not uses:
        return
    assert block.first_op is not None
    write = _Writer(InsertPoint.before(block.first_op))
    moved = write.value(arith.AddiOp(write.as_i32(position), shift))
    inside = write.value(arith.AndIOp(moved, write.constant(found.width - 1)))
    column = write.value(arith.IndexCastOp(inside, IndexType()))
    for use in uses:
        use.operation.operands[use.index] = column


def _rotation_of(access: Access) -> _Rotation | set[Operation]:
    """What to rotate for the row of an access; if nothing, accesses that need not be asked for."""
    place = place_of(access)
    tile = access.result if isinstance(access, TiledLoadOp) else access.value
    width = row_width(tile)
    if place is None or width is None or place.alignment == ACCESS_BYTES:
        return set()
    if width * place.bits < 8 * ACCESS_BYTES * LANES:
        return set()
    try:
        found = RotatedTiles.of(tile)
    except UnrotatableError:
        return set()
    first = _insertion_point(found, access)
    needed = (*place.coords, *place.strides, place.array.pointer)
    given = [value for value in needed if isinstance(value, SSAValue)]
    if first is None or not all(_is_before(value, first) for value in given):
        return set(found.accesses)
    return _Rotation(access, found, first)


def _rotations(function: func.FuncOp) -> Iterator[_Rotation]:
    """Everything to rotate in a function, one after another."""
    seen = set[Operation]()
    for access in [a for a in operations_in(function) if isinstance(a, Access)]:
        if access in seen:
            continue
        made = _rotation_of(access)
        seen |= set(made.found.accesses) if isinstance(made, _Rotation) else made
        if isinstance(made, _Rotation):
            yield made


def meets_lines(function: func.FuncOp, target: Target) -> bool:
    """Whether rows are to be rotated that meet lines which all tile blocks load, aligned otherwise.

    Weights and biases of columns are such lines.
    """
    warps = KernelFacts(function).spec.num_warps
    return any(m.pays(warps, target) and m.keeps_lines(target) for m in _rotations(function))


def _axes(coord: SSAValue) -> set[str]:
    """The dimensions of the grid along which tile blocks have other coordinates."""
    ids = (op for op in operations_behind([coord]) if isinstance(op, gpu.BlockIdOp))
    return {str(op.dimension.data) for op in ids}


@dataclass(frozen=True)
class TileasRotateRows(ModulePass):
    """Rotate rows that begin between vectors, so that threads access them by vectors.

    Analysis, then rewrite, row by row: a row is followed to everything that it meets first.
    """

    name = "tileas-rotate-rows"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op, None)
        for function in instances_in(op, func.FuncOp):
            rotate_rows(function, target)
            keep_lines(function, target)


def rotate_rows(function: func.FuncOp, target: Target, *, in_memory: bool = False) -> None:
    """Rotate the rows of a function where that takes less time, as of all that are in memory."""
    warps = KernelFacts(function).spec.num_warps
    for made in _rotations(function):
        if in_memory or made.pays(warps, target):
            _rotate(made)
