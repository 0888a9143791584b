"""Diagnoses of conflicting accesses: what was accessed, by whom, and what would order the two."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from tileas_xdsl.interpreters.ptx.checking.reports.findings import Findings, Severity
from tileas_xdsl.interpreters.ptx.checking.shadow_plane import Conflict
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import TICK, Clocks
from tileas_xdsl.interpreters.ptx.parsing.syntax import Instruction
from tileas_xdsl.interpreters.ptx.synchronization.mbarrier import MBarrier


class CheckedProgram(Protocol):
    """The kernel that runs, as diagnoses quote it."""

    @property
    def code(self) -> Sequence[Instruction]:
        """The instructions."""
        ...

    @property
    def labels(self) -> Mapping[str, int]:
        """The instruction after each label."""
        ...

    def shared_name(self, offset: int) -> str:
        """Return an offset of shared memory as a variable and an offset in it."""
        ...


class CheckedCluster(Protocol):
    """A cluster that is checked (`state.Cluster`)."""

    @property
    def program(self) -> CheckedProgram:
        """The kernel that runs."""
        ...

    def warp_name(self, agent: int) -> str:
        """Return the name of a warp of the cluster in diagnostics."""
        ...


class CheckedCta(Protocol):
    """A CTA whose accesses are checked (`state.Cta`)."""

    rank: int
    warp_count: int
    mbarriers: dict[int, MBarrier]
    remote_access: dict[int, int]

    @property
    def name(self) -> str:
        """The name in diagnostics."""
        ...

    @property
    def cluster(self) -> CheckedCluster:
        """The cluster."""
        ...


class CheckedWarps(Protocol):
    """Warps that access memory (`state.Warpgroup`)."""

    @property
    def agents(self) -> range:
        """The warps, numbered within the cluster."""
        ...

    def is_converged(self, warp: int) -> bool:
        """Return whether all lanes of a warp that have not exited execute together."""
        ...


CONFLICTS: Mapping[str, tuple[str, str, str]] = {
    "RAW": (
        "race-RAW",
        "{what} reads {where} while the write by {other} may still be under way",
        "nothing orders the write before the read: wait for the barrier that the writer signals",
    ),
    "WAW": (
        "race-WAW",
        "{what} writes {where} while the write by {other} may still be under way",
        "nothing orders the two writes",
    ),
    "WAR": (
        "race-WAR",
        "{what} overwrites {where} while {other} may still read it",
        "the reader has to signal that it is done, and the writer to wait for that",
    ),
    "lane-RAW": (
        "race-RAW",
        "{what} reads {where}, which another lane of {other} wrote, with no bar.warp.sync between",
        "lanes of a warp that exchange data need bar.warp.sync (__syncwarp) after the write",
    ),
    "lane-WAR": (
        "race-WAR",
        "{what} overwrites {where}, which another lane of {other} read, with no bar.warp.sync "
        "between",
        "lanes of a warp need bar.warp.sync (__syncwarp) between a read and the next write",
    ),
    "lane-WAW": (
        "race-WAW",
        "{what} overwrites {where}, which another lane of {other} wrote, with no bar.warp.sync "
        "between",
        "lanes of a warp need bar.warp.sync (__syncwarp) between writes of one address",
    ),
    "uninitialised": (
        "uninitialised",
        "{what} reads {where}, which nothing has written",
        "the copy that should fill it was not waited for, or goes elsewhere",
    ),
    "unfenced": (
        "missing-proxy-fence",
        "{what} accesses {where}, written through the generic proxy by {other}, with no "
        "fence.proxy.async in between",
        "the writers need fence.proxy.async before the barrier, or the issuing thread after it",
    ),
    "unfenced-read": (
        "missing-proxy-fence",
        "{what} overwrites {where}, read through the generic proxy by {other}, with no "
        "fence.proxy.async in between",
        "the readers need fence.proxy.async before they release it, or the issuing thread after it",
    ),
    "unreleased": (
        "missing-tcgen05-fence",
        "{what} reaches {where} without tcgen05.fence::before_thread_sync after {other}",
        "the thread that used tensor memory last has to fence before it synchronises",
    ),
    "unacquired": (
        "missing-tcgen05-fence",
        "{what} reaches {where} without tcgen05.fence::after_thread_sync since {other}",
        "a thread that takes over tensor memory has to fence after it synchronises",
    ),
}
"""By kind of conflict: the kind of finding, its message and its hint."""


def agent_name(cluster: CheckedCluster, clocks: Clocks, agent: int) -> str:
    """Return the name of an agent in diagnostics."""
    warp, prefix = clocks.describe(agent)
    return f"{prefix}{cluster.warp_name(warp)}"


def shared_location(cta: CheckedCta, conflict: Conflict) -> str:
    """Return a granule or byte of shared memory as a variable and an offset in it."""
    offset = conflict.location if conflict.is_byte else conflict.location * 16
    return f"{cta.cluster.program.shared_name(offset)} of {cta.name}"


def tensor_location(cta: CheckedCta, conflict: Conflict) -> str:
    """Return the lanes and the column of tensor memory of a conflict."""
    group, column = divmod(conflict.location, 512)
    return f"tensor memory of {cta.name}, lanes {16 * group}..{16 * group + 15}, column {column}"


def read_before_write(cta: CheckedCta, conflict: Conflict, at: int, findings: Findings) -> None:
    """Explain a read of unwritten memory by the thread that writes there after it: they race."""
    reader = conflict.stamp % TICK
    findings.supersede(
        "uninitialised",
        reader,
        "race-RAW",
        f"'{'.'.join(cta.cluster.program.code[reader].parts[:4])}' reads "
        f"{shared_location(cta, conflict)} before it is written",
        [
            f"it is written later at {findings.line_of(at)}",
            "hint: a barrier between the write and the read is missing, of the cluster if they are "
            "in two blocks",
        ],
    )


def report_conflict(
    cta: CheckedCta,
    conflict: Conflict,
    at: int,
    where: str,
    clocks: Clocks,
    findings: Findings,
    severity: Severity | None = None,
) -> None:
    """Add the finding of a conflict of the instruction `at`."""
    kind, message, hint = CONFLICTS[conflict.kind]
    notes: list[str] = []
    other = "nobody"
    if conflict.other != clocks.no_agent:
        other = agent_name(cta.cluster, clocks, conflict.other)
        notes.append(f"{other} was there at {findings.line_of(conflict.stamp % TICK)}")
    notes.append(f"hint: {hint}")
    parts = cta.cluster.program.code[at].parts
    opcode = ".".join(parts[:4]) + ("..." if len(parts) > 4 else "")
    text = message.format(what=f"'{opcode}'", where=where, other=other)
    findings.add(kind, at, text, notes, severity=severity)
