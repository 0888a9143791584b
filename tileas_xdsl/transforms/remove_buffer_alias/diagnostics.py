"""Report the aliases that could not be removed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import arith, scf
from xdsl.ir import OpResult, SSAValue

from tileas_xdsl.analysis.memory.buffer_aliases import Roots
from tileas_xdsl.analysis.values.loop_carried_values import Carried, is_inside
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import emit_error
from tileas_xdsl.diagnostics.locations import name_of
from tileas_xdsl.diagnostics.report import Diagnostic
from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.dialects.nv_tileas.pipelines.checks import note_at
from tileas_xdsl.transforms.remove_buffer_alias.alias_plan import Plan

_COMPUTING = ("nv_tileas", "arith", "math")


@dataclass(frozen=True)
class Complaint:
    """Why an alias stays."""

    text: str
    notes: Sequence[Diagnostic] = ()


def report_remaining_aliases(plan: Plan) -> None:
    """Report every alias that a plan leaves, each operation and reason once."""
    reported: set[tuple[object, str]] = set()
    for merge in plan.aliases.merges:
        complaint = None if merge in plan.removable else _complaint(merge, plan)
        if complaint is None or (merge.op, complaint.text) in reported:
            continue
        reported.add((merge.op, complaint.text))
        emit_error(merge.op, complaint.text, complaint.notes)


def _complaint(merge: Carried, plan: Plan) -> Complaint | None:
    roots = plan.aliases.roots(merge.heads[0])
    if not _is_alias(merge, roots):
        return None
    if (allocation := roots.allocation) is None:
        return Complaint(message("remove_buffer_alias.no_last_write"), list(_ends(roots)))
    if is_inside(allocation, merge.op) and isinstance(merge.op, scf.WhileOp):
        notes = [note_at(allocation, "allocated here, in every round")]
        return Complaint(message("remove_buffer_alias.yielded_alias"), notes)
    notes = [
        note_at(feed.value, f"'{name_of(feed.value.op)}' shows it here")
        for feed in merge.feeds
        if isinstance(feed.value, OpResult)
    ]
    return Complaint(message("remove_buffer_alias.unsupported_op"), notes)


def _is_alias(merge: Carried, roots: Roots) -> bool:
    """Whether a merge names memory at all: tiles may be in shared memory and be values still."""
    if not roots.allocations and not roots.others:
        return False
    if isinstance(merge.op, arith.SelectOp):
        return bool(roots.allocations) or not all(map(_is_computed, roots.others))
    return bool(roots.allocations) and not any(map(_is_computed, roots.others))


def _is_computed(value: SSAValue) -> bool:
    """Whether an operation makes a new tile of others."""
    return (
        isinstance(value, OpResult)
        and value.op.dialect_name() in _COMPUTING
        and is_side_effect_free(value.op)
    )


def _ends(roots: Roots) -> Iterator[Diagnostic]:
    for value in roots.allocations:
        yield note_at(value, "one of its allocations")
    for value in roots.others:
        yield note_at(value, "the walk back ends here")
