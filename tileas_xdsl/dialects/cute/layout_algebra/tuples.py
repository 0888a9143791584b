"""Tuples: made of integers, `make_int_tuple` being the hub, and computed with leaf by leaf."""

from __future__ import annotations

from abc import ABC
from collections.abc import Sequence
from functools import reduce
from typing import Any, ClassVar

from xdsl.dialects.builtin import StringAttr, i1
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import operand_def, prop_def, result_def, traits_def, var_operand_def
from xdsl.printer import Printer
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.base.inference_errors import inference_error
from tileas_xdsl.dialects.cute.base.operands import has_bases, numbers_of, tree_of
from tileas_xdsl.dialects.cute.base.operation import AlgebraOp, CuteOp, Unspecified, cute_family_op
from tileas_xdsl.dialects.cute.base.symbolic_values import (
    Number,
    Tile,
    Tree,
    leaves,
    symbol,
    type_of,
)
from tileas_xdsl.dialects.cute.types.layouts import LAYOUT_TYPES
from tileas_xdsl.dialects.cute.types.pointers import SwizzleType
from tileas_xdsl.dialects.cute.types.tuples import (
    TUPLE_TYPES,
    CoordType,
    IntTupleType,
    ShapeType,
    StrideType,
    TileType,
)
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout import Layout, int_tuple
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.expr.expression import Expression, compute, divisor_of
from tileas_xdsl.layout.int_tuple import flat, is_tuple, show


def leaf_number(op: CuteOp, operand: SSAValue) -> Any:
    """The number that an operand of a constructor is: an integer, or a tuple of one leaf."""
    value = symbol(operand)
    if isinstance(value, Number):
        return value.number
    if isinstance(value, Tree) and not is_tuple(value.tree) and value.tree is not None:
        return value.tree
    raise op_error(op, f"takes integers, but got {operand.type}")


class MakeTupleBase(CuteOp, ABC):
    """A tuple whose unknown leaves are the operands, in order; the rest stands in the type."""

    KINDS: ClassVar[tuple[type[Attribute], ...]]
    elements = var_operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, elements: Sequence[SSAValue], result_type: Attribute) -> None:
        super().__init__(operands=[elements], result_types=[result_type])

    def infer(self) -> Sequence[Attribute]:
        """A flat tuple of the operands, where a listing says the kind of tuple and no more."""
        numbers = tuple(leaf_number(self, operand) for operand in self.elements)
        kind = self._kind()
        if kind is TileType:
            return (type_of(Tile(tuple(Layout(number, 1) for number in numbers))),)
        return (type_of(Tree(kind, numbers if len(numbers) != 1 else numbers[0])),)

    def _kind(self) -> Any:
        said = self.result.type
        for kind in self.KINDS:
            if isinstance(said, Unspecified) and said.written.data == f"!{kind.name}":
                return kind
        return self.KINDS[0]

    @property
    def given(self) -> list[Any]:
        """The numbers of the operands that are known at run time only."""
        found = [leaf_number(self, operand) for operand in self.elements]
        return [number for number in found if isinstance(number, Expression)]

    def verify_(self) -> None:
        if not isinstance(self.result.type, self.KINDS):
            raise op_error(self, f"makes {_kinds(self.KINDS)}, not {self.result.type}")
        wanted, given = leaves(symbol(self.result)), self.given
        if len(wanted) != len(given):
            raise op_error(
                self, f"has {len(given)} dynamic leaves, but {self.result.type} has {len(wanted)}"
            )
        for leaf, number in zip(wanted, given, strict=True):
            if leaf.width != number.width or divisor_of(number) % leaf.divisor:
                raise op_error(self, f"cannot give {number} as the leaf {leaf}")


def _kinds(kinds: Sequence[type[Attribute]]) -> str:
    return " or ".join(f"!{kind.name}" for kind in kinds)


@irdl_op_definition
class MakeIntTupleOp(MakeTupleBase):
    """The constructor of all tuples: the type of its result says which kind it makes."""

    name = "cute.make_int_tuple"
    KINDS: ClassVar[tuple[type[Attribute], ...]] = (
        IntTupleType,
        ShapeType,
        StrideType,
        CoordType,
        TileType,
    )


MakeShapeOp = cute_family_op(
    MakeTupleBase, "MakeShapeOp", "make_shape", "A shape.", KINDS=(ShapeType,)
)
MakeStrideOp = cute_family_op(
    MakeTupleBase, "MakeStrideOp", "make_stride", "Strides.", KINDS=(StrideType,)
)
MakeCoordOp = cute_family_op(
    MakeTupleBase, "MakeCoordOp", "make_coord", "A coordinate.", KINDS=(CoordType,)
)
MakeTileOp = cute_family_op(
    MakeTupleBase,
    "MakeTileOp",
    "make_tile",
    "A tiler; the unknown leaves are those of its layouts.",
    KINDS=(TileType,),
)


@irdl_op_definition
class StaticOp(CuteOp):
    """A value of which everything is known: it stands in the type."""

    name = "cute.static"
    result = result_def()
    traits = traits_def(Pure())

    def __init__(self, result_type: Attribute) -> None:
        super().__init__(result_types=[result_type])

    def print(self, printer: Printer) -> None:
        printer.print_op_attributes(self.attributes)
        printer.print_string(" : ")
        printer.print_attribute(self.result.type)

    def verify_(self) -> None:
        value = symbol(self.result)
        if not isinstance(self.result.type, STATIC_KINDS) or leaves(value):
            raise op_error(self, f"gives what a type says whole, not {self.result.type}")


@irdl_op_definition
class SymbolicOp(CuteOp):
    """A value called `name`, with numbers that only run time knows.

    No source says who gives the value, so that no pass lowers it.
    """

    name = "cute.symbolic"
    symbol = prop_def(StringAttr, prop_name="name")
    result = result_def()
    traits = traits_def(Pure())

    def verify_(self) -> None:
        value = symbol(self.result)
        if not isinstance(value, (Tree, Number, Layout)) or not leaves(value):
            raise op_error(self, f"gives numbers that run time knows, not {self.result.type}")
        if not self.symbol.data:
            raise op_error(self, "has a name")


class TupleArithmetic(AlgebraOp, ABC):
    """An operation leaf by leaf; what the shorter tuple has not stays as it is in the longer."""

    OPERATION: ClassVar[str]
    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def compute(self, *operands: Any) -> Any:
        lhs, rhs = operands
        tree = _leafwise(self.OPERATION, tree_of(lhs, "lhs"), tree_of(rhs, "rhs"))
        kind: Any = lhs.kind if isinstance(lhs, Tree) else IntTupleType
        return Tree(kind, tree)


def _leafwise(operation: str, a: Any, b: Any) -> Any:
    if is_tuple(a) != is_tuple(b):
        raise LayoutError(f"{show(a)} and {show(b)} do not have one profile")
    if not is_tuple(a):
        return _leaf(operation, a, b)
    common = min(len(a), len(b))
    return (
        *(_leafwise(operation, x, y) for x, y in zip(a, b, strict=False)),
        *(_alone(operation, y) for y in b[common:]),
        *a[common:],
    )


def add_trees(a: Any, b: Any) -> Any:
    """The sum of two tuples; what one of them has not, the other keeps."""
    return _leafwise("add", a, b)


def _alone(operation: str, tree: Any) -> Any:
    """What the operation gives for a leaf of the right side only."""
    neutral = {"add": 0, "sub": 0, "mul": 1}.get(operation)
    if neutral is None:
        raise LayoutError(f"there is nothing on the left to divide by {show(tree)}")
    if is_tuple(tree):
        return tuple(_alone(operation, x) for x in tree)
    return _leaf(operation, neutral, tree)


def _leaf(operation: str, a: Any, b: Any) -> Any:
    if a is None or b is None:
        raise LayoutError("there is no arithmetic with underscores")
    if operation == "add":
        return a + b
    if operation == "sub":
        return a - b
    return a * b if operation == "mul" else compute(operation, a, b)


TupleAddOp = cute_family_op(TupleArithmetic, "TupleAddOp", "tuple_add", "Sums.", OPERATION="add")
TupleSubOp = cute_family_op(
    TupleArithmetic, "TupleSubOp", "tuple_sub", "Differences.", OPERATION="sub"
)
TupleMulOp = cute_family_op(
    TupleArithmetic, "TupleMulOp", "tuple_mul", "Products.", OPERATION="mul"
)


class TupleDivision(TupleArithmetic, ABC):
    """A division, which a static zero on the right is refused for."""

    ZERO: ClassVar[str]

    def check(self, *operands: Any) -> None:
        _, rhs = operands
        if any(leaf == 0 for leaf in flat(tree_of(rhs, "rhs")) if isinstance(leaf, int)):
            raise inference_error(self, message(self.ZERO, type=self.rhs.type))
        if any(has_bases(tree_of(operand, "an operand")) for operand in operands):
            raise inference_error(self, "scaled bases are not divided")


@irdl_op_definition
class TupleDivOp(TupleDivision):
    """Quotients, rounded towards zero."""

    name = "cute.tuple_div"
    OPERATION: ClassVar[str] = "quotient"
    ZERO: ClassVar[str] = "cute.tuple_div.zero"


@irdl_op_definition
class TupleModOp(TupleDivision):
    """Remainders, with the signs of the left side."""

    name = "cute.tuple_mod"
    OPERATION: ClassVar[str] = "remainder"
    ZERO: ClassVar[str] = "cute.tuple_mod.zero"


@irdl_op_definition
class TupleProductOp(AlgebraOp):
    """The product of all leaves."""

    name = "cute.tuple.product"
    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def compute(self, *operands: Any) -> Any:
        return Tree(IntTupleType, int_tuple.product(numbers_of(operands[0], "the input")))


@irdl_op_definition
class TupleProductEachOp(AlgebraOp):
    """The product of the leaves of each mode."""

    name = "cute.tuple.product_each"
    input = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def compute(self, *operands: Any) -> Any:
        tree = numbers_of(operands[0], "the input")
        return Tree(IntTupleType, int_tuple.product_each(tree) if is_tuple(tree) else tree)


class TupleTest(AlgebraOp, ABC):
    """A question about two tuples."""

    lhs = operand_def()
    rhs = operand_def()
    result = result_def()
    traits = traits_def(Pure())


def all_of(operation: str, a: Any, b: Any) -> Any:
    """1 if an operation that gives 0 or 1 holds for every pair of leaves."""
    booleans = [compute(operation, x, y) for x, y in zip(a, b, strict=True)]
    unknown = [boolean for boolean in booleans if isinstance(boolean, Expression)]
    if any(boolean == 0 for boolean in booleans if isinstance(boolean, int)):
        return 0
    return reduce(lambda one, other: compute("and", one, other), unknown) if unknown else 1


@irdl_op_definition
class TupleEqOp(TupleTest):
    """Whether two tuples have one profile and equal leaves."""

    name = "cute.tuple_eq"

    def compute(self, *operands: Any) -> Any:
        a, b = (tree_of(operand, "an operand") for operand in operands)
        if not int_tuple.congruent(a, b):
            return Number(i1, 0)
        return Number(i1, tuples_equal(a, b))


def tuples_equal(a: Any, b: Any) -> Any:
    """Whether congruent tuples are equal; scaled bases and underscores must be so in the type."""
    pairs = list(zip(flat(a), flat(b), strict=True))
    plain = [p for p in pairs if all(isinstance(x, (int, Expression)) for x in p)]
    if any(p[0] != p[1] for p in pairs if p not in plain):
        return 0
    return all_of("eq", [a for a, _ in plain], [b for _, b in plain])


@irdl_op_definition
class ElemLessOp(TupleTest):
    """Whether every leaf on the left is less than its partner: is a coordinate inside a shape?"""

    name = "cute.elem_less"

    def compute(self, *operands: Any) -> Any:
        a, b = (numbers_of(operand, "an operand") for operand in operands)
        if not int_tuple.congruent(a, b):
            raise LayoutError(f"{show(a)} and {show(b)} do not have one profile")
        return Number(i1, all_of("lt", flat(a), flat(b)))


@irdl_op_definition
class ToIntTupleOp(AlgebraOp):
    """A shape, stride or coordinate as a plain tuple of integers."""

    name = "cute.to_int_tuple"
    source = operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def check(self, *operands: Any) -> None:
        tree = tree_of(operands[0], "the source")
        for wrong, key in (
            (
                any(leaf is None for leaf in flat(tree)),
                "cute.to_int_tuple.underscore",
            ),
            (has_bases(tree), "cute.to_int_tuple.scaled_basis"),
        ):
            if wrong:
                raise inference_error(self, message(key, type=self.source.type))

    def compute(self, *operands: Any) -> Any:
        return Tree(IntTupleType, tree_of(operands[0], "the source"))


STATIC_KINDS: tuple[Any, ...] = (*TUPLE_TYPES, TileType, *LAYOUT_TYPES, SwizzleType)
