"""Load what is the same in all rounds of a loop once, into shared memory, where rounds read it.

    scf.for %i {                                %f = async.tiled_load %w[0] {kept}
      %x = tiled_load %v[%i]                    %k = async.wait %f
      %m = reduce %x                      ->    scf.for %i {
      %y = tiled_load %w[0]                       %x = tiled_load %v[%i]
      use %x, %m, %y                              %m = reduce %x
    }                                             %y = extract_slice %k[0]
                                                  use %x, %m, %y }

Weights of columns are as long as a row, so that no registers are left to hold them, and a load from
the level-2 cache is waited for in each round: its threads have a row in registers already.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.ir import Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.scalar_operations import operations_behind
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.dialects.nv_tileas.tma.store_order import writes_unordered
from tileas_xdsl.transforms.pipeline_loads.rounds.loads_ahead import is_of_numbers, is_plain_load
from tileas_xdsl.transforms.pipeline_loads.rounds.next_rounds import computed_before, started
from tileas_xdsl.transforms.pipeline_loads.rounds.rounds import (
    RoundLoop,
    begin_of,
    round_of,
)

LINES_KEPT = "nv_tileas.lines_kept"
"""On a kernel whose rounds should read in shared memory what all of them load."""


def keep_lines_of_rounds(loop: RoundLoop, number: int) -> None:
    """Load what is the same in all rounds into memory of numbers from this one on."""
    lines = [
        op
        for op in round_of(loop).ops
        if isinstance(op, TiledLoadOp) and op.rotated is None and is_same_in_each_round(op, loop)
    ]
    if not lines:
        return
    first = Builder(InsertPoint.before(loop))
    known = computed_before(lines, first, begin_of(loop))
    loads = [first.insert(started(op, known, number + k)) for k, op in enumerate(lines)]
    for op, load in zip(lines, loads, strict=True):
        whole = first.insert(WaitOp(load.result)).values[0]
        shape = shape_of(op.result.type) or ()
        _read(op, ExtractSliceOp(whole, [0] * len(shape), shape))


def _read(op: TiledLoadOp, made: Operation) -> None:
    """Read what is kept where it was loaded."""
    made.location = op.location
    Rewriter.insert_op(made, InsertPoint.before(op))
    if op.out_token is not None and op.token is not None:
        op.out_token.replace_all_uses_with(op.token)
    Rewriter.replace_op(op, [], [made.results[0], *op.results[1:]])


def is_same_in_each_round(op: TiledLoadOp, loop: RoundLoop) -> bool:
    """Whether a load in a loop is the same in each round, but for how it may be rotated."""
    block = round_of(loop)
    if any(writes_unordered(inner) for one in block.ops for inner in one.walk()):
        return False
    if not is_plain_load(op) or (op.out_token is not None and op.out_token.uses):
        return False
    place = [value for value in op.operands if value not in op.offsets]
    behind = [one for one in operations_behind(op.operands) if one.parent is block]
    moves = any(value.owner is block for value in _made_of(place))
    return not moves and all(map(is_of_numbers, behind))


def _made_of(values: Sequence[SSAValue]) -> Sequence[SSAValue]:
    """Values, and those that they are computed of."""
    return [*values, *(used for one in operations_behind(values) for used in one.operands)]
