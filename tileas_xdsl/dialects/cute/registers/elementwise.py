"""Element by element: a body of scalars that is computed for every element of fragments.

xDSL has the comparisons, selections and conversions of `arith` on scalars only.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import VectorType
from xdsl.ir import SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import IsTerminator, Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute.base.checks import fragment
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = ["MapFragmentOp", "YieldFragmentOp"]


@irdl_op_definition
class YieldFragmentOp(FieldsOp):
    """What a body gives for one element."""

    name = "cute.fragment.yield"

    values: fields.Operands = fields.operands()

    traits = traits_def(IsTerminator(), Pure())
    assembly_format = "$values attr-dict `:` type($values)"


@irdl_op_definition
class MapFragmentOp(FieldsOp):
    """For every element of the inputs, what the body yields; fragments of one length all of them.

    The body has arithmetic without effects, and may use scalars from outside.
    """

    name = "cute.fragment.map"

    inputs: fields.Operands = fields.operands()
    outputs: fields.Results = fields.typed_results()
    body: fields.Body = fields.body(single_block=True)

    traits = traits_def(Pure())
    assembly_format = "$inputs attr-dict `:` type($inputs) `->` type($outputs) $body"

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
