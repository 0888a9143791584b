"""What went wrong on the way: it does not stop the pass, but the pass fails in the end."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import field, replace

from xdsl.ir import Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.locations import location_of
from tileas_xdsl.diagnostics.report import Diagnostic, Severity


@dataclass
class Failures:
    """The diagnostics so far, and the operations whose layouts are not to be changed again."""

    diagnostics: list[Diagnostic] = field(default_factory=list[Diagnostic])
    _tried: set[Operation] = field(default_factory=set[Operation])

    def __contains__(self, op: Operation) -> bool:
        return op in self._tried

    def add(self, op: Operation, message: str, reasons: Sequence[Diagnostic]) -> None:
        """Record that `op` could not be rewritten; the reasons become notes."""
        self._tried.add(op)
        self.diagnostics += op_error(op, message, _as_notes(reasons)).diagnostics

    def leave(self, ops: Iterable[Operation]) -> None:
        """Do not try to change the layouts of these operations any more."""
        self._tried.update(ops)

    def add_unsettled(self, root: Operation, message: str, reasons: Sequence[Diagnostic]) -> None:
        """Record that rewriting `root` did not settle, at the place that the reasons name."""
        self._tried.add(root)
        location = reasons[0].location or location_of(root)
        error = op_error(location, message, _as_notes(reasons))
        self.diagnostics += error.diagnostics


def _as_notes(reasons: Sequence[Diagnostic]) -> list[Diagnostic]:
    return [replace(reason, severity=Severity.NOTE, notes=()) for reason in reasons]
