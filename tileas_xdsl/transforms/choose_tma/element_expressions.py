"""Elements of a matrix as expressions of their row and column.

    %n = generate { extract %rows[%r] }                 entry(%rows)
    %p = generate { arith.muli (extsi (extract %n[%r, %c])), %stride }
                                                        muli(entry(%rows), number(%stride))
    %c = generate { arith.addi %first, index_cast %c }  addi(number(%first), column)

Operations of tiles and bodies of `generate` are looked through; what a vector has for a row, and
what is one number for all elements, is a leaf.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import constant_integer, uniform_integer
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of

CASTS = (arith.ExtSIOp.name, arith.IndexCastOp.name)
"""Casts that keep a number, read as signed, where it fits."""


@dataclass(frozen=True)
class Expression:
    """An element: `row` or `column`, a leaf, or an operation of `parts`."""

    name: str
    type: Attribute | None = None
    """The type of the element."""
    parts: tuple[Expression, ...] = ()
    value: SSAValue | None = None
    """The vector of an `entry`, what a `number` is."""
    constant: int | None = None
    """The number of a `constant`, the predicate of a comparison."""

    def without_casts(self) -> Expression:
        """Return what casts are of."""
        return self.parts[0].without_casts() if self.name in CASTS else self

    def operands_of(self, name: str) -> Iterator[Expression]:
        """Yield what nested operations of a name and of this type combine."""
        if self.name != name:
            yield self
            return
        for part in self.parts:
            yield from part.operands_of(name)


ROW, COLUMN = Expression("row"), Expression("column")


def element_at(tile: SSAValue, at: Sequence[Expression]) -> Expression | None:
    """Return the element of a tile at coordinates; None where it is no such expression."""
    made, element = tile.owner, element_of(tile.type)
    if len(at) == 1 and at[0] == ROW:
        return Expression("entry", element, value=tile)
    if isinstance(made, Block):
        return None
    if isinstance(made, tensor.SplatOp):
        return _number(made.operands[0])
    if isinstance(made, arith.ConstantOp):
        return _splat(made, element)
    if isinstance(made, GenerateOp):
        end = made.body.block.last_op
        names: dict[SSAValue, Expression] = {}
        names.update(zip(made.body.block.args, at, strict=True))
        return None if end is None else _scalar(end.operands[0], names)
    if not _is_elementwise(made):  # a view has its source's elements at other coordinates
        return None
    return _operation(made, element, [element_at(operand, at) for operand in made.operands])


def _scalar(value: SSAValue, names: Mapping[SSAValue, Expression]) -> Expression | None:
    """Return a number that is computed in a body, whose coordinates have `names`."""
    if value in names:
        return names[value]
    made = value.owner
    if isinstance(made, Block | arith.ConstantOp) or not _is_inside(made, names):
        return _number(value)
    operands = [_scalar(operand, names) for operand in made.operands if not _is_tile(operand)]
    if isinstance(made, tensor.ExtractOp):
        known = [operand for operand in operands if operand is not None]
        return element_at(made.tensor, known) if len(known) == len(operands) else None
    return _operation(made, value.type, operands)


def _is_inside(op: Operation, names: Mapping[SSAValue, Expression]) -> bool:
    """Whether an operation is in the body whose coordinates have names."""
    return any(op.parent is name.owner for name in names)


def _is_tile(value: SSAValue) -> bool:
    return isinstance(value.type, TensorType)


def _is_elementwise(op: Operation) -> bool:
    return op.name.startswith("arith.") and len(op.results) == 1


def _operation(
    op: Operation, type_: Attribute | None, parts: Sequence[Expression | None]
) -> Expression | None:
    """Return an element-wise operation of integers."""
    known = tuple(part for part in parts if part is not None)
    if len(known) < len(parts) or not _is_elementwise(op):
        return None
    predicate = op.predicate.value.data if isinstance(op, arith.CmpiOp) else None
    return Expression(op.name, type_, known, constant=predicate)


def _number(value: SSAValue) -> Expression:
    if (constant := constant_integer(value)) is not None:
        return Expression("constant", value.type, constant=constant)
    made = value.owner
    if isinstance(made, arith.ExtSIOp | arith.IndexCastOp):
        return Expression(made.name, value.type, (_number(made.operands[0]),))
    return Expression("number", value.type, value=value)


def _splat(op: arith.ConstantOp, element: Attribute | None) -> Expression | None:
    number = uniform_integer(op.result)
    return None if number is None else Expression("constant", element, constant=number)


def matrix_element(tile: SSAValue) -> Expression | None:
    """Return the elements of a matrix by their row and column; None if they are not known so."""
    shape = shape_of(tile.type)
    return None if shape is None or len(shape) != 2 else element_at(tile, (ROW, COLUMN))
