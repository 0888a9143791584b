"""Sequence barriers: groups of warps that take turns, stage after stage.

Group g waits at its own barrier of the stage and, when it is done, arrives at that of group g + 1.
Source: CUTLASS include/cutlass/pipeline/sm90_pipeline.hpp, OrderedSequenceBarrier.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i1, i32
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation, operand_def, opt_operand_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute_nvgpu.operands import Value, value_of
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import LARGEST_COUNT, check_barrier
from tileas_xdsl.dialects.cutlass.types import SeqBarStateType, SeqBarType
from tileas_xdsl.dialects.field_init import init_fields
from tileas_xdsl.dialects.fields import FieldsOp, derived_init
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = [
    "SeqBarArriveOp",
    "SeqBarCreateOp",
    "SeqBarInitOp",
    "SeqBarStateCreateOp",
    "SeqBarWaitOp",
]

_NUMBER = IntegerAttr.constr(i32)


@irdl_op_definition
class SeqBarCreateOp(IRDLOperation):
    """A sequence whose mbarriers lie at `storage`, those of a stage beside one another."""

    name = "cutlass.seq_bar.create"

    storage = operand_def()
    result = result_def(SeqBarType)

    traits = traits_def(Pure())
    assembly_format = "$storage attr-dict `:` type($storage) `->` type($result)"

    def __init__(self, storage: Value, depth: int, length: int) -> None:
        init_fields(self, storage=storage, result=SeqBarType(depth, length))

    def verify_(self) -> None:
        check_barrier(self, self.storage)


@irdl_op_definition
@derived_init
class SeqBarInitOp(FieldsOp):
    """Initialises all barriers; all threads of the block execute it.

    `arrivals` is how many arrivals of a group end its turn.
    """

    name = "cutlass.seq_bar.init"

    bar: fields.Operand = fields.operand(SeqBarType)
    arrivals: fields.Int = fields.prop(_NUMBER)

    assembly_format = "$bar `arrivals` $arrivals attr-dict `:` type($bar)"

    def verify_(self) -> None:
        if not 1 <= value_of(self.arrivals) <= LARGEST_COUNT:
            raise op_error(
                self, f"counts 1 to {LARGEST_COUNT} arrivals, not {value_of(self.arrivals)}"
            )


@irdl_op_definition
class SeqBarStateCreateOp(IRDLOperation):
    """The first stage; group 0 has the other parity, so that its first turn begins at once."""

    name = "cutlass.seq_bar.state.create"

    group = operand_def(i32)
    result = result_def(SeqBarStateType)

    traits = traits_def(Pure())
    assembly_format = "$group attr-dict `:` type($result)"

    def __init__(self, group: Value, depth: int) -> None:
        init_fields(self, group=group, result=SeqBarStateType(depth))


@irdl_op_definition
@derived_init
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
class SeqBarArriveOp(IRDLOperation):
    """Ends the turn of `group` in this stage: the next group may go on.  Gives the next stage."""

    name = "cutlass.seq_bar.arrive"

    bar = operand_def(SeqBarType)
    state = operand_def(SeqBarStateType)
    group = operand_def(i32)
    elected = opt_operand_def(i1)
    result = result_def(SeqBarStateType)

    assembly_format = (
        "$bar `,` $state `group` $group (`if` $elected^)? attr-dict"
        " `:` type($bar) `,` type($state) `->` type($result)"
    )

    def __init__(
        self, bar: Value, state: Value, group: Value, *, elected: Value | None = None
    ) -> None:
        init_fields(
            self,
            bar=bar,
            state=state,
            group=group,
            elected=elected,
            result=SSAValue.get(state).type,
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
