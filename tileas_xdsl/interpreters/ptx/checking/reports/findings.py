"""Findings: the kinds of errors of a program, and those of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import StrEnum

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.errors import SourceLocation
from tileas_xdsl.interpreters.ptx.parsing.syntax import Instruction, PtxModule


class Severity(StrEnum):
    """What a finding means for a program that seems to work, the gravest first."""

    ERROR = "error"
    """Wrong on hardware: wrong results, a hang or a trap, in some order of events."""
    ISA = "isa"
    """Undefined by the PTX ISA, but it works on all hardware that is known."""
    NOTE = "note"
    """Benign, but worth a look: threads that store the same value to one address."""

    @property
    def fails(self) -> bool:
        """Return whether a run with such a finding has failed: all but notes do."""
        return self is not Severity.NOTE


@dataclass(frozen=True, slots=True)
class FindingKind:
    """A kind of finding: a short stable id, what it means, and its severity unless a finding has
    another."""

    id: str
    meaning: str
    severity: Severity = Severity.ERROR


KINDS: Mapping[str, FindingKind] = {
    kind.id: kind
    for kind in (
        FindingKind("race-RAW", "a read that is not ordered after a write"),
        FindingKind("race-WAR", "a write that is not ordered after a read"),
        FindingKind("race-WAW", "a write that is not ordered after another"),
        FindingKind(
            "same-value",
            "threads that nothing orders write one value to one address",
            Severity.NOTE,
        ),
        FindingKind("read-only-load", "ld.global.nc of memory that the kernel writes"),
        FindingKind("undefined-register", "a register that nothing has written"),
        FindingKind("unsupported", "what the emulator does not model: the program may be right"),
        FindingKind("uninitialised", "a read of memory that nothing has written"),
        FindingKind("leak", "memory of malloc that the kernel does not free", Severity.NOTE),
        FindingKind(
            "missing-proxy-fence",
            "an async-proxy access after a generic one without fence.proxy.async",
        ),
        FindingKind(
            "missing-tensormap-fence",
            "TMA is given a changed tensor map without its release and acquire",
        ),
        FindingKind(
            "missing-tcgen05-fence",
            "tensor memory passes to another thread without a tcgen05.fence",
        ),
        FindingKind(
            "phase-lap", "a waiter that is two phases behind, so that it misreads the phase parity"
        ),
        FindingKind("barrier-init", "a barrier used before its initialisation is visible"),
        FindingKind("barrier-overwritten", "ordinary data over a live mbarrier"),
        FindingKind("barrier-arrivals", "more arrivals than a phase expects"),
        FindingKind("barrier-bytes", "a transaction count out of range"),
        FindingKind("wgmma-fence", "registers of wgmma touched without wgmma.fence"),
        FindingKind("wgmma-wait", "registers of wgmma touched before wgmma.wait_group"),
        FindingKind("descriptor", "a matrix descriptor that does not fit what was written"),
        FindingKind("tensor-memory", "tensor memory used against its rules"),
        FindingKind("tcgen05-wait", "registers or cells touched before tcgen05.wait"),
        FindingKind("exit-race", "a block that may end while others still reach its shared memory"),
        FindingKind("access-before-start", "shared memory of a block that may not have begun"),
        FindingKind("access-after-exit", "shared memory of a block that has ended"),
        FindingKind("diverged", "a warp or warpgroup that is not converged where it must be"),
        FindingKind("named-barrier", "participants of a named barrier that disagree"),
        FindingKind("registers", "register budgets that do not fit"),
        FindingKind(
            "row-end", "a tensor store that also writes what follows the rows of its tensor"
        ),
        FindingKind("tma", "a tensor copy against the rules of its map"),
        FindingKind("issue", "an instruction issued by too many threads or the wrong block"),
        FindingKind("illegal-address", "an access outside of all arrays"),
        FindingKind("misaligned-address", "an access at a misaligned address"),
        FindingKind("invalid", "operands that the instruction does not allow"),
        FindingKind("assertion", "what the program says must hold does not"),
        FindingKind("deadlock", "no thread can make progress"),
    )
}
"""The kinds of findings by id."""


@dataclass(frozen=True, slots=True)
class Finding:
    """An error of a program: location, message, the event trace as notes; `kind` is a key of
    `KINDS`."""

    kind: str
    message: str
    line: int
    notes: tuple[str, ...] = ()
    column: int = 0
    path: str = ""
    severity: Severity = Severity.ERROR
    origin: SourceLocation | None = None
    """Where in the source of the kernel the instruction comes from, by `.loc`."""

    def __str__(self) -> str:
        source = () if self.origin is None else (f"compiled from {self.origin}",)
        notes = "".join(f"\n  {line}" for line in (*source, *self.notes))
        where = f"{self.path}:{self.line}:{self.column}"
        return f"{where}: {self.severity}: {self.message} [{self.kind}]{notes}"


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
        severity: Severity | None = None,
    ) -> None:
        """Add a finding at an instruction, or at the kernel if it has no location of its own; its
        severity is that of its kind, if none is given."""
        origin = None if at is None else self._code[at].origin
        if location is None:
            location = self._entry if at is None else self._code[at].location
        key = (kind, -1 if at is None else at)
        if key not in self._found:
            self._found[key] = Finding(
                kind,
                message,
                location.line,
                tuple(notes),
                location.column,
                location.path,
                severity or KINDS[kind].severity,
                origin,
            )

    def supersede(self, old: str, at: int, kind: str, message: str, notes: Sequence[str]) -> None:
        """Replace the finding `old` of an instruction, if there is one, by a better diagnosis."""
        if (old, at) in self._found:
            del self._found[old, at]
            self.add(kind, at, message, notes)

    def has(self, kind: str, at: int) -> bool:
        """Return whether there is a finding of a kind at the line of an instruction."""
        line = self._code[at].location.line
        return any(found.kind == kind and found.line == line for found in self._found.values())

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
