"""What a simulation reports when a program is wrong: the place, the agent and the story."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from tileas_xdsl.diagnostics.emission import OpError, note, op_error


class SimulationError(OpError):
    """A program that breaks a rule of the machine; located at the operation that did."""


def fault(op: Operation | None, message: str, story: Sequence[str] = ()) -> SimulationError:
    """A fault at `op`, told by `message`; the lines of `story` become notes."""
    place = None if op is None else op
    notes = [note(place, line) for line in story]
    return SimulationError(*op_error(place, message, notes).diagnostics)
