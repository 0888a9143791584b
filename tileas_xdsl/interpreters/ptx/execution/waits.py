"""Wait conditions of convergence groups, and reconvergence before `.sync.aligned` instructions.

A warp-synchronous instruction needs all lanes of its member mask at once (PTX ISA 9.7.13,
`bar.warp.sync`).  `reconverge` runs it for the warps that are complete; the lanes of incomplete
warps become a convergence group that waits for the missing lanes:

    mask 0xf..f of 4 warps, warp 2 lacks lanes  ->  warps 0, 1, 3 execute; warp 2 waits
"""

from __future__ import annotations

from enum import Enum

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.checking.reports.findings import Severity
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import FULL_WARP, warps_of
from tileas_xdsl.interpreters.ptx.execution.state import Cluster, ConvergenceGroup, Cta, Warpgroup
from tileas_xdsl.interpreters.ptx.synchronization.hardware_barriers import (
    ClusterBarrier,
    NamedBarrier,
)
from tileas_xdsl.interpreters.ptx.synchronization.mbarrier import MBarrier
from tileas_xdsl.layout.units import WARP


@dataclass(slots=True)
class ReconvergenceWait:
    """Before an instruction that the lanes `wanted` execute convergently; merging ends the wait."""

    group: ConvergenceGroup
    wanted: int
    what: str
    mergeable: bool = True

    def ready(self) -> bool:
        """Return whether all missing lanes have arrived or exited."""
        mask = self.group.mask
        return not self.wanted & self.group.warpgroup.live() & ~mask

    def why(self) -> str:
        """Return which lanes are missing."""
        warpgroup = self.group.warpgroup
        missing = self.wanted & warpgroup.live() & ~self.group.mask
        shown = _lanes_of(warpgroup, missing)
        return f"for {shown} to come to {self.what}"


@dataclass(slots=True)
class PhaseWait:
    """In `mbarrier.try_wait`: until the phase of a parity, or of a phase count, completes."""

    barrier: MBarrier
    parity: int
    phase: int | None = None
    mergeable: bool = False

    def ready(self) -> bool:
        """Return whether the phase has completed."""
        if self.phase is not None:
            return self.barrier.phase > self.phase
        return self.barrier.has_ended(self.parity)

    def why(self) -> str:
        """Return which phase of which mbarrier."""
        if self.phase is not None:
            return f"for the end of phase {self.phase} of {self.barrier.name}"
        return f"for the phase of parity {self.parity} of {self.barrier.name}"


@dataclass(slots=True)
class NamedBarrierWait:
    """A warp blocked in `bar.sync id`; its program counter is already past the instruction."""

    named: NamedBarrier
    generation: int
    cta: Cta
    mergeable: bool = False

    def ready(self) -> bool:
        """Return whether all expected threads have arrived."""
        return self.named.generation > self.generation

    def why(self) -> str:
        """Return which threads have arrived, of how many."""
        b = self.named
        arrivals = ", ".join(b.arrivals)
        return (
            f"in barrier {b.number} of {self.cta.name}: {b.arrived} of {b.expected} threads came "
            f"({arrivals})"
        )


@dataclass(slots=True)
class ClusterBarrierWait:
    """A warp blocked in `barrier.cluster.wait`."""

    cluster: ClusterBarrier
    generation: int
    mergeable: bool = False

    def ready(self) -> bool:
        """Return whether all threads of the cluster have arrived."""
        return self.cluster.generation > self.generation

    def why(self) -> str:
        """Return how many threads have arrived."""
        b = self.cluster
        return (
            f"in the barrier of the cluster: {b.arrived + b.exited} of {b.threads} threads arrived"
        )


@dataclass(slots=True)
class RegisterBudgetWait:
    """A warp blocked in `setmaxnreg.inc` until other warps have released enough registers."""

    cta: Cta
    needed: int
    mergeable: bool = False

    def ready(self) -> bool:
        """Return whether the pool has enough registers."""
        return self.cta.register_pool >= self.needed

    def why(self) -> str:
        """Return how many registers are wanted and free."""
        return (
            f"for {self.needed} registers; {self.cta.register_pool} are free of those that the "
            "block began with"
        )


@dataclass(slots=True)
class SpinWait:
    """In a loop whose iteration changed no register: until something that it may poll changes."""

    cluster: Cluster
    changes: tuple[int, int, int]
    mergeable: bool = True

    def ready(self) -> bool:
        """Return whether memory or a barrier has changed."""
        return self.cluster.changes != self.changes

    def why(self) -> str:
        """Return that the group polls memory."""
        return "in a loop, polling memory that nothing changes"


@dataclass(slots=True)
class TmemAllocationWait:
    """A warp blocked in `tcgen05.alloc` until enough columns are free."""

    ctas: list[Cta]
    columns: int
    mergeable: bool = False

    def ready(self) -> bool:
        """Return whether every CTA of the allocation has enough free columns."""
        return all((cta.tensor.owners == 0).sum() >= self.columns for cta in self.ctas)

    def why(self) -> str:
        """Return how many columns are wanted."""
        return f"for {self.columns} columns of tensor memory to be free"


class Absence(Enum):
    """What lanes may do that are missing at an instruction for whole warps."""

    EXITED = "exited"
    """Have exited, at any time: instructions with a member mask wait for non-exited lanes only."""
    EXITED_BEFORE = "exited before"
    """Have exited before the others came (`bar.sync`, `.aligned`): lanes that exit meanwhile have
    taken another path, which the PTX ISA leaves undefined."""
    NONE = "none"
    """Nothing: all 32 lanes hold parts of the operands (`mma`, `ldmatrix`)."""


def reconverge(
    f: ConvergenceGroup, what: str, member: int = FULL_WARP, absence: Absence = Absence.EXITED
) -> bool:
    """Reconverge the member lanes of each warp; return False where the group has to wait.

    Complete warps go on; the lanes of the others are split off as a group that waits.
    """
    warpgroup = f.warpgroup
    if f.mask == warpgroup.full and member == FULL_WARP:
        if absence is Absence.NONE and f.mask.bit_count() % WARP:
            _report_absence(f, what, absence)
        return True
    live = warpgroup.live()
    complete = 0
    for warp in warps_of(f.mask):
        part = FULL_WARP << WARP * warp
        wanted = member << WARP * warp & live
        if f.mask & part & ~wanted:
            raise Fault(
                "invalid",
                f"{what}: an executing lane of warp {warpgroup.first_warp + warp} is not in the "
                f"member mask {member:#x}",
            )
        if not wanted & ~f.mask:
            complete |= f.mask & part
    if not _split_incomplete(f, complete, what, member):
        f.awaited |= live & ~f.mask & _member_lanes(f.mask, member)
        return False
    if absence is not Absence.EXITED:
        _report_absence(f, what, absence)
    f.awaited = 0
    return True


def _report_absence(f: ConvergenceGroup, what: str, absence: Absence) -> None:
    """Report lanes of the executing warps that should take part, but have exited."""
    checker = f.warpgroup.cta.cluster.checker
    missing = _member_lanes(f.mask, FULL_WARP) & ~f.mask
    if absence is Absence.EXITED_BEFORE:
        missing &= f.awaited
    if checker is None or not missing:
        return
    checker.findings.add(
        "diverged",
        f.pc,
        f"{_lanes_of(f.warpgroup, missing)} exited, and took no part in {what}",
        ["hint: all lanes of a warp have to come to it, with a predicate on what they do there"],
        severity=None if absence is Absence.NONE else Severity.ISA,
    )


def _lanes_of(warpgroup: Warpgroup, lanes: int) -> str:
    return ", ".join(
        f"lanes {lanes >> WARP * w & FULL_WARP:#x} of warp {warpgroup.first_warp + w}"
        for w in warps_of(lanes)
    )


def _split_incomplete(f: ConvergenceGroup, complete: int, what: str, member: int) -> bool:
    warpgroup = f.warpgroup
    if not complete:
        f.wait = ReconvergenceWait(f, _member_lanes(f.mask, member), what)
        return False
    rest = f.mask & ~complete
    if rest:
        left = f.part(rest, f.pc)
        left.wait = ReconvergenceWait(left, _member_lanes(rest, member), what)
        left.awaited = f.awaited | warpgroup.live() & ~rest & left.wait.wanted
        warpgroup.convergence_groups.append(left)
        f.mask = complete
    return True


def _member_lanes(mask: int, member: int) -> int:
    wanted = 0
    for warp in warps_of(mask):
        wanted |= member << WARP * warp
    return wanted


def reconverge_warpgroup(f: ConvergenceGroup, what: str) -> bool:
    """Reconverge all four warps of the warpgroup; return False where the group has to wait."""
    warpgroup: Warpgroup = f.warpgroup
    if warpgroup.warps < 4 or warpgroup.full.bit_count() < 128:
        raise Fault("diverged", f"{what} needs the four warps of a warpgroup")
    if f.mask == warpgroup.full:
        return True
    if warpgroup.live() != warpgroup.full:
        raise Fault("diverged", f"{what}: lanes of the warpgroup have ended already")
    f.wait = ReconvergenceWait(f, warpgroup.full, what)
    return False
