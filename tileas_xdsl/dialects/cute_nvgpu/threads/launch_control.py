"""Blocks that take over others which have not started (`clusterlaunchcontrol`, PTX ISA 9.7.13.17).

The operations are those of the CuTe DSL (`cute.arch.issue_clc_query`, `cute.arch.clc_response`).
"""

from __future__ import annotations

from xdsl.dialects.builtin import UnitAttr, i1, i32
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import result_def

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute.base.checks import pointer_to
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import check_barrier
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = ["CLC_RESPONSE_BYTES", "ClcResponseOp", "IssueClcQueryOp", "check_clc_response"]

CLC_RESPONSE_BYTES = 16


def check_clc_response(op: Operation, response: SSAValue) -> None:
    """A response is 16 aligned bytes of shared memory."""
    pointer_to(op, response, "response", AddressSpace.SMEM, CLC_RESPONSE_BYTES)


@irdl_op_definition
class IssueClcQueryOp(FieldsOp):
    """Asks for a cluster that has not started; 16 bytes of transactions complete at the mbarrier.

    With `multicast` every block of the cluster gets the response, at its own address and mbarrier.
    """

    name = "cute_nvgpu.arch.issue_clc_query"

    response: fields.Operand = fields.operand()
    mbar: fields.Operand = fields.operand()
    pred: fields.OptOperand = fields.opt_operand(i1, default=None)
    multicast: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)

    assembly_format = (
        "$response `,` $mbar (`if` $pred^)? (`multicast` $multicast^)? attr-dict"
        " `:` type($response) `,` type($mbar)"
    )

    def verify_(self) -> None:
        check_clc_response(self, self.response)
        check_barrier(self, self.mbar)


@irdl_op_definition
class ClcResponseOp(FieldsOp):
    """Whether a request was granted, and the first block of the cluster that will not start.

    The indices of a refused request are 0.
    """

    name = "cute_nvgpu.arch.clc_response"

    response: fields.Operand = fields.operand()
    granted = result_def(i1)
    x = result_def(i32)
    y = result_def(i32)
    z = result_def(i32)

    assembly_format = "$response attr-dict `:` type($response)"

    def verify_(self) -> None:
        check_clc_response(self, self.response)
