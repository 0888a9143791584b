"""Keep lines that are combined with rotated rows in shared memory, for all rows of a loop.

    scf.for %i {                                     %f = async.tiled_load %w offset[0] {kept = 0}
      %x = tiled_load %v[%i] offset[-%d]             async.wait %f
      %y = tiled_load %w[0] offset[-%d]       ->     scf.for %i {
      use %x, %y                                       %x = tiled_load %v[%i] offset[-%d]
    }                                                  %y = tiled_load %w[0] offset[-%d] {kept = 0}
                                                       use %x, %y }

Weights of columns begin at a vector, but not where a rotated row does.  They are loaded once, and
lie in shared memory so that each row reads them from another element on (`rows/kept_lines.py`).
So are those that are combined with several rows of a tile: in front of these rows, and stored
where they are read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, TensorType, UnitAttr, f32, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from tileas_xdsl.analysis.memory.kept_tiles import free_numbers, is_aligned, readers_of
from tileas_xdsl.analysis.values.rows.row_extents import bytes_of_row, row_width
from tileas_xdsl.analysis.values.scalar_operations import operations_behind
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import enclosing_function
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import spec_of
from tileas_xdsl.dialects.nv_tileas.memory.tiled import (
    KEPT,
    KEPT_AS_READ,
    KEPT_EXTENDED,
    AsyncTiledLoadOp,
    TiledLoadBase,
    TiledLoadOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.nv_tileas.tma.store_order import writes_unordered
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType
from tileas_xdsl.target.arch import Target
from tileas_xdsl.threads.pipeline.occupancy import RESERVED_SHARED_MEMORY, blocks_that_fit
from tileas_xdsl.transforms.pipeline_loads.rounds.kept_lines import is_same_in_each_round
from tileas_xdsl.transforms.pipeline_loads.rounds.loads_ahead import is_of_numbers
from tileas_xdsl.transforms.pipeline_loads.rounds.next_rounds import started
from tileas_xdsl.transforms.pipeline_loads.rounds.rounds import RoundLoop, is_of_rounds, round_of


def keep_lines(function: func.FuncOp, target: Target) -> None:
    """Keep the lines of all loops over rows; programs that write what they read by place do not."""
    loops = instances_in(function, scf.ForOp, scf.WhileOp)
    for loop in [one for one in loops if is_of_rounds(one)]:
        loads = [op for op in round_of(loop).ops if isinstance(op, TiledLoadOp)]
        lines = [op for op in loads if _is_line(op, loop)]
        kept = [op for op in instances_in(function, AsyncTiledLoadOp) if KEPT in op.attributes]
        numbers = {op.attributes[KEPT]: op for op in kept}
        if not fit([*lines, *numbers.values()], target):
            continue
        are_own = _are_read_alike(lines, loop, function, target)
        begun: list[AsyncTiledLoadOp] = []
        for line, number in zip(lines, free_numbers(loop, len(lines)), strict=True):
            behind = set(operations_behind(line.operands if are_own else _place(line)))
            moved = [op for op in round_of(loop).ops if op in behind]
            keep = _keep_as_read if are_own else _keep
            begun.append(keep(line, loop, moved, IntegerAttr(number, i32)))
        for load in begun:
            _await(load, loop)


def _are_read_alike(
    lines: Sequence[TiledLoadOp], loop: RoundLoop, function: func.FuncOp, target: Target
) -> bool:
    """Whether all rounds rotate lines alike, so that each thread keeps what it reads of them.

    Several rows have a line each then, for which as many CTAs have to have room, also of the words
    that its elements are extended to (H200, of a copy, by words and by threads without: layer_norm
    f16 of 1,001 in tiles of four rows 0.82, 0.77, of 2,047 in tiles of two 0.84, 0.79).
    """
    block = round_of(loop)
    offsets = [value for line in lines for value in line.offsets]
    behind = [*offsets, *(v for op in operations_behind(offsets) for v in op.operands)]
    if any(value.owner is block for value in behind):
        return False
    warps, every = spec_of(function).num_warps, instances_in(function, AsyncTiledLoadOp)
    kept = sum(_bytes_of(op) for op in every if KEPT in op.attributes)
    kinds = [(element_of(one.view.type), _extended_by(one.result)) for one in lines]
    wider = [bits_of(kind or own) // bits_of(own) for own, kind in kinds]
    shared, own = (
        kept + sum(size(line) * factor for line, factor in zip(lines, wider, strict=True))
        for size in (bytes_of_row, _bytes_of)
    )
    before, after = (blocks_that_fit(function, warps, n, target) for n in (shared, own))
    return own + RESERVED_SHARED_MEMORY <= target.shared_memory_per_block and after >= before


def _bytes_of(op: TiledLoadBase) -> int:
    """The bytes of all rows of a tile, as far as they are known to reach."""
    return bytes_of_row(op) * prod(shape_of(op.loaded_type()) or ()) // row_width(op)


def extend_lines(function: func.FuncOp, target: Target) -> None:
    """Keep lines in the type that all of their readers extend them to, where memory suffices.

    A word is then an element: neither is one cut out of two words nor converted for each row.
    """
    every = [op for op in instances_in(function, AsyncTiledLoadOp) if KEPT in op.attributes]
    lines = [op for op in every if op.rotated is not None and not is_aligned(op)]
    wider = {op: kind for op in lines if (kind := _extended_type(op)) is not None}
    usual = sum(map(_bytes_of, every))
    more = sum(
        _bytes_of(op) * (bits_of(kind) - bits) // bits
        for op, kind in wider.items()
        if (bits := bits_of(element_of(op.view.type)))
    )
    warps = spec_of(function).num_warps
    if usual + more + RESERVED_SHARED_MEMORY > target.shared_memory_per_block:
        return
    before, after = (
        blocks_that_fit(function, warps, bytes_, target) for bytes_ in (usual, usual + more)
    )
    if after == before:
        for op, kind in wider.items():
            op.attributes[KEPT_EXTENDED] = kind


def _extended_type(op: AsyncTiledLoadOp) -> Attribute | None:
    """The word type that all readers of a line extend its elements to; None if there is none."""
    return _extended_by(*(reader.result for reader in readers_of(op)))


def _extended_by(*values: SSAValue) -> Attribute | None:
    users = [use.operation for value in values for use in value.uses]
    types = {user.result.type for user in users if isinstance(user, arith.ExtFOp)}
    kinds = {element_of(type_) for type_ in types}
    is_extended = all(isinstance(user, arith.ExtFOp) for user in users)
    return f32 if is_extended and kinds == {f32} else None


def fit(lines: Sequence[TiledLoadBase], target: Target) -> bool:
    """Whether shared memory has room for lines, as far as rows are known to reach."""
    bytes_ = sum(map(bytes_of_row, lines)) + RESERVED_SHARED_MEMORY
    return bytes_ <= target.shared_memory_per_block


def _is_line(op: TiledLoadOp, loop: RoundLoop) -> bool:
    is_rotated = op.rotated is not None and not is_aligned(op)
    return is_rotated and is_same_in_each_round(op, loop)


def _place(op: TiledLoadOp) -> Sequence[SSAValue]:
    """What a load takes but how it is rotated."""
    return [value for value in op.operands if value not in op.offsets]


def keep_for_rows(lines: Sequence[TiledLoadOp], first: Operation, target: Target) -> None:
    """Keep lines that are loaded for each row of tiles, from before the first of these on.

    Those that are the same in all rounds of a loop are left to `keep_lines`.
    """
    function = enclosing_function(first)
    if (
        function is None
        or not fit(lines, target)
        or any(map(writes_unordered, operations_in(function)))
    ):
        return
    loop = first.parent_op()
    for line in lines:
        if isinstance(loop, RoundLoop) and is_of_rounds(loop) and _is_line(line, loop):
            continue
        behind = set(operations_behind(_place(line)))
        moved = [op for op in _between(first, line) if op in behind]
        if line.parent is first.parent and all(map(is_of_numbers, moved)):
            (number,) = free_numbers(function, 1)
            _await(_keep(line, first, moved, IntegerAttr(number, i32)), line)


def _between(first: Operation, last: Operation) -> Iterator[Operation]:
    """An operation, and those behind it in its block up to another one."""
    op: Operation | None = first
    while op is not None and op is not last:
        yield op
        op = op.next_op


def _await(load: AsyncTiledLoadOp, place: Operation) -> None:
    """Wait for a line in front of a place: all others are on their way then."""
    waited = WaitOp(load.result)
    waited.location = load.location
    Rewriter.insert_op(waited, InsertPoint.before(place))


def _keep(
    line: TiledLoadOp, place: Operation, moved: Sequence[Operation], number: IntegerAttr
) -> AsyncTiledLoadOp:
    """Load a line in front of a place, once for all rows of its tile; `moved` is computed there."""
    build, known = Builder(InsertPoint.before(place)), dict[SSAValue, SSAValue]()
    for op in moved:
        build.insert(op.clone(known))
    type_ = line.result.type
    assert isa(type_, TensorType[Attribute])
    assert line.rotated is not None
    row = (*(1 for _ in line.coords[1:]), type_.get_shape()[-1])
    zero = build.insert(arith.ConstantOp.from_int_and_width(0, IndexType())).result
    made = AsyncTiledLoadOp(
        _of_one_row(line, row, known, build),
        [known.get(value, value) for value in line.coords],
        atom=line.atom,
        offsets=[zero] * len(line.offsets),
        token=None if line.token is None else known.get(line.token, line.token),
        result_type=TensorType(type_.element_type, row),
        padding=line.padding_value,
        rotated=line.rotated.value.data,
    )
    made.attributes |= line.attributes | {KEPT: number}
    made.location, made.result.name_hint = line.location, line.result.name_hint
    build.insert(made)
    line.attributes[KEPT] = number
    return made


def _keep_as_read(
    line: TiledLoadOp, place: Operation, moved: Sequence[Operation], number: IntegerAttr
) -> AsyncTiledLoadOp:
    """Load a line in front of a place, once for all rounds, as its reader has it."""
    build, known = Builder(InsertPoint.before(place)), dict[SSAValue, SSAValue]()
    for op in moved:
        build.insert(op.clone(known))
    made = started(line, known, number.value.data)
    made.attributes[KEPT_AS_READ] = UnitAttr()
    build.insert(made)
    line.attributes[KEPT] = number
    return made


def _of_one_row(
    line: TiledLoadOp, row: Sequence[int], known: Mapping[SSAValue, SSAValue], build: Builder
) -> SSAValue:
    """The view of a line, which may have it for each row of a tile, as that of one row."""
    view = line.view.owner
    if shape_of(line.result.type) == row or not isinstance(view, ViewOp):
        return known.get(line.view, line.view)
    type_, element = view.result.type, element_of(line.view.type)
    assert isinstance(type_, TiledViewType)
    assert element is not None
    kind = TiledViewType(row, element, type_.residency)
    return build.insert(ViewOp(known.get(view.source, view.source), kind)).result
