"""The pass `tileas-legalize-tmem-copy`: legalize copies from and to tensor memory."""

from __future__ import annotations

from dataclasses import field

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError, op_error
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.report import Diagnostic
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.target.arch import Target, targets_with
from tileas_xdsl.target.features import Feature
from tileas_xdsl.transforms.extension import apply_added, sweep
from tileas_xdsl.transforms.legalize_tmem_copy.layouts import (
    can_convert,
    matches,
    register_layouts,
    through_registers,
)
from tileas_xdsl.transforms.pipelining.agent_threads import AgentThreads

LOAD, STORE, COPY = "tcgen05_ld", "tcgen05_st", "tcgen05_cp"

TENSOR_MEMORY_TARGET = targets_with(Feature.TCGEN05)[0]
"""The target of a module that names none."""

REGISTERS = (None, Space.RMEM)
"""Where tiles are in registers: there, or nowhere that is said."""


@dataclass
class LegalizeTmemCopy(RewritePattern):
    """Replace a copy from or to tensor memory by tcgen05.ld, .st and copies through registers.

    A copy without such registers stays; its diagnostics are collected.
    """

    threads: AgentThreads
    target: Target
    failed: list[Diagnostic] = field(default_factory=list[Diagnostic])

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: CopyOp, rewriter: PatternRewriter) -> None:
        if not _crosses(op):
            return
        try:
            if (
                lacking := self.target.lacks(Feature.TCGEN05, "a copy of tensor memory")
            ) is not None:
                raise op_error(op, lacking)
            _legalize(op, self.threads.around(op), rewriter)
        except OpError as error:
            self.failed += error.diagnostics


def _crosses(op: CopyOp) -> bool:
    """Whether a copy has one end in tensor memory and is none that tcgen05.cp does."""
    ends = space_of(op.source.type), space_of(op.destination.type)
    return Space.TMEM in ends and op.atom.data.keyword != COPY


def _legalize(op: CopyOp, threads: int, rewriter: PatternRewriter) -> None:
    """Rewrite one copy in an agent of `threads` threads; raises `OpError` if there is no way."""
    source, destination = op.source.type, op.destination.type
    loads = space_of(source) is Space.TMEM
    registers = register_layouts(source if loads else destination, threads)
    if not registers:
        raise op_error(op, message("legalize_tmem_copy.register_layout"))
    other = destination if loads else source
    # tcgen05.ld and tcgen05.st move between tensor memory and registers only: a copy to another
    # space is two copies with registers between.
    if space_of(other) not in REGISTERS:
        passage = through_registers(registers, other, threads, stores=loads)
        if passage is None:
            raise op_error(op, message("legalize_tmem_copy.source_layout"))
        words = (LOAD, passage.other) if loads else (passage.other, STORE)
        between = AllocTensorOp(passage.type)
        first = CopyOp(op.source, between.result, atom=AtomAttr.of(words[0]))
        second = CopyOp(between.result, op.destination, atom=AtomAttr.of(words[1]))
        rewriter.replace(op, [between, first, second])
    elif matches(other, registers, threads):
        op.atom = AtomAttr.of(LOAD if loads else STORE)
        rewriter.notify_op_modified(op)
    elif loads:
        raise op_error(op, message("legalize_tmem_copy.register_layout"))
    elif not can_convert(source, registers[0], threads):
        raise op_error(op, message("legalize_tmem_copy.source_layout"))
    else:
        converted = ConvertLayoutOp(op.source, registers[0])
        store = CopyOp(converted.result, op.destination, atom=STORE)
        rewriter.replace(op, [converted, store])


@dataclass(frozen=True)
class TileasLegalizeTmemCopy(ModulePass):
    """Legalize every copy from or to tensor memory to tcgen05 instructions.

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

    Idempotent and deterministic.  A copy without such registers, and any on a target without tensor
    memory, is an error at it and stays, others
    are rewritten: the module is valid, and a pipeline goes on.
    """

    name = "tileas-legalize-tmem-copy"

    target: str | None = None
    """Deprecated: the attribute `nv_tileas.target` of the module says it.  A module that
    names none is for sm_100a, whose tensor memory this is about."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_added(TileasLegalizeTmemCopy.name, op)
        target = module_target(op, self.target, TENSOR_MEMORY_TARGET)
        legalize = LegalizeTmemCopy(AgentThreads(target), target)
        sweep(op, [legalize])
        if legalize.failed:
            raise DiagnosticError(*legalize.failed)
