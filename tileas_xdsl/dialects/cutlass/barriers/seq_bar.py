"""Sequence barriers: groups of warps that take turns, stage after stage.

Group g waits at its own barrier of the stage and, when it is done, arrives at that of group g + 1.
Source: CUTLASS include/cutlass/pipeline/sm90_pipeline.hpp, OrderedSequenceBarrier.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import InitVar
from typing import Any

from xdsl.dialects.builtin import i1, i32
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import traits_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import check_barrier, counted
from tileas_xdsl.dialects.cutlass.types import SeqBarStateType, SeqBarType
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = [
    "SeqBarArriveOp",
    "SeqBarCreateOp",
    "SeqBarInitOp",
    "SeqBarStateCreateOp",
    "SeqBarWaitOp",
]


def _sequence(given: Mapping[str, Any]) -> SeqBarType:
    return SeqBarType(given["depth"], given["length"])


def _first_stage(given: Mapping[str, Any]) -> SeqBarStateType:
    return SeqBarStateType(given["depth"])


@irdl_op_definition
class SeqBarCreateOp(FieldsOp):
    """A sequence whose mbarriers lie at `storage`, those of a stage beside one another."""

    name = "cutlass.seq_bar.create"

    storage: fields.Operand = fields.operand()
    depth: InitVar[int] = fields.init_var()
    length: InitVar[int] = fields.init_var()
    result: fields.Result[SeqBarType] = fields.typed_result(SeqBarType, type=_sequence, init=False)

    traits = traits_def(Pure())
    assembly_format = "$storage attr-dict `:` type($storage) `->` type($result)"

    def verify_(self) -> None:
        check_barrier(self, self.storage)


@irdl_op_definition
class SeqBarInitOp(FieldsOp):
    """Initialises all barriers; all threads of the block execute it.

    `arrivals` is how many arrivals of a group end its turn.
    """

    name = "cutlass.seq_bar.init"

    bar: fields.Operand = fields.operand(SeqBarType)
    arrivals: fields.Int = fields.prop(counted("arrivals", 1))

    assembly_format = "$bar `arrivals` $arrivals attr-dict `:` type($bar)"


@irdl_op_definition
class SeqBarStateCreateOp(FieldsOp):
    """The first stage; group 0 has the other parity, so that its first turn begins at once."""

    name = "cutlass.seq_bar.state.create"

    group: fields.Operand = fields.operand(i32)
    depth: InitVar[int] = fields.init_var()
    result: fields.Result[SeqBarStateType] = fields.typed_result(
        SeqBarStateType, type=_first_stage, init=False
    )

    traits = traits_def(Pure())
    assembly_format = "$group attr-dict `:` type($result)"


@irdl_op_definition
class SeqBarWaitOp(FieldsOp):
    """Waits for the turn of `group` in this stage."""

    name = "cutlass.seq_bar.wait"

    bar: fields.Operand = fields.operand(SeqBarType)
    state: fields.Operand = fields.operand(SeqBarStateType)
    group: fields.Operand = fields.operand(i32)

    assembly_format = "$bar `,` $state `group` $group attr-dict `:` type($bar) `,` type($state)"

    def verify_(self) -> None:
        _check_depth(self, self.bar, self.state)


@irdl_op_definition
class SeqBarArriveOp(FieldsOp):
    """Ends the turn of `group` in this stage: the next group may go on.  Gives the next stage."""

    name = "cutlass.seq_bar.arrive"

    bar: fields.Operand = fields.operand(SeqBarType)
    state: fields.Operand = fields.operand(SeqBarStateType)
    group: fields.Operand = fields.operand(i32)
    elected: fields.OptOperand = fields.opt_operand(i1, default=None, kw_only=True)
    result: fields.Result[SeqBarStateType] = fields.typed_result(
        SeqBarStateType, type=fields.type_of("state"), init=False
    )

    assembly_format = (
        "$bar `,` $state `group` $group (`if` $elected^)? attr-dict"
        " `:` type($bar) `,` type($state) `->` type($result)"
    )

    def verify_(self) -> None:
        _check_depth(self, self.bar, self.state)
        if self.result.type != self.state.type:
            raise op_error(self, f"goes on from {self.state.type}, not to {self.result.type}")


def _check_depth(op: Operation, bar: SSAValue, state: SSAValue) -> None:
    type_, of = bar.type, state.type
    assert isinstance(type_, SeqBarType)
    assert isinstance(of, SeqBarStateType)
    if type_.depth != of.number:
        raise op_error(op, f"is at a stage of {type_}, but the state is {of}")
