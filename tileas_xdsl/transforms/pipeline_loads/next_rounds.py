"""Load the rows of the next round of a loop while those of this one are computed.

    scf.for %t {                              %f = async.tiled_load %v[%low] {kept}
      %x = tiled_load %v[%t]                  scf.for %t iter_args(%g = %f) {
      %m = reduce %x                            %x = async.wait %g
      ...                              ->       %h = scf.if %t + %step < %high {
    }                                               async.tiled_load %v[%t + %step] {kept}
                                                  } else { %g }
                                                %m = reduce %x
                                                ...
                                                yield %h }

Threads copy the row into shared memory (`cp.async`), each the chunks that it has in registers one
round later, so that nothing but its own copies is waited for.  Registers hold one row, not two.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.scalar_operations import operations_behind
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.control import GridDependencyOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import KEPT, AsyncTiledLoadOp, TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.transforms.pipeline_loads.loads_ahead import is_of_numbers, is_plain_load
from tileas_xdsl.transforms.pipeline_loads.loads_together import LOADED_TOGETHER, writes_by_place

ROWS_AHEAD = "nv_tileas.rows_ahead"
"""On a kernel whose rows should be loaded a round ahead, in a loop over tile blocks."""


@dataclass(frozen=True)
class RowLoop:
    """A loop that reduces rows, and those of their loads that a round may find done."""

    loop: scf.ForOp
    loads: Sequence[TiledLoadOp]


def row_loop(loop: scf.ForOp) -> RowLoop | None:
    """Return the loads of a loop over rows that may run a round ahead; None where none may.

    No store of a round may come before them by its place alone, and no grid be waited for.
    """
    inside = operations_in(loop.body)
    if any(isinstance(op, DotOp) or writes_by_place(op) for op in inside):
        return None
    if any(isinstance(op, GridDependencyOp) for op in inside):
        return None
    if not any(isinstance(op, ReduceOp) for op in loop.body.block.ops):
        return None
    mine = set(inside)
    loads = [
        op
        for op in loop.body.block.ops
        if isinstance(op, TiledLoadOp) and _may_be_ahead(op, loop, mine)
    ]
    return RowLoop(loop, loads) if loads else None


def _may_be_ahead(op: TiledLoadOp, loop: scf.ForOp, inside: set[Operation]) -> bool:
    """Whether a load is of another tile in each round, which the number of the round gives."""
    if not is_plain_load(op):
        return False
    values, behind = _made_of(op.operands, inside)
    mine, carried = {loop.body.block.args[0]}, _carried(loop)
    # What a round carries of numbers to the next one is known, and may be carried numbers again.
    pending = [carried[value] for value in values if value in carried]
    while pending:
        more, of_next = _made_of([pending.pop()], inside)
        pending += [carried[value] for value in more - values if value in carried]
        values, behind = values | more, [*behind, *of_next]
    return bool(values & (mine | carried.keys())) and all(map(is_of_numbers, behind))


def _made_of(
    operands: Sequence[SSAValue], inside: set[Operation]
) -> tuple[set[SSAValue], list[Operation]]:
    """What values of a round are computed of, and by which of its operations."""
    behind = [one for one in operations_behind(operands) if one in inside]
    return {*operands, *(value for one in behind for value in one.operands)}, behind


def _carried(loop: scf.ForOp) -> Mapping[SSAValue, SSAValue]:
    """What a loop gives the next round, by what that round has of it."""
    end = loop.body.block.last_op
    assert end is not None
    return dict(zip(loop.body.block.args[1:], end.operands, strict=False))


def load_next_rounds(found: RowLoop) -> scf.ForOp:
    """Let each round start the loads of the next one as soon as it has its own rows."""
    loop, old = found.loop, found.loop.body.block
    first = Builder(InsertPoint.before(loop))
    begin: dict[SSAValue, SSAValue] = dict(zip(old.args, (loop.lb, *loop.iter_args), strict=True))
    begun = [_begin(op, first, begin, k) for k, op in enumerate(found.loads)]
    body = Block(arg_types=[value.type for value in (*old.args, *begun)])
    for arg, now in zip(old.args, body.args, strict=False):
        now.name_hint = arg.name_hint
        arg.replace_all_uses_with(now)
    for op in list(old.ops):
        op.detach()
        body.add_op(op)
    made = scf.ForOp(loop.lb, loop.ub, loop.step, [*loop.iter_args, *begun], Region(body))
    made.attributes |= loop.attributes | {LOADED_TOGETHER: IntegerAttr(1, i32)}
    made.location = loop.location
    Rewriter.insert_op(made, InsertPoint.before(loop))
    following = _begin_next(made, found.loads, body.args[len(old.args) :])
    last = body.last_op
    assert last is not None
    last.operands = [*last.operands, *following]
    for op, token in zip(found.loads, body.args[len(old.args) :], strict=True):
        await_load(op, token)
    for before, after in zip(loop.results, made.results, strict=False):
        before.replace_all_uses_with(after)
    Rewriter.erase_op(loop)
    return made


def _begin_next(
    loop: scf.ForOp, loads: Sequence[TiledLoadOp], tokens: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """Start the loads of the next round, if there is one, behind those of this round."""
    build = Builder(InsertPoint.after(loads[-1]))
    number = build.insert(arith.AddiOp(loop.body.block.args[0], loop.step)).result
    is_there = build.insert(arith.CmpiOp(number, loop.ub, "slt")).result
    then, otherwise = Block(), Block([scf.YieldOp(*tokens)])
    inner = Builder(InsertPoint.at_end(then))
    known: dict[SSAValue, SSAValue] = {loop.body.block.args[0]: number}
    used, _ = _made_of([v for op in loads for v in op.operands], set(operations_in(loop.body)))
    for arg, value in _carried(loop).items():
        if arg in used:
            known[arg] = _again(value, loop, inner)
    begun = [_begin(op, inner, known, k) for k, op in enumerate(loads)]
    inner.insert(scf.YieldOp(*begun))
    types = [token.type for token in tokens]
    return build.insert(scf.IfOp(is_there, types, Region(then), Region(otherwise))).results


def _again(value: SSAValue, loop: scf.ForOp, build: Builder) -> SSAValue:
    """Compute a number that the loop carries where it is not computed yet."""
    behind, values = set(operations_behind([value])), dict[SSAValue, SSAValue]()
    for one in loop.body.block.ops:
        if one in behind:
            build.insert(one.clone(values))
    return values.get(value, value)


def _begin(
    op: TiledLoadOp, build: Builder, known: Mapping[SSAValue, SSAValue], number: int
) -> SSAValue:
    """Start a load of another round, into the memory of that number; return its token."""
    values = computed_before([op], build, known)
    return build.insert(started(op, values, number)).result


def computed_before(
    loads: Sequence[TiledLoadOp], build: Builder, known: Mapping[SSAValue, SSAValue]
) -> Mapping[SSAValue, SSAValue]:
    """Compute what loads of a block need elsewhere; return all values by those of the block."""
    block, values = loads[0].parent, dict(known)
    assert block is not None
    behind = set(operations_behind([value for op in loads for value in op.operands]))
    for one in block.ops:
        if one in behind:
            build.insert(one.clone(values))
    return values


def started(op: TiledLoadOp, values: Mapping[SSAValue, SSAValue], number: int) -> AsyncTiledLoadOp:
    """The same load into the memory of that number, which another operation waits for."""
    made = AsyncTiledLoadOp(
        values.get(op.view, op.view),
        [values.get(value, value) for value in op.coords],
        atom=op.atom,
        offsets=[values.get(value, value) for value in op.offsets],
        token=None if op.token is None else values.get(op.token, op.token),
        result_type=op.result.type,
        padding=op.padding_value,
        rotated=None if op.rotated is None else op.rotated.value.data,
    )
    made.attributes |= op.attributes | {KEPT: IntegerAttr(number, i32)}
    made.location, made.result.name_hint = op.location, op.result.name_hint
    return made


def await_load(op: TiledLoadOp, token: SSAValue) -> None:
    """Wait for a row where it was loaded."""
    wait = WaitOp(token)
    wait.location = op.location
    Rewriter.insert_op(wait, InsertPoint.before(op))
    if op.out_token is not None and op.token is not None:
        op.out_token.replace_all_uses_with(op.token)
    Rewriter.replace_op(op, [], [wait.values[0], *op.results[1:]])
