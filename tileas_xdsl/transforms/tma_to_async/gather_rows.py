"""Gather and scatter by TMA: row indices, and the first column.

The coordinates of a gather are tiles with a number for each element.  TMA has one for each row and
the column to begin at, so that the tiles must be generated from those:

    %rows = nv_tileas.generate { ^bb0(%r: index, %c: index): yield %numbers[%r] }
    %columns = nv_tileas.generate { ^bb0(%r: index, %c: index): yield %first + %c }
"""

from __future__ import annotations

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileas.memory.element_access import GatherLoadOp, ScatterStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import check_rows
from tileas_xdsl.transforms.tma_to_async.candidates import Request


@dataclass(frozen=True)
class Rows:
    """The rows that an operation moves, and where in them it begins."""

    numbers: SSAValue
    column: SSAValue | int
    """In tiles."""

    def coordinate(self, request: Request) -> SSAValue:
        """The column as a value."""
        if isinstance(self.column, SSAValue):
            return self.column
        made = arith.ConstantOp(IntegerAttr(self.column, IndexType()))
        made.location = request.op.location
        Rewriter.insert_op(made, InsertPoint.before(request.op))
        return made.result


def rows_of(request: Request) -> Rows:
    """The rows of a gather or scatter; an error where its coordinates are not known to be such."""
    op = request.op
    assert isinstance(op, GatherLoadOp | ScatterStoreOp)
    if op.mask is not None:
        raise op_error(op, "is masked, and TMA moves whole rows")
    if len(op.coords) != 2 or (numbers := _numbers(op.coords[0])) is None:
        raise op_error(op, "moves elements; TMA moves rows, by a tile of numbers for each row")
    width = request.tile.get_shape()[-1]
    if (column := _tile_column(op.coords[1], width)) is None:
        raise op_error(
            op,
            f"moves columns that are not generated as a multiple of {width} and on, as TMA moves "
            "them",
        )
    check_rows(op, numbers.type, request.tile)
    return Rows(numbers, column)


def _body(coordinate: SSAValue) -> Block | None:
    made = coordinate.owner
    is_matrix = isinstance(made, GenerateOp) and len(made.body.block.args) == 2
    return made.body.block if is_matrix and isinstance(made, GenerateOp) else None


def _yielded(body: Block) -> SSAValue:
    """What the body gives, without casts of integers."""
    assert body.last_op is not None
    value = body.last_op.operands[0]
    while isinstance(made := value.owner, arith.IndexCastOp):
        value = made.input
    return value


def _numbers(coordinate: SSAValue) -> SSAValue | None:
    """The tile of which each row has one number."""
    body = _body(coordinate)
    taken = None if body is None else _yielded(body).owner
    if body is None or not isinstance(taken, tensor.ExtractOp):
        return None
    return taken.tensor if tuple(taken.indices) == (body.args[0],) else None


def _tile_column(coordinate: SSAValue, width: int) -> SSAValue | int | None:
    """The tile of columns that the columns are; None where they are something else."""
    body = _body(coordinate)
    if body is None:
        return None
    value, column = _yielded(body), body.args[1]
    if value is column:
        return 0
    if not isinstance(total := value.owner, arith.AddiOp) or column not in total.operands:
        return None
    first = total.rhs if total.lhs is column else total.lhs
    return _quotient(first, width)


def _quotient(value: SSAValue, width: int) -> SSAValue | int | None:
    """A number divided by the width of a tile, if it is a multiple as it is written."""
    if (number := constant_integer(value)) is not None:
        return None if number % width else number // width
    if not isinstance(made := value.owner, arith.MuliOp) or isinstance(
        made.parent_op(), GenerateOp
    ):
        return None
    if constant_integer(made.rhs) == width:
        return made.lhs
    return made.rhs if constant_integer(made.lhs) == width else None
