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
from xdsl.dialects import scf
from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.memory.kept_tiles import is_aligned
from tileas_xdsl.analysis.values.scalar_operations import operations_behind
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.control import GridDependencyOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import KEPT, AsyncTiledLoadOp, TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.dialects.nv_tileas.tma.store_order import writes_unordered
from tileas_xdsl.transforms.pipeline_loads.rounds.loads_ahead import is_of_numbers, is_plain_load
from tileas_xdsl.transforms.pipeline_loads.rounds.loads_together import (
    LOADED_TOGETHER,
)
from tileas_xdsl.transforms.pipeline_loads.rounds.rounds import (
    RoundLoop,
    begin_of,
    carried_by,
    carrying,
    computed_again,
    is_of_rounds,
    next_round,
    round_of,
)

ROWS_AHEAD = "nv_tileas.rows_ahead"
"""On a kernel whose rows should be loaded a round ahead, in a loop over tile blocks."""


@dataclass(frozen=True)
class RowLoop:
    """A loop that reduces rows, and those of their loads that a round may find done."""

    loop: RoundLoop
    loads: Sequence[TiledLoadOp]


def row_loop(loop: RoundLoop) -> RowLoop | None:
    """Return the loads of a loop over rows that may run a round ahead; None where none may.

    No store of a round may come before them by its place alone, and no grid be waited for.
    """
    if not is_of_rounds(loop):
        return None
    block = round_of(loop)
    inside = [inner for op in block.ops for inner in op.walk()]
    if any(isinstance(op, DotOp) or writes_unordered(op) for op in inside):
        return None
    if any(isinstance(op, GridDependencyOp) for op in inside):
        return None
    if not any(isinstance(op, ReduceOp) for op in block.ops):
        return None
    mine = set(inside)
    loads = [
        op for op in block.ops if isinstance(op, TiledLoadOp) and _may_be_ahead(op, loop, mine)
    ]
    return RowLoop(loop, loads) if loads else None


def _may_be_ahead(op: TiledLoadOp, loop: RoundLoop, inside: set[Operation]) -> bool:
    """Whether a load is of another tile in each round, which the round before knows.

    Lines differ from round to round in how they are rotated, if at all.
    """
    if not is_plain_load(op) or (op.rotated is not None and not is_aligned(op)):
        return False
    values, behind = _made_of(op.operands, inside)
    carried = carried_by(loop)
    _, of_next = _made_of([carried[value] for value in values if value in carried], inside)
    is_other = not values.isdisjoint(round_of(loop).args)
    return is_other and all(map(is_of_numbers, (*behind, *of_next)))


def _made_of(
    operands: Sequence[SSAValue], inside: set[Operation]
) -> tuple[set[SSAValue], list[Operation]]:
    """What values of a round are computed of, and by which of its operations."""
    behind = [one for one in operations_behind(operands) if one in inside]
    return {*operands, *(value for one in behind for value in one.operands)}, behind


def load_next_rounds(found: RowLoop) -> RoundLoop:
    """Let each round start the loads of the next one as soon as it has its own rows."""
    first, begin = Builder(InsertPoint.before(found.loop)), begin_of(found.loop)
    begun = [_begin(op, first, begin, k) for k, op in enumerate(found.loads)]
    made = carrying(found.loop, begun)
    if isinstance(made, scf.ForOp):
        made.attributes[LOADED_TOGETHER] = IntegerAttr(1, i32)
    tokens = round_of(made).args[-len(begun) :]
    following = _begin_next(made, found.loads, tokens)
    last = round_of(made).last_op
    assert last is not None
    last.operands = [*last.operands[: -len(begun)], *following]
    for k, (op, token) in enumerate(zip(found.loads, tokens, strict=True)):
        await_load(op, token, k)
    return made


def _begin_next(
    loop: RoundLoop, loads: Sequence[TiledLoadOp], tokens: Sequence[SSAValue]
) -> Sequence[SSAValue]:
    """Start the loads of the next round, if there is one, behind those of this round."""
    build = Builder(InsertPoint.after(loads[-1]))
    is_there, known = next_round(loop, build)
    then, otherwise = Block(), Block([scf.YieldOp(*tokens)])
    inner = Builder(InsertPoint.at_end(then))
    inside = {one for op in round_of(loop).ops for one in op.walk()}
    used, _ = _made_of([v for op in loads for v in op.operands], inside)
    for arg, value in carried_by(loop).items():
        if arg in used:
            known[arg] = computed_again(value, loop, inner)
    begun = [_begin(op, inner, known, k) for k, op in enumerate(loads)]
    inner.insert(scf.YieldOp(*begun))
    types = [token.type for token in tokens]
    return build.insert(scf.IfOp(is_there, types, Region(then), Region(otherwise))).results


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
    """Begin the load into the memory of a stage; another operation waits for it."""
    made = AsyncTiledLoadOp(
        values.get(op.view, op.view),
        [values.get(value, value) for value in op.coords],
        atom=op.atom,
        offsets=[values.get(value, value) for value in op.offsets],
        token=None if op.token is None else values.get(op.token, op.token),
        result_type=op.result.type,
        padding=op.padding_value,
        rotated=None if op.rotated is None else op.rotated.value.data,
        modulus=None if op.modulus is None else op.modulus.value.data,
    )
    made.attributes |= op.attributes | {KEPT: IntegerAttr(number, i32)}
    made.location, made.result.name_hint = op.location, op.result.name_hint
    return made


def await_load(op: TiledLoadOp, token: SSAValue, number: int) -> None:
    """Wait for a row where it was loaded.

    A rotated one is loaded from there: where it begins and ends is known in its own round.
    """
    wait = WaitOp(token)
    wait.location = op.location
    Rewriter.insert_op(wait, InsertPoint.before(op))
    if op.rotated is not None:
        op.attributes[KEPT] = IntegerAttr(number, i32)
        return
    if op.out_token is not None and op.token is not None:
        op.out_token.replace_all_uses_with(op.token)
    Rewriter.replace_op(op, [], [wait.values[0], *op.results[1:]])
