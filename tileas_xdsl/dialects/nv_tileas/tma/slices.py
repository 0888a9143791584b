"""Descriptors of slices of an array, whose beginning and extent are known when a copy is issued."""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects.builtin import i32
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import EqAttrConstraint, ParsePropInAttrDict, traits_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.constraints import AT_LEAST_0, number_among
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op
from tileas_xdsl.dialects.nv_tileas.types import TmaDescType

_DESCRIPTOR = EqAttrConstraint(TmaDescType())
_ROWS = EqAttrConstraint(i32)


@tileas_op
class SliceTmaDescOp(TileasOp):
    """The descriptor of `extent` rows, along dimension `axis`, of an array from row `start` on.

    What is past the last row is out of bounds, as is what precedes the first one.  The source
    describes the array; how many rows that has is not looked at.
    """

    name = "nv_tileas.slice_tma_desc"

    source: fields.Operand = fields.operand(_DESCRIPTOR)
    start: fields.Operand = fields.operand(_ROWS)
    extent: fields.Operand = fields.operand(_ROWS)
    axis: fields.Int = fields.prop(number_among(i32, AT_LEAST_0, "slices dimension {given}"))
    result: fields.ComputedResult[TmaDescType] = fields.typed_result(
        _DESCRIPTOR, type=TmaDescType(), default=None, alias="result_type"
    )

    irdl_options = (ParsePropInAttrDict(),)
    traits = traits_def(Pure())
    assembly_format = "$source `[` $start `,` $extent `]` attr-dict"

    def verify_(self) -> None:
        if isinstance(self.source.owner, SliceTmaDescOp):
            raise op_error(self, "slices a slice: rows are counted from the beginning of the array")


def unsliced(descriptor: SSAValue) -> SSAValue:
    """Return the descriptor of the array that a slice is of; that of an array is itself."""
    made = descriptor.owner
    return made.source if isinstance(made, SliceTmaDescOp) else descriptor


def sliced_axis(descriptor: SSAValue) -> int | None:
    """Return the dimension along which an array is sliced by who uses its descriptor."""
    slices = (
        op for op in (use.operation for use in descriptor.uses) if isinstance(op, SliceTmaDescOp)
    )
    return next((op.axis.value.data for op in slices), None)


def users_of(descriptor: SSAValue) -> Iterator[Operation]:
    """Yield what uses a descriptor, or a slice of it, as the first operand."""
    for use in descriptor.uses:
        if isinstance(use.operation, SliceTmaDescOp):
            yield from users_of(use.operation.result)
        elif use.index == 0:
            yield use.operation
