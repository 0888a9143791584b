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

Of a tile of several rows each has an offset of its own, which differs from that of the row before
by the stride: `offset[-%stride, -%d] {modulus = 8}`.  A line of weights that they all meet is read
for each of them (`rotate_rows/repeated_lines.py`), out of shared memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import gcd, prod

from xdsl.context import Context
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    ModuleOp,
    i32,
    i64,
)
from xdsl.ir import Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.launches.pointer_base_arrays import stated_divisor
from tileas_xdsl.analysis.values.rows.equal_remainders import of_first_round
from tileas_xdsl.analysis.values.rows.row_extents import bytes_of_row
from tileas_xdsl.analysis.values.scalar_operations import grid_axes_behind
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import is_defined_before
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import spec_of
from tileas_xdsl.dialects.nv_tileaa.compute.conversions import PtrToIntOp
from tileas_xdsl.dialects.nv_tileas.memory.structure import SEGMENTS
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.layout.units import BYTE_BITS, WARP
from tileas_xdsl.target.arch import Target
from tileas_xdsl.threads.pipeline.occupancy import (
    RESERVED_SHARED_MEMORY,
    blocks_that_fit,
    has_room_for_rotated_words,
)
from tileas_xdsl.transforms.rotate_rows.kept_lines import (
    extend_lines,
    fit,
    keep_for_rows,
    keep_lines,
)
from tileas_xdsl.transforms.rotate_rows.repeated_lines import repeat_lines
from tileas_xdsl.transforms.rotate_rows.rotated_tiles import (
    Access,
    Place,
    RotatedTiles,
    UnrotatableError,
    count_of_rows,
    extents_of,
    place_of,
    tile_of,
)

WORD = 32
"""Elements of so many bits, one to each lane, fill the sectors of memory that they touch."""


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


def _steps_of(
    place: Place, extents: Sequence[int], vector: int
) -> Sequence[tuple[SSAValue, SSAValue | int, int]]:
    """Return what tiles are apart by in each dimension, modulo so many elements.

    Of each the index of a tile, as that of the first round of a loop where all rounds have an equal
    one, the elements from row to row, and the rows of a tile.
    """
    return [
        (of_first_round(index, vector // gcd(count, vector)), stride, count)
        for index, stride, count in zip(place.coords, place.strides, extents[:-1], strict=True)
        if count % vector
    ]


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

    def begin_of(self, place: Place, extents: Sequence[int], vector: int) -> SSAValue:
        """Elements that a tile begins behind a multiple of so many, which is a power of two."""
        total: SSAValue | None = None
        if stated_divisor(place.array.pointer) % ACCESS_BYTES:
            address = self.value(PtrToIntOp(place.array.pointer, i64))
            step = self.value(
                arith.ConstantOp(IntegerAttr((place.bits // 8).bit_length() - 1, i64))
            )
            total = self.as_i32(self.value(arith.ShRUIOp(address, step)))
        for index, stride, count in _steps_of(place, extents, vector):
            rows = self.value(arith.MuliOp(self.as_i32(index), self.as_i32(stride)))
            if count > 1:
                rows = self.value(arith.MuliOp(rows, self.constant(count)))
            total = rows if total is None else self.value(arith.AddiOp(total, rows))
        if total is None:
            return self.constant(0)
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
    def modulus(self) -> int:
        """Elements of a vector."""
        return 8 * ACCESS_BYTES // self.place.bits

    @property
    def point(self) -> InsertPoint:
        """Where by how much is computed: in front of a loop all of whose rounds have it alike."""
        place, loop = self.place, self.first.parent_op()
        steps = _steps_of(place, self.found.extents, self.modulus)
        needed = [place.array.pointer, *place.strides, *(index for index, _, _ in steps)]
        given = [value for value in needed if isinstance(value, SSAValue)]
        if isinstance(loop, scf.ForOp) and not any(loop.is_ancestor(v.owner) for v in given):
            return InsertPoint.before(loop)
        return InsertPoint.before(self.first)

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
        (rms_norm f16 of 5,003 0.89 of a copy, kept 0.86; f32 by words 0.82, kept 0.89; H200).  Of
        several rows it is, whose lines are kept in any case, and loaded once then; but words, which
        nothing is cut out of, are as fast from the cache (rms_norm of 1,001 in tiles of two rows,
        f16 0.85, 0.92 in a loop, f32 0.94, 0.91).
        """
        is_of_words, are_several = self.place.bits >= WORD, self.found.are_several
        least = 1 if are_several or is_of_words else 2
        if len(self.lines) < least or not fit(self.lines, target):
            return False
        if are_several and is_of_words:
            return False
        if isinstance(self.anchor.parent_op(), scf.ForOp):
            return True
        return not any(grid_axes_behind(op.coords) for op in self.lines)

    @property
    def rows(self) -> Sequence[TiledLoadOp]:
        """The loads of rows that begin at a vector then."""
        lines = set(self.lines)
        return [op for op in self.found.accesses if isinstance(op, TiledLoadOp) and op not in lines]

    def has_whole_vectors(self, warps: int) -> bool:
        """Whether threads have vectors of the widest access of all rows and lines."""
        around = max(warps // count_of_rows(self.found.extents), 1)
        are_equal = {at.bits for at in self.found.accesses.values()} == {self.place.bits}
        row_bytes = self.found.width * self.place.bits // BYTE_BITS
        return are_equal and row_bytes >= ACCESS_BYTES * WARP * around

    def pays(self, warps: int, target: Target) -> bool:
        """Whether its accesses take less time than those by elements.

        Of a word in each lane, those fill sectors: lines of words are not cut out of vectors, and
        those that are not kept take registers of their own.  Where a row begins and ends is
        computed for each row of a thread, which pays for one.
        """
        if count_of_rows(self.found.extents) > warps:
            return False
        if self.place.bits < WORD or self.keeps_lines(target):
            return True
        elements = prod(self.found.extents)
        return not self.lines and has_room_for_rotated_words(elements, warps, target)


@dataclass(frozen=True)
class _Shift:
    """By how many columns rows are rotated, 0 or less."""

    first: SSAValue
    """The first row of a tile, `i32`."""
    steps: Sequence[SSAValue] = ()
    """What comes to that from row to row in each dimension, `i32`; none of one row."""
    modulus: int | None = None
    """More than rows are rotated by, a power of two; None of one row."""

    @staticmethod
    def of(write: _Writer, made: _Rotation) -> _Shift:
        """The shift of rows that begin at a vector then."""
        place, extents, zero = made.place, made.found.extents, write.constant(0)
        modulus = made.modulus
        first = write.value(arith.SubiOp(zero, write.begin_of(place, extents, modulus)))
        if not made.found.are_several:
            return _Shift(first)
        steps = [write.value(arith.SubiOp(zero, write.as_i32(n))) for n in place.strides]
        return _Shift(first, steps, modulus)

    def of_row(self, write: _Writer, row: Sequence[SSAValue]) -> SSAValue:
        """That of the row at some coordinates of a tile."""
        if self.modulus is None:
            return self.first
        total, zero = self.first, write.constant(0)
        for index, step in zip(row, self.steps, strict=True):
            more = write.value(arith.MuliOp(write.as_i32(index), step))
            total = write.value(arith.AddiOp(total, more))
        back = write.value(arith.SubiOp(zero, total))
        behind = write.value(arith.AndIOp(back, write.constant(self.modulus - 1)))
        return write.value(arith.SubiOp(zero, behind))


def _rotate(made: _Rotation, target: Target) -> None:
    """Rotate all tiles so that the rows of an access begin at a vector."""
    found = made.found
    write = _Writer(made.point)
    shift = _Shift.of(write, made)
    offset, zero, *steps = (
        write.value(arith.IndexCastOp(v, IndexType()))
        for v in (shift.first, write.constant(0), *shift.steps)
    )
    promises = {op: made.promise(place) for op, place in found.accesses.items()}
    repeated = _repeat_lines(found)
    rotated: dict[Operation, Access] = {}
    for op, promise in promises.items():
        now = repeated.get(op, op)
        front = steps or [zero] * (len(now.coords) - 1)
        rotated[op] = _replace(now, [*front, offset], promise, shift.modulus)
    for op in found.generated:
        _rename_columns(op, found, shift)
    lines = [one for op in repeated if isinstance(one := rotated[op], TiledLoadOp)]
    keep_for_rows(lines, rotated.get(made.first, made.first), target)


def _repeat_lines(found: RotatedTiles) -> Mapping[Operation, Access]:
    """Load lines once for each row that is combined with them; return the new loads by the old."""
    lines = [tile for tile in found.tiles if found.is_line(tile)]
    reads = [
        read for op in found.generated for read in found.read_in(op) if found.is_line(read.tensor)
    ]
    return {**repeat_lines(lines, reads, found.extents)}


def _replace(op: Access, offsets: Sequence[SSAValue], promise: int, modulus: int | None) -> Access:
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
            modulus=modulus,
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
            modulus=modulus,
        )
    kept = {name: value for name, value in op.properties.items() if name != SEGMENTS}
    new.properties.update(kept)
    new.attributes.update(op.attributes)
    Rewriter.replace_op(op, new)
    return new


def _rename_columns(op: GenerateOp, found: RotatedTiles, shift: _Shift) -> None:
    """Have a body compute with the columns that elements are, where it does not read rows."""
    block = op.body.block
    position, own = block.args[-1], set(found.read_in(op))
    uses = [use for use in position.uses if use.operation not in own]
    if not uses:
        return
    assert block.first_op is not None
    write = _Writer(InsertPoint.before(block.first_op))
    of_row = shift.of_row(write, block.args[:-1])
    moved = write.value(arith.AddiOp(write.as_i32(position), of_row))
    inside = write.value(arith.AndIOp(moved, write.constant(found.width - 1)))
    column = write.value(arith.IndexCastOp(inside, IndexType()))
    for use in uses:
        use.operation.operands[use.index] = column


def _rotation_of(access: Access) -> _Rotation | set[Operation]:
    """What to rotate for the row of an access; if nothing, accesses that need not be asked for."""
    place, tile = place_of(access), tile_of(access)
    extents = extents_of(tile)
    if place is None or extents is None or place.alignment == ACCESS_BYTES:
        return set()
    if extents[-1] * place.bits < 8 * ACCESS_BYTES * WARP:
        return set()
    try:
        found = RotatedTiles.of(tile)
    except UnrotatableError:
        return set()
    first = _insertion_point(found, access)
    needed = (*place.coords, *place.strides, place.array.pointer)
    given = [value for value in needed if isinstance(value, SSAValue)]
    if first is None or not all(is_defined_before(value, first) for value in given):
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


@dataclass(frozen=True)
class RowsWithLines:
    """The rows to rotate of a function that are combined with lines kept in shared memory.

    Weights and biases of columns are such lines: all tile blocks load them, aligned otherwise.
    """

    function: func.FuncOp
    target: Target
    rotations: Sequence[_Rotation]

    @staticmethod
    def of(function: func.FuncOp, target: Target) -> RowsWithLines:
        """Return the rows of a function; there may be none."""
        warps, found = spec_of(function).num_warps, _rotations(function)
        made = [one for one in found if one.pays(warps, target) and one.keeps_lines(target)]
        return RowsWithLines(function, target, made)

    @property
    def loads(self) -> Sequence[TiledLoadOp]:
        """The loads of the rows."""
        return [op for made in self.rotations for op in made.rows]

    def have_room_for_next(self) -> bool:
        """Whether shared memory has room for the lines and the rows of the next iteration.

        As many CTAs have to be resident on a multiprocessor as with the lines alone.
        """
        function, target, found = self.function, self.target, self.rotations
        warps = spec_of(function).num_warps
        if not found or not all(made.has_whole_vectors(warps) for made in found):
            return False
        lines = sum(bytes_of_row(op) for made in found for op in made.lines)
        rows = sum(
            count_of_rows(made.found.extents) * bytes_of_row(op)
            for made in found
            for op in made.rows
        )
        usual, ahead = (blocks_that_fit(function, warps, n, target) for n in (lines, lines + rows))
        fits = lines + rows + RESERVED_SHARED_MEMORY <= target.shared_memory_per_block
        return fits and ahead >= usual


def rotate_rows_of_lines(function: func.FuncOp, target: Target) -> None:
    """Rotate rows that are combined with lines, so that loops can load them an iteration ahead."""
    for made in RowsWithLines.of(function, target).rotations:
        _rotate(made, target)


def has_rows_to_rotate(function: func.FuncOp) -> bool:
    """Whether a function has rows that are rotated where they are in memory."""
    return any(not made.found.are_several for made in _rotations(function))


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
            extend_lines(function, target)


def rotate_rows(function: func.FuncOp, target: Target, *, in_memory: bool = False) -> None:
    """Rotate the rows of a function where that takes less time, as of all that are in memory.

    Several rows of a tile are not in memory.
    """
    warps = spec_of(function).num_warps
    for made in _rotations(function):
        is_rotated = not made.found.are_several if in_memory else made.pays(warps, target)
        if is_rotated:
            _rotate(made, target)
