"""Keep lines that rotated rows meet in shared memory, from one row of a loop to the next.

    scf.for %i {                                     %f = async.tiled_load %w offset[-%d0] {kept}
      %x = tiled_load %v[%i] offset[-%d]             scf.for %i iter_args(%g = %f, %e = -%d0) {
      %y = tiled_load %w[0] offset[-%d]                %x = tiled_load %v[%i] offset[-%d]
      use %x, %y                                ->     %h = scf.if %e == -%d { %g } else {
    }                                                    async.tiled_load %w offset[-%d] {kept} }
                                                       %y = async.wait %h
                                                       use %x, %y
                                                       yield %h, -%d }

Weights of columns begin at a vector, but not where a rotated row does: elements are loaded one by
one.  Rows whose distance in memory is a multiple of 16 bytes are rotated alike, so that a loop that
steps by eight rows, or more often that, loads each line once.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, func, scf
from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Block, Operation, Region
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.scalar_operations import operations_behind
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.memory.tiled import KEPT, TiledLoadOp
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.transforms.pipeline_loads.kept_lines import is_same_in_each_round
from tileas_xdsl.transforms.pipeline_loads.next_rounds import (
    await_load,
    computed_before,
    started,
)
from tileas_xdsl.transforms.pipeline_loads.rounds import (
    RoundLoop,
    begin_of,
    carrying,
    is_of_rounds,
    round_of,
)


def keep_lines(function: func.FuncOp) -> None:
    """Keep the lines of all loops over rows; programs that write what they read by place do not."""
    loops = instances_in(function, scf.ForOp, scf.WhileOp)
    for loop in [one for one in loops if is_of_rounds(one)]:
        lines = _lines_of(loop)
        offsets = dict.fromkeys(op.offsets[-1] for op in lines)
        for offset in offsets:
            loop = _keep(loop, [op for op in lines if op.offsets[-1] is offset])


def _lines_of(loop: RoundLoop) -> Sequence[TiledLoadOp]:
    """The loads of a loop that differ from round to round in how they are rotated, if at all."""
    ops = round_of(loop).ops
    return [op for op in ops if isinstance(op, TiledLoadOp) and _is_line(op, loop)]


def _is_line(op: TiledLoadOp, loop: RoundLoop) -> bool:
    is_rotated = op.rotated is not None and op.rotated.value.data % ACCESS_BYTES != 0
    return is_rotated and is_same_in_each_round(op, loop)


def _keep(loop: RoundLoop, lines: Sequence[TiledLoadOp]) -> RoundLoop:
    """Load lines in front of a loop, and again where a round has them rotated otherwise.

    Returns the loop, which has become another one.
    """
    first, numbers = Builder(InsertPoint.before(loop)), _free_numbers(loop, len(lines))
    known = computed_before(lines, first, begin_of(loop))
    offset = lines[0].offsets[-1]
    loads = [started(op, known, number) for op, number in zip(lines, numbers, strict=True)]
    begun = [first.insert(load).result for load in loads]
    new = carrying(loop, [*begun, known.get(offset, offset)])
    *tokens, before = round_of(new).args[-len(lines) - 1 :]
    _compute_in_front(lines)
    build = Builder(InsertPoint.before(lines[0]))
    is_same = build.insert(arith.CmpiOp(offset, before, "eq")).result
    same, other = Block([scf.YieldOp(*tokens)]), Block()
    inner = Builder(InsertPoint.at_end(other))
    again = [inner.insert(started(op, {}, n)).result for op, n in zip(lines, numbers, strict=True)]
    inner.insert(scf.YieldOp(*again))
    types = [token.type for token in tokens]
    there = build.insert(scf.IfOp(is_same, types, Region(same), Region(other))).results
    for op, token in zip(lines, there, strict=True):
        await_load(op, token)
    last = round_of(new).last_op
    assert last is not None
    last.operands = [*last.operands[: -len(lines) - 1], *there, offset]
    return new


def _compute_in_front(lines: Sequence[TiledLoadOp]) -> None:
    """Move what lines need in front of the first of them."""
    first, block = lines[0], lines[0].parent
    assert block is not None
    behind = set(operations_behind([value for op in lines for value in op.operands]))
    for op in [op for op in block.ops if op in behind and not op.is_before_in_block(first)]:
        op.detach()
        Rewriter.insert_op(op, InsertPoint.before(first))


def _free_numbers(loop: RoundLoop, count: int) -> range:
    """Numbers of tiles in shared memory that no load has yet."""
    function: Operation = loop
    while not isinstance(function, func.FuncOp):
        parent = function.parent_op()
        assert parent is not None
        function = parent
    used = [op.attributes.get(KEPT) for op in operations_in(function)]
    first = 1 + max((one.value.data for one in used if isinstance(one, IntegerAttr)), default=-1)
    return range(first, first + count)
