"""Suppressions: findings that a user has read and accepts, `KIND` or `KIND:LINE`."""

from __future__ import annotations

from collections.abc import Sequence
from difflib import get_close_matches

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.checking.reports.findings import KINDS, Finding


@dataclass(frozen=True, slots=True)
class Suppression:
    """A kind of finding that is accepted, everywhere or at one line.

    The line is one of the PTX text, or of the source that `.loc` names.
    """

    kind: str
    line: int | None = None

    def covers(self, finding: Finding) -> bool:
        """Return whether a finding is accepted."""
        if finding.kind != self.kind:
            return False
        origin = None if finding.origin is None else finding.origin.line
        return self.line is None or self.line in (finding.line, origin)

    def __str__(self) -> str:
        return self.kind if self.line is None else f"{self.kind}:{self.line}"


def parse_suppression(text: str) -> Suppression:
    """Parse `KIND[:LINE]`; raise `ValueError` with a sentence for the user."""
    kind, colon, line = text.partition(":")
    if kind not in KINDS:
        near = get_close_matches(kind, KINDS, 1)
        hint = f"did you mean '{near[0]}'?" if near else f"kinds: {', '.join(sorted(KINDS))}"
        raise ValueError(f"'{kind}' is no kind of finding; {hint}")
    if not colon:
        return Suppression(kind)
    if not (line.isascii() and line.isdigit() and 0 < len(line) <= 9):
        raise ValueError(f"'{text}': '{line}' is no line; that is KIND or KIND:LINE")
    return Suppression(kind, int(line))


def split(
    findings: Sequence[Finding], suppressions: Sequence[Suppression]
) -> tuple[Sequence[Finding], Sequence[Finding]]:
    """Return the findings that remain, and those that are accepted."""
    accepted = [f for f in findings if any(s.covers(f) for s in suppressions)]
    return [f for f in findings if f not in accepted], accepted


def unused(
    suppressions: Sequence[Suppression], accepted: Sequence[Finding]
) -> Sequence[Suppression]:
    """Return the suppressions that accepted nothing."""
    return [s for s in suppressions if not any(s.covers(finding) for finding in accepted)]
