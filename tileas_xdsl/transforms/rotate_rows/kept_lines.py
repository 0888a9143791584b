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

from collections.abc import Iterator, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import IndexType, IntegerAttr, TensorType, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from tileas_xdsl.analysis.memory.kept_tiles import free_numbers, is_aligned
from tileas_xdsl.analysis.values.rows.row_extents import bytes_of_row
from tileas_xdsl.analysis.values.scalar_operations import operations_behind
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import enclosing_function
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.memory.tiled import (
    KEPT,
    AsyncTiledLoadOp,
    TiledLoadBase,
    TiledLoadOp,
)
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType
from tileas_xdsl.target.arch import Target
from tileas_xdsl.threads.pipeline.occupancy import RESERVED_SHARED_MEMORY
from tileas_xdsl.transforms.pipeline_loads.rounds.kept_lines import is_same_in_each_round
from tileas_xdsl.transforms.pipeline_loads.rounds.loads_ahead import is_of_numbers
from tileas_xdsl.transforms.pipeline_loads.rounds.loads_together import writes_by_place
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
        for line, number in zip(lines, free_numbers(loop, len(lines)), strict=True):
            _keep(loop, line, IntegerAttr(number, i32))


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
    """Keep lines that are loaded for each row of tiles, from before the first of these on."""
    function = enclosing_function(first)
    if (
        function is None
        or not fit(lines, target)
        or any(map(writes_by_place, operations_in(function)))
    ):
        return
    for line in lines:
        behind = set(operations_behind(_place(line)))
        moved = [op for op in _between(first, line) if op in behind]
        if line.parent is first.parent and all(map(is_of_numbers, moved)):
            (number,) = free_numbers(function, 1)
            _keep_for_rows(line, first, moved, IntegerAttr(number, i32))


def _between(first: Operation, last: Operation) -> Iterator[Operation]:
    """An operation, and those behind it in its block up to another one."""
    op: Operation | None = first
    while op is not None and op is not last:
        yield op
        op = op.next_op


def _keep_for_rows(
    line: TiledLoadOp, first: Operation, moved: Sequence[Operation], number: IntegerAttr
) -> None:
    build, known = Builder(InsertPoint.before(first)), dict[SSAValue, SSAValue]()
    for op in moved:
        build.insert(op.clone(known))
    view, type_ = line.view.owner, line.result.type
    assert isinstance(view, ViewOp)
    assert isinstance(view.result.type, TiledViewType)
    assert isa(type_, TensorType[Attribute])
    row = (*(1 for _ in line.coords[1:]), type_.get_shape()[-1])
    kind = TiledViewType(row, type_.element_type, view.result.type.residency)
    window = build.insert(ViewOp(known.get(view.source, view.source), kind))
    zero = build.insert(arith.ConstantOp.from_int_and_width(0, IndexType())).result
    made = AsyncTiledLoadOp(
        window.result,
        [known.get(value, value) for value in line.coords],
        atom=line.atom,
        offsets=[zero] * len(line.offsets),
        token=None if line.token is None else known.get(line.token, line.token),
        result_type=TensorType(type_.element_type, row),
        padding=line.padding_value,
        rotated=None if line.rotated is None else line.rotated.value.data,
    )
    made.attributes |= line.attributes | {KEPT: number}
    made.location, made.result.name_hint = line.location, line.result.name_hint
    build.insert(made)
    waited = WaitOp(made.result)
    waited.location = line.location
    Rewriter.insert_op(waited, InsertPoint.before(line))
    line.attributes[KEPT] = number


def _keep(loop: RoundLoop, line: TiledLoadOp, number: IntegerAttr) -> None:
    """Load a line in front of a loop, for the load in it."""
    build = Builder(InsertPoint.before(loop))
    known: dict[SSAValue, SSAValue] = {}
    behind = set(operations_behind(_place(line)))
    for one in round_of(loop).ops:
        if one in behind:
            build.insert(one.clone(known))
    zero = build.insert(arith.ConstantOp.from_int_and_width(0, IndexType())).result
    assert line.rotated is not None
    made = AsyncTiledLoadOp(
        known.get(line.view, line.view),
        [known.get(value, value) for value in line.coords],
        atom=line.atom,
        offsets=[zero] * len(line.offsets),
        token=None if line.token is None else known.get(line.token, line.token),
        result_type=line.result.type,
        padding=line.padding_value,
        rotated=line.rotated.value.data,
    )
    made.attributes |= line.attributes | {KEPT: number}
    made.location, made.result.name_hint = line.location, line.result.name_hint
    build.insert(made)
    build.insert(WaitOp(made.result)).location = line.location
    line.attributes[KEPT] = number
