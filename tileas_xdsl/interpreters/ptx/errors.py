"""Errors in PTX text with their location, and faults of a running kernel."""

from __future__ import annotations

from tileas_xdsl.data_classes import dataclass


@dataclass(frozen=True, slots=True)
class SourceLocation:
    """A file, a line and a column; both count from 1."""

    path: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


class PtxError(Exception):
    """Text that is not PTX, or uses a feature that the emulator lacks."""

    def __init__(self, message: str, location: SourceLocation) -> None:
        super().__init__(f"{location}: error: {message}")
        self.message = message
        self.location = location

    @property
    def path(self) -> str:
        """The file."""
        return self.location.path

    @property
    def line(self) -> int:
        """The line, from 1."""
        return self.location.line

    @property
    def column(self) -> int:
        """The column, from 1."""
        return self.location.column


class LaunchError(ValueError):
    """Arguments or sizes that do not fit the kernel; the text is a sentence for the user."""


class Fault(Exception):  # noqa: N818
    """An error that ends a running kernel, such as an illegal address.

    The run turns it into a finding of this `kind`, at the instruction that was running if it has no
    location of its own.
    """

    def __init__(
        self,
        kind: str,
        message: str,
        notes: tuple[str, ...] = (),
        location: SourceLocation | None = None,
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.notes = notes
        self.location = location
