"""Values taken apart, with a result for each part, and tuples put together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from xdsl.dialects.builtin import UnitAttr, i32, i64
from xdsl.ir import Attribute
from xdsl.irdl import (
    operand_def,
    opt_prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.base.inference_errors import inference_error
from tileas_xdsl.dialects.cute.base.operands import tree_of
from tileas_xdsl.dialects.cute.base.operation import AlgebraOp, InferredOp
from tileas_xdsl.dialects.cute.base.symbolic_values import (
    Number,
    Tile,
    Tree,
    numbers,
    symbol,
    type_of,
)
from tileas_xdsl.dialects.cute.types.tuples import IntTupleType
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout.expr.expression import DEFAULT_WIDTH, Expression, width_of
from tileas_xdsl.layout.int_tuple import flat, is_tuple


@irdl_op_definition
class GetLeavesOp(InferredOp):
    """The leaves of a tuple, each as a tuple of one."""

    name = "cute.get_leaves"
    input = operand_def()
    leaves = var_result_def()
    traits = traits_def(Pure())

    def values(self) -> list[Any]:
        """The leaves, in the algebra."""
        value = symbol(self.input)
        if not isinstance(value, Tree):
            raise inference_error(self, f"expected a tuple, not {self.input.type}")
        return [Tree(value.kind, leaf) for leaf in flat(value.tree)]

    def infer(self) -> Sequence[Attribute]:
        return [type_of(value) for value in self.values()]


@irdl_op_definition
class GetScalarsOp(InferredOp):
    """The numbers of a value as integers; with `only_dynamic` those that run time knows."""

    name = "cute.get_scalars"
    input = operand_def()
    scalars = var_result_def()
    only_dynamic = opt_prop_def(UnitAttr)
    traits = traits_def(Pure())

    def values(self) -> list[Any]:
        """The integers, in the algebra."""
        found: list[Any] = []
        for number in numbers(symbol(self.input)):
            if isinstance(number, Expression) or self.only_dynamic is None:
                found.append(Number(_integer_type(number), number))
        return found

    def infer(self) -> Sequence[Attribute]:
        return [type_of(value) for value in self.values()]


def _integer_type(number: Any) -> Attribute:
    return i64 if width_of(number) > DEFAULT_WIDTH else i32


@irdl_op_definition
class GetLayoutsFromTileOp(InferredOp):
    """The layouts of a tile, each of a mode; modes that are left whole have none."""

    name = "cute.get_layouts_from_tile"
    input = operand_def()
    layouts = var_result_def()
    traits = traits_def(Pure())

    def values(self) -> list[Any]:
        """The layouts, in the algebra."""
        value = symbol(self.input)
        if not isinstance(value, Tile):
            raise inference_error(self, f"expected a tile, not {self.input.type}")
        return [mode for mode in value.modes if mode is not None]

    def infer(self) -> Sequence[Attribute]:
        return [type_of(value) for value in self.values()]


@irdl_op_definition
class MakeTupleOp(AlgebraOp):
    """The tuple of tuples."""

    name = "cute.make_tuple"
    parts = var_operand_def()
    result = result_def()
    traits = traits_def(Pure())

    def compute(self, *operands: Any) -> Any:
        trees = tuple(tree_of(operand, "a part") for operand in operands)
        kinds = {operand.kind for operand in operands if isinstance(operand, Tree)}
        kind: Any = kinds.pop() if len(kinds) == 1 else IntTupleType
        return Tree(kind, trees)


@irdl_op_definition
class UnpackTupleOp(InferredOp):
    """The modes of a tuple, each as a value."""

    name = "cute.unpack_tuple"
    input = operand_def()
    modes = var_result_def()
    traits = traits_def(Pure())

    def values(self) -> list[Any]:
        """The modes, in the algebra."""
        value = symbol(self.input)
        if not isinstance(value, Tree) or not is_tuple(value.tree):
            raise op_error(self, f"takes a tuple apart, not {self.input.type}")
        return [Tree(value.kind, mode) for mode in value.tree]

    def infer(self) -> Sequence[Attribute]:
        return [type_of(value) for value in self.values()]
