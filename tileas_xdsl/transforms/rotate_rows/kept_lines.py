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
from xdsl.ir import Block, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.scalar_operations import operations_behind
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.memory.tiled import KEPT, TiledLoadOp
from tileas_xdsl.layout.registers.blocked import ACCESS_BYTES
from tileas_xdsl.transforms.pipeline_loads.loads_ahead import is_of_numbers, is_plain_load
from tileas_xdsl.transforms.pipeline_loads.loads_together import writes_by_place
from tileas_xdsl.transforms.pipeline_loads.next_rounds import (
    await_load,
    computed_before,
    started,
)


def keep_lines(function: func.FuncOp) -> None:
    """Keep the lines of all loops over rows; programs that write what they read by place do not."""
    for loop in instances_in(function, scf.ForOp):
        lines = _lines_of(loop)
        offsets = dict.fromkeys(op.offsets[-1] for op in lines)
        for offset in offsets:
            loop = _keep(loop, [op for op in lines if op.offsets[-1] is offset])


def _lines_of(loop: scf.ForOp) -> Sequence[TiledLoadOp]:
    """The loads of a loop that differ from round to round in how they are rotated, if at all."""
    return [op for op in loop.body.block.ops if isinstance(op, TiledLoadOp) and _is_line(op)]


def _is_line(op: TiledLoadOp) -> bool:
    is_rotated = op.rotated is not None and op.rotated.value.data % ACCESS_BYTES != 0
    return is_rotated and _is_same_in_each_round(op)


def _is_same_in_each_round(op: TiledLoadOp) -> bool:
    """Whether a load in a loop is the same in each round, but for how it may be rotated."""
    loop = op.parent_op()
    if not isinstance(loop, scf.ForOp) or any(map(writes_by_place, operations_in(loop.body))):
        return False
    if not is_plain_load(op) or (op.out_token is not None and op.out_token.uses):
        return False
    place = [value for value in op.operands if value not in op.offsets]
    behind = [one for one in operations_behind(op.operands) if one.parent is loop.body.block]
    moves = any(value.owner is loop.body.block for value in _made_of(place))
    return not moves and all(map(is_of_numbers, behind))


def _made_of(values: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Values, and those that they are computed of."""
    return [*values, *(used for one in operations_behind(values) for used in one.operands)]


def _keep(loop: scf.ForOp, lines: Sequence[TiledLoadOp]) -> scf.ForOp:
    """Load lines in front of a loop, and again where a round has them rotated otherwise.

    Returns the loop, which has become another one.
    """
    first, numbers = Builder(InsertPoint.before(loop)), _free_numbers(loop, len(lines))
    given: Sequence[SSAValue] = (loop.lb, *loop.iter_args)
    begin: dict[SSAValue, SSAValue] = dict(zip(loop.body.block.args, given, strict=True))
    known = computed_before(lines, first, begin)
    offset = lines[0].offsets[-1]
    loads = [started(op, known, number) for op, number in zip(lines, numbers, strict=True)]
    begun = [first.insert(load).result for load in loads]
    new = _carrying(loop, [*begun, known.get(offset, offset)])
    *tokens, before = new.body.block.args[-len(lines) - 1 :]
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
    last = new.body.block.last_op
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


def _free_numbers(loop: scf.ForOp, count: int) -> range:
    """Numbers of tiles in shared memory that no load has yet."""
    function = loop
    while not isinstance(function, func.FuncOp):
        parent = function.parent_op()
        assert parent is not None
        function = parent
    used = [op.attributes.get(KEPT) for op in operations_in(function)]
    first = 1 + max((one.value.data for one in used if isinstance(one, IntegerAttr)), default=-1)
    return range(first, first + count)


def _carrying(loop: scf.ForOp, values: Sequence[SSAValue]) -> scf.ForOp:
    """The loop with more values that it carries; it yields what it is given of them."""
    old = loop.body.block
    body = Block(arg_types=[value.type for value in (*old.args, *values)])
    for arg, now in zip(old.args, body.args, strict=False):
        now.name_hint = arg.name_hint
        arg.replace_all_uses_with(now)
    for op in list(old.ops):
        op.detach()
        body.add_op(op)
    made = scf.ForOp(loop.lb, loop.ub, loop.step, [*loop.iter_args, *values], Region(body))
    made.attributes |= loop.attributes
    made.location = loop.location
    Rewriter.insert_op(made, InsertPoint.before(loop))
    for before, after in zip(loop.results, made.results, strict=False):
        before.replace_all_uses_with(after)
    Rewriter.erase_op(loop)
    last = body.last_op
    assert last is not None
    last.operands = [*last.operands, *body.args[len(old.args) :]]
    return made
