"""Faults of a simulation: a message at the operation at fault, with an event trace as notes."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from tileas_xdsl.diagnostics.emission import OpError, note, op_error
from tileas_xdsl.diagnostics.report import Diagnostic
from tileas_xdsl.interpreters.tile.tracing.trace import Trace


class SimulationError(OpError):
    """A program that breaks a rule of the machine, located at the operation at fault."""

    trace: Trace | None = None
    """The trace up to the fault, if the run was traced."""
    printed: str = ""
    """The text that blocks printed before the fault."""


class RuleBroken(Exception):  # noqa: N818
    """A broken rule of the machine, raised where the operation is not known yet.

    The text is the message; `trace` are lines that follow, `notes` point to other operations.
    """

    def __init__(
        self, text: str, trace: Sequence[str] = (), notes: Sequence[Diagnostic] = ()
    ) -> None:
        super().__init__(text)
        self.trace = trace
        self.notes = notes


def fault(
    op: Operation | None,
    message: str,
    trace: Sequence[str] = (),
    notes: Sequence[Diagnostic] = (),
) -> SimulationError:
    """Return a fault at `op`; the lines of `trace` become notes at `op`."""
    every = [*notes, *[note(op, line) for line in trace]]
    return SimulationError(*op_error(op, message, every).diagnostics)


def located(op: Operation | None, error: RuleBroken) -> SimulationError:
    """Return a broken rule as a fault at an operation."""
    return fault(op, str(error), error.trace, error.notes)
