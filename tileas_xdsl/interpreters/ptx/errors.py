"""Errors in PTX text, located; and faults of a program that runs."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Place:
    """A place in a file; lines and columns count from 1."""

    path: str
    line: int
    column: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}:{self.column}"


class PtxError(Exception):
    """Text that is not PTX, or asks for what the emulator does not have."""

    def __init__(self, message: str, place: Place) -> None:
        super().__init__(f"{place}: error: {message}")
        self.message = message
        self.place = place

    @property
    def path(self) -> str:
        """The file."""
        return self.place.path

    @property
    def line(self) -> int:
        """The line, from 1."""
        return self.place.line

    @property
    def column(self) -> int:
        """The column, from 1."""
        return self.place.column


class LaunchError(ValueError):
    """Arguments or sizes that do not fit the kernel; the text is a sentence for the user."""


class Fault(Exception):  # noqa: N818
    """What stops a running program, as an illegal address stops a kernel.

    The run turns it into a finding of this `kind`, at the instruction that was running if it has no
    place of its own.
    """

    def __init__(
        self, kind: str, message: str, story: tuple[str, ...] = (), place: Place | None = None
    ) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message
        self.story = story
        self.place = place
