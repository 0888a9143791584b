"""What is wrong with a program: kinds of findings, and the collection of a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tileas_xdsl.interpreters.ptx.errors import Place
from tileas_xdsl.interpreters.ptx.parsing.syntax import Instruction, PtxModule

KINDS: Mapping[str, str] = {
    "race-RAW": "a read that is not ordered after a write",
    "race-WAR": "a write that is not ordered after a read",
    "race-WAW": "a write that is not ordered after another",
    "uninitialised": "a read of memory that nothing has written",
    "missing-proxy-fence": "the asynchronous proxy meets a generic write without fence.proxy.async",
    "missing-tensormap-fence": "TMA is given a changed tensor map without its release and acquire",
    "missing-tcgen05-fence": "tensor memory is handed over without a tcgen05.fence",
    "phase-lap": "a waiter that is two phases behind, so that parities mislead it",
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
    "diverged": "a warp or warpgroup that does not come together where it must",
    "named-barrier": "participants of a named barrier that disagree",
    "registers": "register budgets that do not fit",
    "row-end": "a tensor store that also writes what follows the rows of its tensor",
    "tma": "a tensor copy against the rules of its map",
    "issue": "an instruction issued by too many threads or the wrong block",
    "illegal-address": "an access outside of all arrays",
    "misaligned-address": "an access at a misaligned address",
    "invalid": "operands that the instruction does not allow",
    "assertion": "what the program says must hold does not",
    "deadlock": "nobody can go on",
}
"""The kinds of findings and what they mean."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong: where, what, and the story of it."""

    kind: str
    message: str
    line: int
    story: tuple[str, ...] = ()
    column: int = 0
    path: str = ""

    def __str__(self) -> str:
        notes = "".join(f"\n  {line}" for line in self.story)
        return f"{self.path}:{self.line}:{self.column}: error: {self.message} [{self.kind}]{notes}"


class FindingsError(Exception):
    """Raised for a run with findings, where that was asked for."""

    def __init__(self, findings: Sequence[Finding]) -> None:
        super().__init__("\n".join(map(str, findings)))
        self.findings = tuple(findings)


class Findings:
    """The findings of a run, one for each kind and instruction."""

    def __init__(self, module: PtxModule, code: Sequence[Instruction], entry: Place) -> None:
        self._module = module
        self._code = code
        self._entry = entry
        self._found: dict[tuple[str, int], Finding] = {}

    def add(
        self,
        kind: str,
        at: int | None,
        message: str,
        story: Sequence[str] = (),
        place: Place | None = None,
    ) -> None:
        """A finding at an instruction, or at the kernel itself, if it has no place of its own."""
        if place is None:
            place = self._entry if at is None else self._code[at].place
        key = (kind, -1 if at is None else at)
        if key not in self._found:
            self._found[key] = Finding(
                kind, message, place.line, tuple(story), place.column, place.path
            )

    def merge(self, findings: Sequence[Finding]) -> None:
        """Findings of another run of the same kernel."""
        for finding in findings:
            self._found.setdefault((finding.kind, -2 - finding.line), finding)

    def all(self) -> list[Finding]:
        """All of them, in the order they were found."""
        return [*self._found.values()]

    def line_of(self, at: int) -> str:
        """An instruction as a story tells it."""
        instruction = self._code[at]
        return f"line {instruction.place.line}: {instruction.text}"
