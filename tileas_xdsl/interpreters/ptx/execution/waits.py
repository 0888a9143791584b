"""Why fragments wait, and how lanes come together where an instruction wants them to."""

from __future__ import annotations

from dataclasses import dataclass

from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import FULL_WARP, WARP, warps_of
from tileas_xdsl.interpreters.ptx.execution.state import Cluster, Cta, Fragment, Gang
from tileas_xdsl.interpreters.ptx.synchronization.hardware_barriers import (
    ClusterBarrier,
    NamedBarrier,
)
from tileas_xdsl.interpreters.ptx.synchronization.mbarrier import MBarrier


@dataclass(slots=True)
class Together:
    """Before an instruction that all of some lanes execute together; merging ends it."""

    fragment: Fragment
    wanted: int
    what: str
    mergeable: bool = True

    def ready(self) -> bool:
        """Whether the lanes are here, or have ended."""
        mask = self.fragment.mask
        return not self.wanted & self.fragment.gang.live() & ~mask

    def why(self) -> str:
        """Which lanes are missing."""
        gang = self.fragment.gang
        missing = self.wanted & gang.live() & ~self.fragment.mask
        shown = ", ".join(
            f"lanes {missing >> WARP * w & FULL_WARP:#x} of warp {gang.first_warp + w}"
            for w in warps_of(missing)
        )
        return f"for {shown} to come to {self.what}"


@dataclass(slots=True)
class PhaseWait:
    """At a wait for a phase of an mbarrier: of a parity, or one counted."""

    barrier: MBarrier
    parity: int
    phase: int | None = None
    mergeable: bool = False

    def ready(self) -> bool:
        """Whether the phase has ended."""
        if self.phase is not None:
            return self.barrier.phase > self.phase
        return self.barrier.has_ended(self.parity)

    def why(self) -> str:
        """Which phase of which barrier."""
        if self.phase is not None:
            return f"for the end of phase {self.phase} of {self.barrier.name}"
        return f"for the phase of parity {self.parity} of {self.barrier.name}"


@dataclass(slots=True)
class NamedWait:
    """In a named barrier; the fragment stands behind it already."""

    named: NamedBarrier
    generation: int
    cta: Cta
    mergeable: bool = False

    def ready(self) -> bool:
        """Whether it filled."""
        return self.named.generation > self.generation

    def why(self) -> str:
        """What is missing."""
        b = self.named
        came = ", ".join(b.came)
        return (
            f"in barrier {b.number} of {self.cta.name}: {b.arrived} of {b.expected} threads came "
            f"({came})"
        )


@dataclass(slots=True)
class ClusterWait:
    """In `barrier.cluster.wait`."""

    cluster: ClusterBarrier
    generation: int
    mergeable: bool = False

    def ready(self) -> bool:
        """Whether all have arrived."""
        return self.cluster.generation > self.generation

    def why(self) -> str:
        """What is missing."""
        b = self.cluster
        return (
            f"in the barrier of the cluster: {b.arrived + b.exited} of {b.threads} threads arrived"
        )


@dataclass(slots=True)
class RegisterWait:
    """In `setmaxnreg.inc`, until other warps of the block have given registers away."""

    cta: Cta
    needed: int
    mergeable: bool = False

    def ready(self) -> bool:
        """Whether there are enough."""
        return self.cta.register_pool >= self.needed

    def why(self) -> str:
        """How many are missing."""
        return (
            f"for {self.needed} registers; {self.cta.register_pool} are free of those that the "
            "block began with"
        )


@dataclass(slots=True)
class Spin:
    """In a loop that changes nothing: until something happens that it may look at."""

    cluster: Cluster
    changes: tuple[int, int, int]
    mergeable: bool = True

    def ready(self) -> bool:
        """Whether memory or a barrier has changed."""
        return self.cluster.changes != self.changes

    def why(self) -> str:
        """It only looks again."""
        return "in a loop, looking at memory that nobody changes"


@dataclass(slots=True)
class AllocationWait:
    """In `tcgen05.alloc`, until columns are free."""

    ctas: list[Cta]
    columns: int
    mergeable: bool = False

    def ready(self) -> bool:
        """Whether there are enough free columns somewhere."""
        return all((cta.tensor.owners == 0).sum() >= self.columns for cta in self.ctas)

    def why(self) -> str:
        """How many it wants."""
        return f"for {self.columns} columns of tensor memory to be free"


def together(f: Fragment, what: str, member: int = FULL_WARP) -> bool:
    """Bring the member lanes of each warp together; False where the fragment has to wait.

    Warps of the fragment that are complete go on; lanes of others stay behind as a fragment of
    their own.
    """
    gang = f.gang
    if f.mask == gang.full and member == FULL_WARP:
        return True
    live = gang.live()
    complete = 0
    for warp in warps_of(f.mask):
        part = FULL_WARP << WARP * warp
        wanted = member << WARP * warp & live
        if f.mask & part & ~wanted:
            raise Fault(
                "invalid", f"{what}: an executing lane of warp {gang.first_warp + warp} is not in "
                f"the member mask {member:#x}"
            )  # fmt: skip
        if not wanted & ~f.mask:
            complete |= f.mask & part
    return _go_on(f, complete, what, member)


def _go_on(f: Fragment, complete: int, what: str, member: int) -> bool:
    gang = f.gang
    if not complete:
        f.block = Together(f, _members(f.mask, member), what)
        return False
    rest = f.mask & ~complete
    if rest:
        left = Fragment(gang, rest, f.pc, f.r.copy())
        left.block = Together(left, _members(rest, member), what)
        gang.fragments.append(left)
        f.mask = complete
    return True


def _members(mask: int, member: int) -> int:
    wanted = 0
    for warp in warps_of(mask):
        wanted |= member << WARP * warp
    return wanted


def whole_warpgroup(f: Fragment, what: str) -> bool:
    """Bring the warpgroup together; False where the fragment has to wait."""
    gang: Gang = f.gang
    if gang.warps < 4 or gang.full.bit_count() < 128:
        raise Fault("diverged", f"{what} needs the four warps of a warpgroup")
    if f.mask == gang.full:
        return True
    if gang.live() != gang.full:
        raise Fault("diverged", f"{what}: lanes of the warpgroup have ended already")
    f.block = Together(f, gang.full, what)
    return False
