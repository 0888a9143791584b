"""Sequence barriers: groups of warps that take turns, stage after stage.

Group g waits at its own barrier of the stage and, when it is done, arrives at that of group g + 1.
Source: CUTLASS include/cutlass/pipeline/sm90_pipeline.hpp, OrderedSequenceBarrier.
"""

from __future__ import annotations

from xdsl.dialects.builtin import IntegerAttr, i1, i32
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    opt_operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu.operands import Value, number, value_of
from tileas_xdsl.dialects.cute_nvgpu.threads.barriers import LARGEST_COUNT, check_barrier
from tileas_xdsl.dialects.cutlass.types import SeqBarStateType, SeqBarType

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
        super().__init__(operands=[storage], result_types=[SeqBarType(depth, length)])

    def verify_(self) -> None:
        check_barrier(self, self.storage)


@irdl_op_definition
class SeqBarInitOp(IRDLOperation):
    """Initialises all barriers; all threads of the block execute it.

    `arrivals` is how many arrivals of a group end its turn.
    """

    name = "cutlass.seq_bar.init"

    bar = operand_def(SeqBarType)
    arrivals = prop_def(_NUMBER)

    assembly_format = "$bar `arrivals` $arrivals attr-dict `:` type($bar)"

    def __init__(self, bar: Value, arrivals: int) -> None:
        super().__init__(operands=[bar], properties={"arrivals": number(arrivals)})

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
        super().__init__(operands=[group], result_types=[SeqBarStateType(depth)])


@irdl_op_definition
class SeqBarWaitOp(IRDLOperation):
    """Waits for the turn of `group` in this stage."""

    name = "cutlass.seq_bar.wait"

    bar = operand_def(SeqBarType)
    state = operand_def(SeqBarStateType)
    group = operand_def(i32)

    assembly_format = "$bar `,` $state `group` $group attr-dict `:` type($bar) `,` type($state)"

    def __init__(self, bar: Value, state: Value, group: Value) -> None:
        super().__init__(operands=[bar, state, group])

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
        super().__init__(
            operands=[bar, state, group, elected], result_types=[SSAValue.get(state).type]
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
