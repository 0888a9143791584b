"""The pass `tileas-defer-lane-sums`: lanes add their parts of carried row sums behind the loop.

    scf.for carrying %t {                              scf.for carrying %t {
      %r = reduce %p {add}     // shuffles               %r = reduce %p {add, lanes_apart}
      %s = expand_dims %r                      ->        %s = expand_dims %r
      %n = fma %t, %f, %s                                %n = fma %t, %f, %s
    }                                                  }
    store %t                                           %c = reduce %t {add, of_lanes}  // shuffles
                                                       store (expand_dims %c)

Four lanes share the rows of wgmma accumulators, all threads of a CTA a long row: what they exchange
each round they wait for.  What a loop only scales and adds up is linear, so each thread may carry
the sum of its own elements: as tiles nothing changes, for a tile of parts stands for their sum, and
`of_lanes` reduces a dimension of extent 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import field
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, math, scf, tensor
from xdsl.dialects.builtin import (
    ModuleOp,
    TensorType,
    UnitAttr,
    f32,
)
from xdsl.ir import Attribute, Block, Operation, OpResult, SSAValue, Use
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import uniform_constant
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.attributes import (
    BlockedEncoding,
    DotOperandEncoding,
    LinearEncoding,
)
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.layout.layout import Layout, make_layout
from tileas_xdsl.layout.operations.modes import TRIVIAL
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.layout.registers.row_values import MATRIX, row_values
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.mma.warp_tiles import accumulator_layout, fits_accumulators, has_whole_rows
from tileas_xdsl.threads.reduce.lane_sums import LANES_APART, OF_LANES
from tileas_xdsl.threads.reduce.spread_lines import SpreadLines
from tileas_xdsl.transforms.tileaa_to_tileas.products import kernel_warps


@dataclass(frozen=True)
class TileasDeferLaneSums(ModulePass):
    """Exchange carried sums of rows between threads once, behind the loop that adds them up.

    Sums of rows in f32, of wgmma accumulators or of tiles of which each thread of the CTA has its
    share, that a loop only scales (by what all threads of a row have alike) and adds to what it
    carries from zero.  All of a sum that loops and branches pass on is deferred together, or
    nothing.
    """

    name = "tileas-defer-lane-sums"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        done: set[ReduceOp] = set()
        for reduction in instances_in(op, ReduceOp):
            if reduction in done or not _is_row_sum(reduction):
                continue
            parts = _Parts()
            if parts.add(reduction.outputs[0]) and parts.is_worth_it():
                done |= parts.reductions
                parts.write()


def _is_row_sum(op: Operation | Block) -> bool:
    """Whether an operation sums rows in f32, of which threads have their shares."""
    if not isinstance(op, ReduceOp) or len(op.sources) != 1:
        return False
    tile, body = as_tile(op.source.type), list(op.body.block.ops)
    if tile is None or tile.element_type != f32 or len(body) != 2:
        return False
    encoding, shape = tile.encoding, tuple(tile.get_shape())
    is_last = op.axis.value.data == len(shape) - 1
    if not isinstance(body[0], arith.AddfOp) or len(shape) > MATRIX or not is_last:
        return False
    if isinstance(encoding, BlockedEncoding | LinearEncoding):
        return _is_dealt(encoding.data, shape, kernel_warps(op) * WARP, op)
    return (
        isinstance(encoding, DotOperandEncoding)
        and len(shape) == MATRIX
        and any(
            fits_accumulators(*shape, groups)
            and accumulator_layout(*shape, groups).layout == encoding.data
            and has_whole_rows(accumulator_layout(*shape, groups))
            for groups in (1, 2, 4)
        )
    )


def _is_dealt(layout: Layout, shape: tuple[int, ...], threads: int, op: Operation) -> bool:
    """Whether all threads of a CTA without agents have as many elements of each row, held once."""
    if layout.size() != prod(shape) or layout.extents().get("thread") != threads:
        return False
    return (
        _agent_of(op) is None
        and SpreadLines.of(RegisterLayout(layout, shape, threads), len(shape) - 1) is not None
    )


def _agent_of(op: Operation) -> Operation | None:
    parent = op.parent_op()
    while parent is not None and not isinstance(parent, AgentSwitchOp):
        parent = parent.parent_op()
    return parent


@dataclass
class _Parts:
    """Values of which each lane is to hold a part, closed under what passes them on."""

    values: dict[SSAValue, None] = field(default_factory=dict[SSAValue, None])
    reductions: set[ReduceOp] = field(default_factory=set[ReduceOp])
    exits: list[Use] = field(default_factory=list[Use])
    """Uses that need whole sums."""

    def add(self, value: SSAValue) -> bool:
        """Add a value with all that makes it and passes it on; False where that is no sum."""
        pending = [value]
        while pending:
            value = pending.pop()
            if value in self.values:
                continue
            sources = self._sources(value)
            if sources is None:
                return False
            self.values[value] = None
            pending += sources
            for use in list(value.uses):
                pending += self._passed_on(value, use)
        return all(not self._scales_two(value) for value in self.values)

    def is_worth_it(self) -> bool:
        """Whether a loop carries sums, no whole sum is needed in it, and lanes keep their parts.

        A loop around, over tile blocks, carries none: it may need whole sums.  Sums are carried as
        tiles of one column, as lines, or as the scalar of the only line; those lie as reductions
        leave them.
        """
        kinds: set[Attribute] = {one.outputs[0].type for one in self.reductions}
        columns = {_column_of(one) for one in self.reductions}
        if len(columns) > 1 or any(v.type not in {*kinds, *columns, f32} for v in self.values):
            return False
        owners = [value.owner for value in self.values]
        loops = {owner.parent_op() for owner in owners if isinstance(owner, Block)}
        carrying = {loop for loop in loops if loop is not None}
        return bool(carrying) and not any(
            loop.is_ancestor(use.operation) for loop in carrying for use in self.exits
        )

    def _sources(self, value: SSAValue) -> list[SSAValue] | None:
        """The values that have to be parts too; None where this one cannot be."""
        owner = value.owner
        if isinstance(owner, Block):
            loop = owner.parent_op()
            if not isinstance(loop, scf.ForOp) or value is owner.args[0]:
                return None
            return _carried(loop, owner.args.index(value) - 1)
        if isinstance(owner, scf.ForOp | scf.IfOp):
            index = owner.results.index(_result(value))
            if isinstance(owner, scf.ForOp):
                return _carried(owner, index)
            return [end.operands[index] for end in _yields(owner)]
        return self._operands(owner)

    def _operands(self, owner: Operation) -> list[SSAValue] | None:
        """The operands that are parts where the result of an operation is one."""
        match owner:
            case ReduceOp() if _is_row_sum(owner):
                self.reductions.add(owner)
                return []
            case arith.ConstantOp() if _is_zero(owner):
                return []
            case ExpandDimsOp() | tensor.ExtractOp(indices=()):
                return [owner.operands[0]]
            case math.FmaOp():
                return [owner.c, *self._scaled(owner.a, owner.b)]
            case arith.AddfOp():
                return list(owner.operands)
            case arith.MulfOp():
                return list(self._scaled(*owner.operands))
            case _:
                return None

    def _scaled(self, first: SSAValue, second: SSAValue) -> Iterator[SSAValue]:
        """Of the two operands of a product the sum, not the one that an exponential gives."""
        yield second if _is_factor(first) and not _is_factor(second) else first

    def _passed_on(self, value: SSAValue, use: Use) -> Iterator[SSAValue]:
        """The values that are parts because this one is; notes a use of the whole sum."""
        op = use.operation
        parent = op.parent_op()
        if isinstance(op, ExpandDimsOp | math.FmaOp | arith.AddfOp | arith.MulfOp):
            yield op.results[0]
        elif isinstance(op, tensor.ExtractOp) and not op.indices:
            yield op.result
        elif isinstance(op, scf.ForOp) and use.index >= 3:
            yield op.results[use.index - 3]
        elif isinstance(op, scf.YieldOp) and isinstance(parent, scf.ForOp | scf.IfOp):
            yield parent.results[use.index]
        else:
            self.exits.append(use)

    def _scales_two(self, value: SSAValue) -> bool:
        """Whether a product has parts on both sides, or a sum has whole values."""
        owner = value.owner
        if isinstance(owner, math.FmaOp):
            return owner.c not in self.values or (owner.a in self.values) == (
                owner.b in self.values
            )
        if isinstance(owner, arith.MulfOp):
            return (owner.lhs in self.values) == (owner.rhs in self.values)
        return False

    def write(self) -> None:
        """Mark the reductions, and add up what lanes hold where whole sums are needed."""
        for reduction in self.reductions:
            reduction.attributes[LANES_APART] = UnitAttr()
        like = next(iter(self.reductions))
        wholes: dict[SSAValue, SSAValue] = {}
        for use in self.exits:
            value = use.operation.operands[use.index]
            if value not in wholes:
                wholes[value] = _whole(value, like)
            use.operation.operands[use.index] = wholes[value]


def _whole(value: SSAValue, like: ReduceOp) -> SSAValue:
    """The sum of what lanes hold of a tile of one column, of a line, or of a scalar."""
    owner = value.owner
    place = InsertPoint.at_start(owner) if isinstance(owner, Block) else InsertPoint.after(owner)
    builder = Builder(place)
    body, line, axis = like.body.clone(), like.outputs[0].type, like.axis.value.data
    column = value
    if value.type == f32:
        column = builder.insert(tensor.SplatOp(value, [], _column_of(like))).result
    elif value.type == line:
        column = builder.insert(ExpandDimsOp(value, axis, _column_of(like))).results[0]
    made = builder.insert(ReduceOp(column, axis, body, result_type=line))
    made.attributes[OF_LANES] = like.source.type
    if value.type == f32:
        return builder.insert(tensor.ExtractOp(made.outputs[0], [], f32)).result
    if value.type == line:
        return made.outputs[0]
    return builder.insert(ExpandDimsOp(made.outputs[0], axis, result_type=value.type)).results[0]


def _column_of(reduction: ReduceOp) -> TensorType[Attribute]:
    """The type of sums of rows as a tile of one column, each where its line has it."""
    tile = as_tile(reduction.source.type)
    assert tile is not None
    assert isinstance(tile.encoding, BlockedEncoding | DotOperandEncoding | LinearEncoding)
    layout, rows = tile.encoding.data, tuple(tile.get_shape())[:-1]
    matrix = layout if rows else make_layout(TRIVIAL, layout[0])
    column = row_values(matrix, keeps_dimension=bool(rows))
    assert column is not None, "threads have shares of rows"
    return TensorType(tile.element_type, (*rows, 1), LinearEncoding(column))


def _carried(loop: scf.ForOp, index: int) -> list[SSAValue]:
    """All values that are one carried value of a loop."""
    end = loop.body.block.last_op
    assert isinstance(end, scf.YieldOp)
    argument, result = loop.body.block.args[index + 1], loop.results[index]
    return [loop.iter_args[index], argument, end.operands[index], result]


def _yields(branch: scf.IfOp) -> Iterator[scf.YieldOp]:
    for region in (branch.true_region, branch.false_region):
        end = region.block.last_op
        assert isinstance(end, scf.YieldOp)
        yield end


def _result(value: SSAValue) -> OpResult:
    assert isinstance(value, OpResult)
    return value


def _is_factor(value: SSAValue) -> bool:
    return isinstance(value.owner, math.Exp2Op | math.ExpOp)


def _is_zero(op: arith.ConstantOp) -> bool:
    constant = uniform_constant(op.result)
    return constant is not None and constant.value.data == 0
