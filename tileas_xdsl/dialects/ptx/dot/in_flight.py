"""Registers that an asynchronous instruction still writes: who may touch them before the wait."""

from __future__ import annotations

from collections.abc import Collection

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import note, op_error
from tileas_xdsl.dialects.ptx.elementwise.values import ExtractOp, PackOp, UnpackOp
from tileas_xdsl.dialects.ptx.structure.control import BraOp, CondBraOp


def check_in_flight(
    value: SSAValue, producer: Operation, takers: Collection[tuple[str, int | None]], wait: str
) -> None:
    """Every reader of `value` is a branch or one of `takers`: an operation, and which operand.

    Where a branch passes the value on, the argument is followed.
    """
    pending, seen = [value], {value}
    while pending:
        for use in pending.pop().uses:
            op = use.operation
            if isinstance(op, BraOp | CondBraOp):
                same = [_passed_to(op, use.index)]
            elif isinstance(op, PackOp | ExtractOp | UnpackOp):
                # No instruction: its results are registers of its operands.
                same = list(op.results)
            else:
                same = []
            if same:
                pending += [found for found in same if found not in seen]
                seen.update(same)
            elif (op.name, use.index) not in takers and (op.name, None) not in takers:
                raise op_error(
                    op,
                    f"reads registers that {producer.name} still writes; {wait} gives them back",
                    [note(producer, "written by this")],
                )


def _passed_to(op: BraOp | CondBraOp, index: int) -> SSAValue:
    """The argument of a block that gets operand `index` of a branch."""
    if isinstance(op, BraOp):
        return op.target.args[index]
    passed = len(op.then_arguments)
    if index <= passed:
        return op.then_target.args[index - 1]
    return op.else_target.args[index - 1 - passed]
