"""Element by element: a body of scalars that is computed for every element of fragments.

xDSL has the comparisons, selections and conversions of `arith` on scalars only.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, Block, Region, SSAValue
from xdsl.irdl import IRDLOperation, region_def, traits_def, var_operand_def, var_result_def
from xdsl.traits import IsTerminator, Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.base.checks import fragment
from tileas_xdsl.dialects.cute.memory.pointers import Value
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = ["MapFragmentOp", "YieldFragmentOp"]


@irdl_op_definition
class YieldFragmentOp(IRDLOperation):
    """What a body gives for one element."""

    name = "cute.fragment.yield"

    values = var_operand_def()

    traits = traits_def(IsTerminator(), Pure())
    assembly_format = "$values attr-dict `:` type($values)"

    def __init__(self, values: Sequence[Value]) -> None:
        super().__init__(operands=[[SSAValue.get(value) for value in values]])


@irdl_op_definition
class MapFragmentOp(IRDLOperation):
    """For every element of the inputs, what the body yields; fragments of one length all of them.

    The body has arithmetic without effects, and may use scalars from outside.
    """

    name = "cute.fragment.map"

    inputs = var_operand_def()
    outputs = var_result_def()
    body = region_def("single_block")

    traits = traits_def(Pure())
    assembly_format = "$inputs attr-dict `:` type($inputs) `->` type($outputs) $body"

    def __init__(self, inputs: Sequence[Value], types: Sequence[Attribute], body: Block) -> None:
        values = [SSAValue.get(value) for value in inputs]
        super().__init__(operands=[values], result_types=[types], regions=[Region(body)])

    def verify_(self) -> None:
        block = self.body.block
        last = block.last_op
        if not isinstance(last, YieldFragmentOp):
            raise op_error(self, "has a body that ends with cute.fragment.yield")
        if any(op.regions for op in block.ops):
            raise op_error(self, "has a body without branches and loops")
        if not self.inputs:
            raise op_error(self, "goes through at least one fragment")
        _check(self, "input", self.inputs, block.args)
        _check(self, "output", self.outputs, last.values)
        lengths = {fragment(self, v.type, "fragment").get_shape() for v in self._all()}
        if len(lengths) > 1:
            raise op_error(self, "goes through fragments of one length")

    def _all(self) -> tuple[SSAValue, ...]:
        return (*self.inputs, *self.outputs)


def _check(
    op: MapFragmentOp, what: str, fragments: Sequence[SSAValue], elements: Sequence[SSAValue]
) -> None:
    if len(fragments) != len(elements):
        raise op_error(op, f"has {len(fragments)} {what}s and {len(elements)} in its body")
    for whole, single in zip(fragments, elements, strict=True):
        vector: VectorType = fragment(op, whole.type, what)
        if vector.get_element_type() != single.type:
            raise op_error(op, f"has {what} {vector}, but {single.type} in its body")
