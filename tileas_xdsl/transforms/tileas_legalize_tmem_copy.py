"""The pass `tileas-legalize-tmem-copy`: copies that cross tensor memory become its instructions."""

from __future__ import annotations

from dataclasses import dataclass

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import DiagnosticError, OpError, op_error
from tileas_xdsl.diagnostics.report import Diagnostic
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.memory_copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.target.arch import get_target
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan
from tileas_xdsl.threads.pipeline.warp_allocation import WARP
from tileas_xdsl.transforms.legalize_tmem_copy.layouts import (
    can_convert,
    matches,
    register_layouts,
    through_registers,
)

LOAD, STORE, COPY = "tcgen05_ld", "tcgen05_st", "tcgen05_cp"

REGISTERS = (None, Space.RMEM)
"""Where tiles are in registers: there, or nowhere that is said."""


@dataclass(frozen=True)
class TileasLegalizeTmemCopy(ModulePass):
    """Give every copy that crosses tensor memory the instructions that do it.

    Needs: any verified module, with layouts assigned.  By source and destination a copy becomes

    | from | to | |
    |---|---|---|
    | tensor memory | registers | tcgen05.ld |
    | registers | tensor memory | tcgen05.st, in the registers that it stores from |
    | tensor memory | shared memory | tcgen05.ld into registers, then stmatrix or stores |
    | shared memory | tensor memory | ldmatrix or loads into registers, then tcgen05.st |

    and all others stay, as does what tcgen05.cp moves.  Leaves copies with atoms, each of which its
    lowering makes complete: waits for loads and stores, fences around barriers of the agent, and
    the columns, which one warp of the block takes and gives back.  A warp moves lanes of its
    quarter alone, so that the registers are those of whole warpgroups.

    Idempotent and deterministic.  A copy without such registers is an error at it and stays, others
    are rewritten: the module is valid, and a pipeline goes on.
    """

    name = "tileas-legalize-tmem-copy"

    target: str = "sm_100a"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        failed: list[Diagnostic] = []
        for function in [f for f in op.walk() if isinstance(f, func.FuncOp)]:
            failed += self._legalize(function)
        if failed:
            raise DiagnosticError(*failed)

    def _legalize(self, function: func.FuncOp) -> list[Diagnostic]:
        """Rewrite the copies of a function; what went wrong."""
        copies = [op for op in function.walk() if isinstance(op, CopyOp) and _crosses(op)]
        failed: list[Diagnostic] = []
        plan = KernelPlan.of(function, get_target(self.target)) if copies else None
        for copy in copies:
            assert plan is not None
            try:
                legalize(copy, plan.agent_around(copy).warps * WARP)
            except OpError as error:
                failed += error.diagnostics
        return failed


def _crosses(op: CopyOp) -> bool:
    ends = space_of(op.source.type), space_of(op.destination.type)
    return Space.TMEM in ends and op.atom.data.word != COPY


def legalize(op: CopyOp, threads: int) -> None:
    """Rewrite one copy in an agent of so many threads."""
    source, destination = op.source.type, op.destination.type
    loads = space_of(source) is Space.TMEM
    registers = register_layouts(source if loads else destination, threads)
    if not registers:
        raise op_error(op, message("failed-to-infer-register-layout-from-tmem-layout"))
    other = destination if loads else source
    if space_of(other) not in REGISTERS:
        passage = through_registers(registers, other, threads, stores=loads)
        if passage is None:
            raise op_error(op, message("failed-to-infer-source-layout-from-tmem-layout"))
        words = (LOAD, passage.other) if loads else (passage.other, STORE)
        between = AllocTensorOp(passage.type)
        first = CopyOp(op.source, between.result, atom=AtomAttr.of(words[0]))
        second = CopyOp(between.result, op.destination, atom=AtomAttr.of(words[1]))
        _replace(op, [between, first, second])
    elif matches(other, registers, threads):
        op.atom = AtomAttr.of(LOAD if loads else STORE)
    elif loads:
        raise op_error(op, message("failed-to-infer-register-layout-from-tmem-layout"))
    elif not can_convert(source, registers[0], threads):
        raise op_error(op, message("failed-to-infer-source-layout-from-tmem-layout"))
    else:
        converted = ConvertLayoutOp(op.source, registers[0])
        _replace(op, [converted, CopyOp(converted.result, op.destination, atom=STORE)])


def _replace(op: CopyOp, made: list[Operation]) -> None:
    for one in made:
        one.location = op.location
    Rewriter.insert_op(made, InsertPoint.before(op))
    Rewriter.erase_op(op)
