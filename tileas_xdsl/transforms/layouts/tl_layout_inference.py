"""The pass `tl-layout-inference`: infer layouts of fragments and loops."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import OpError, emit_warning, note, op_error
from tileas_xdsl.diagnostics.report import Location
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.dialects.tl.kernel import KernelOp
from tileas_xdsl.inference.decisions import Decisions, InferenceError
from tileas_xdsl.inference.modes import MODELS, MODES, infer
from tileas_xdsl.inference.program import Program
from tileas_xdsl.transforms.pass_options import check_keyword
from tileas_xdsl.transforms.tl_inference.annotation import annotate
from tileas_xdsl.transforms.tl_inference.buffers import source_location
from tileas_xdsl.transforms.tl_inference.extraction import Extraction


@dataclass(frozen=True)
class TlLayoutInference(ModulePass):
    """Infer the layouts of fragments, loops and shared buffers of a `tl.kernel`.

    Analysis, then rewrite: layouts of a kernel are solved together, then annotated.

    Input: kernels of `tl`, some buffers or loops of them perhaps laid out by hand.  Output:
    `layout` on each `tl.alloc_fragment`, on each loop, with `vector`, `runs_once` and `is_padded`,
    and on buffers in shared memory that products read; and, in mode `improved`, an explicit
    `tl.convert_layout` where operations want a fragment in different layouts.  Mode `parity`
    decides what TileLang decides, and gives up where it does.  Deterministic and idempotent.
    """

    name = "tl-layout-inference"

    target: str | None = None
    """Deprecated: the attribute `nv_tileas.target` of the module says it."""
    mode: str = "improved"
    """`improved` or `parity`."""
    cost_model: str = "register-count"
    """`register-count` or `io-aware`: what mode `parity` compares programs by."""

    def __post_init__(self) -> None:
        """Refuse words that are no choices; raises `ValueError`."""
        check_keyword("mode", self.mode, MODES)
        check_keyword("cost_model", self.cost_model, MODELS)

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        arch = module_target(op, self.target).name
        for kernel in instances_in(op, KernelOp):
            lay_out(kernel, arch, self.mode, self.cost_model)


def lay_out(
    kernel: KernelOp, arch: str, mode: str = "improved", cost_model: str = "register-count"
) -> tuple[Program, Decisions]:
    """Infer the layouts of one kernel and write them on it; raises `OpError`."""
    extraction = Extraction(kernel, arch)
    program = extraction.program()
    try:
        decisions = infer(program, mode, cost_model)
    except InferenceError as error:
        raise _located(error, kernel, extraction.sites) from error
    if decisions.spilled is not None:
        text = f"{decisions.spilled.text}; the rest is spilled to local memory"
        emit_warning(_named(decisions.spilled, kernel, extraction.sites), text)
    annotate(extraction, program, decisions)
    return program, decisions


def _located(error: InferenceError, kernel: KernelOp, sites: Sequence[Operation]) -> OpError:
    """The error at the operation that it names by its place, with its notes."""
    notes = [note(location_from(each.location), each.text) for each in error.notes]
    return op_error(_named(error, kernel, sites), error.text, notes)


def _named(error: InferenceError, kernel: KernelOp, sites: Sequence[Operation]) -> Operation:
    """The operation that an error names by its place."""
    inside = [each for site in sites for each in operations_in(site)]
    return next((op for op in inside if source_location(op) == error.location), kernel)


def location_from(text: str) -> Location | None:
    """The place that `file:line:column` names; None for anything else."""
    parts = text.rsplit(":", 2)
    if len(parts) != 3 or not (parts[1].isdigit() and parts[2].isdigit()):
        return None
    return Location(parts[0], int(parts[1]), int(parts[2]))
