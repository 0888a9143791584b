"""The state of one end of a pipeline: which stage is next, and in which lap.

Source: CUTLASS include/cutlass/pipeline/sm90_pipeline.hpp, PipelineState.
"""

from __future__ import annotations

from xdsl.dialects.builtin import StringAttr, i32
from xdsl.ir import SSAValue
from xdsl.irdl import IRDLOperation, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute_nvgpu.operands import Value
from tileas_xdsl.dialects.cutlass.types import PipelineStateType
from tileas_xdsl.dialects.field_init import init_fields
from tileas_xdsl.dialects.fields import FieldsOp, derived_init
from tileas_xdsl.dialects.op_definition import family_member, irdl_op_definition

__all__ = [
    "FIRST_PHASE",
    "StateCreateOp",
    "StateGetCountOp",
    "StateGetIndexOp",
    "StateGetOp",
    "StateGetPhaseOp",
    "StateIncrementOp",
]

FIRST_PHASE = {"producer": 1, "consumer": 0}
"""By the end, the parity of the first lap: on fresh barriers a wait for parity 1 is over."""


@irdl_op_definition
class StateCreateOp(IRDLOperation):
    """The first stage: index 0, count 0, and phase 1 for a producer, 0 for a consumer."""

    name = "cutlass.pipeline.state.create"

    role = prop_def(StringAttr)
    result = result_def(PipelineStateType)

    traits = traits_def(Pure())
    assembly_format = "$role attr-dict `:` type($result)"

    def __init__(self, role: str, stages: int) -> None:
        init_fields(self, result=PipelineStateType(stages), role=role)

    def verify_(self) -> None:
        if self.role.data not in FIRST_PHASE:
            raise op_error(self, f"is for a {' or a '.join(FIRST_PHASE)}, not a {self.role.data}")


@irdl_op_definition
class StateIncrementOp(IRDLOperation):
    """The next stage; behind the last one comes the first, with the other parity."""

    name = "cutlass.pipeline.state.increment"

    state = operand_def(PipelineStateType)
    result = result_def(PipelineStateType)

    traits = traits_def(Pure())
    assembly_format = "$state attr-dict `:` type($state) `->` type($result)"

    def __init__(self, state: Value) -> None:
        value = SSAValue.get(state)
        super().__init__(operands=[value], result_types=[value.type])

    def verify_(self) -> None:
        if self.state.type != self.result.type:
            raise op_error(self, f"goes on from {self.state.type}, not to {self.result.type}")


@derived_init
class StateGetOp(FieldsOp):
    """A part of a state."""

    state: fields.Operand = fields.operand(PipelineStateType)
    result = result_def(i32)

    traits = traits_def(Pure())
    assembly_format = "$state attr-dict `:` type($state)"


def _part(class_name: str, mnemonic: str, summary: str) -> type[StateGetOp]:
    name = f"cutlass.pipeline.state.{mnemonic}"
    return irdl_op_definition(family_member(StateGetOp, class_name, name, summary))


StateGetCountOp = _part("StateGetCountOp", "get_count", "How often the state was incremented.")
StateGetIndexOp = _part("StateGetIndexOp", "get_index", "The index of the stage.")
StateGetPhaseOp = _part("StateGetPhaseOp", "get_phase", "The parity that the next wait is for.")
