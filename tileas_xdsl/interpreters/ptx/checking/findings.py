"""Findings: the kinds of errors of a program, and those of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tileas_xdsl.interpreters.ptx.errors import SourceLocation
from tileas_xdsl.interpreters.ptx.parsing.syntax import Instruction, PtxModule

KINDS: Mapping[str, str] = {
    "race-RAW": "a read that is not ordered after a write",
    "race-WAR": "a write that is not ordered after a read",
    "race-WAW": "a write that is not ordered after another",
    "uninitialised": "a read of memory that nothing has written",
    "missing-proxy-fence": "an async-proxy access after a generic write without fence.proxy.async",
    "missing-tensormap-fence": "TMA is given a changed tensor map without its release and acquire",
    "missing-tcgen05-fence": "tensor memory passes to another thread without a tcgen05.fence",
    "phase-lap": "a waiter that is two phases behind, so that it misreads the phase parity",
    "barrier-init": "a barrier used before its initialisation is visible",
    "barrier-overwritten": "ordinary data over a live mbarrier",
    "barrier-arrivals": "more arrivals than a phase expects",
    "barrier-bytes": "a transaction count out of range",
    "wgmma-fence": "registers of wgmma touched without wgmma.fence",
    "wgmma-wait": "registers of wgmma touched before wgmma.wait_group",
    "descriptor": "a matrix descriptor that does not fit what was written",
    "tensor-memory": "tensor memory used against its rules",
    "tcgen05-wait": "registers or cells touched before tcgen05.wait",
    "exit-race": "a block that may end while others still reach its shared memory",
    "access-after-exit": "shared memory of a block that has ended",
    "diverged": "a warp or warpgroup that is not converged where it must be",
    "named-barrier": "participants of a named barrier that disagree",
    "registers": "register budgets that do not fit",
    "row-end": "a tensor store that also writes what follows the rows of its tensor",
    "tma": "a tensor copy against the rules of its map",
    "issue": "an instruction issued by too many threads or the wrong block",
    "illegal-address": "an access outside of all arrays",
    "misaligned-address": "an access at a misaligned address",
    "invalid": "operands that the instruction does not allow",
    "assertion": "what the program says must hold does not",
    "deadlock": "no thread can make progress",
}
"""The kinds of findings and what they mean."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An error of a program: location, message, and the event trace as notes."""

    kind: str
    message: str
    line: int
    notes: tuple[str, ...] = ()
    column: int = 0
    path: str = ""

    def __str__(self) -> str:
        notes = "".join(f"\n  {line}" for line in self.notes)
        return f"{self.path}:{self.line}:{self.column}: error: {self.message} [{self.kind}]{notes}"


class FindingsError(Exception):
    """Raised for a run with findings when `raise_on_findings` is set."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__("\n".join(map(str, findings)))
        self.findings = tuple(findings)


class Findings:
    """The findings of a run, one for each kind and instruction."""

    def __init__(
        self, module: PtxModule, code: Sequence[Instruction], entry: SourceLocation
    ) -> None:
        self._module = module
        self._code = code
        self._entry = entry
        self._found: dict[tuple[str, int], Finding] = {}

    def add(
        self,
        kind: str,
        at: int | None,
        message: str,
        notes: Sequence[str] = (),
        location: SourceLocation | None = None,
    ) -> None:
        """Add a finding at an instruction, or at the kernel if it has no location of its own."""
        if location is None:
            location = self._entry if at is None else self._code[at].location
        key = (kind, -1 if at is None else at)
        if key not in self._found:
            self._found[key] = Finding(
                kind, message, location.line, tuple(notes), location.column, location.path
            )

    def merge(self, findings: Sequence[Finding]) -> None:
        """Add the findings of another run of the same kernel."""
        for finding in findings:
            self._found.setdefault((finding.kind, -2 - finding.line), finding)

    def all(self) -> list[Finding]:
        """Return all findings in the order in which they were found."""
        return [*self._found.values()]

    def line_of(self, at: int) -> str:
        """Return an instruction with its line, for notes."""
        instruction = self._code[at]
        return f"line {instruction.location.line}: {instruction.text}"
