"""The state of one end of a pipeline: which stage is next, and in which phase.

Source: CUTLASS include/cutlass/pipeline/sm90_pipeline.hpp, PipelineState.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar
from typing import Any

from xdsl.dialects.builtin import i32
from xdsl.irdl import result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.constraints import keyword_among
from tileas_xdsl.dialects.cutlass.types import PipelineStateType
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition, member_op

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
"""By the end, the parity of the first phase: on fresh barriers a wait for parity 1 is over."""


def _first_stage(given: Mapping[str, Any]) -> PipelineStateType:
    return PipelineStateType(given["stages"])


@irdl_op_definition
class StateCreateOp(FieldsOp):
    """The first stage: index 0, count 0, and phase 1 for a producer, 0 for a consumer."""

    name = "cutlass.pipeline.state.create"

    role: fields.String = fields.prop(
        keyword_among(FIRST_PHASE, f"is for a {' or a '.join(FIRST_PHASE)}, not a {{given}}")
    )
    stages: InitVar[int] = fields.init_var()
    result: fields.Result[PipelineStateType] = fields.typed_result(
        PipelineStateType, type=_first_stage, init=False
    )

    traits = traits_def(Pure())
    assembly_format = "$role attr-dict `:` type($result)"


@irdl_op_definition
class StateIncrementOp(FieldsOp):
    """The next stage; past the last one comes the first, with the other parity."""

    name = "cutlass.pipeline.state.increment"

    state: fields.Operand = fields.operand(PipelineStateType)
    result: fields.Result[PipelineStateType] = fields.typed_result(
        PipelineStateType, type=fields.type_of("state"), init=False
    )

    traits = traits_def(Pure())
    assembly_format = "$state attr-dict `:` type($state) `->` type($result)"

    def verify_(self) -> None:
        if self.state.type != self.result.type:
            raise op_error(self, f"goes on from {self.state.type}, not to {self.result.type}")


class StateGetOp(FieldsOp):
    """A part of a state."""

    state: fields.Operand = fields.operand(PipelineStateType)
    result = result_def(i32)

    traits = traits_def(Pure())
    assembly_format = "$state attr-dict `:` type($state)"


def _part(class_name: str, mnemonic: str, summary: str) -> type[StateGetOp]:
    name = f"cutlass.pipeline.state.{mnemonic}"
    return member_op(StateGetOp, class_name, name, summary)


StateGetCountOp = _part("StateGetCountOp", "get_count", "How often the state was incremented.")
StateGetIndexOp = _part("StateGetIndexOp", "get_index", "The index of the stage.")
StateGetPhaseOp = _part("StateGetPhaseOp", "get_phase", "The parity that the next wait is for.")
