"""What a simulation reports when a program is wrong: the place, the agent and the story."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from tileas_xdsl.diagnostics.emission import OpError, note, op_error
from tileas_xdsl.diagnostics.report import Diagnostic
from tileas_xdsl.interpreters.tile.tracing.trace import Trace


class SimulationError(OpError):
    """A program that breaks a rule of the machine; located at the operation that did."""

    trace: Trace | None = None
    """What had happened before, if the run was traced."""
    printed: str = ""
    """What blocks had printed before."""


class RuleBroken(Exception):  # noqa: N818
    """A rule of the machine that was broken, before it is known by which operation.

    The text is the sentence for the user; `story` are lines after it, `notes` point elsewhere.
    """

    def __init__(
        self, text: str, story: Sequence[str] = (), notes: Sequence[Diagnostic] = ()
    ) -> None:
        super().__init__(text)
        self.story = story
        self.notes = notes


def fault(
    op: Operation | None,
    message: str,
    story: Sequence[str] = (),
    notes: Sequence[Diagnostic] = (),
) -> SimulationError:
    """A fault at `op`, told by `message`; the lines of `story` become notes."""
    told = [*notes, *[note(op, line) for line in story]]
    return SimulationError(*op_error(op, message, told).diagnostics)


def located(op: Operation | None, error: RuleBroken) -> SimulationError:
    """A broken rule as a fault of the operation that broke it."""
    return fault(op, str(error), error.story, error.notes)
