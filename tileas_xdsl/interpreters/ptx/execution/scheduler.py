"""The scheduler of clusters, convergence groups and asynchronous operations.

Deterministic for a seed.  In every sweep each warpgroup runs its convergence group with the lowest
program counter (so that divergent lanes catch up and reconverge) until it blocks, reaches the next
group, or has taken `JUMPS_PER_TURN` backward jumps.  Asynchronous operations complete between
turns, at once (`eager`), at last (`lazy`) or at random.  When nothing is runnable, an operation in
flight is completed, or who sleeps (`drift`) is woken; then waits with a time limit time out once;
then it is a deadlock.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from math import inf
from typing import TypeAlias

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.checking.reports.diagnosis import (
    describe_warps,
    diagnose_deadlock,
    diagnose_endless_run,
)
from tileas_xdsl.interpreters.ptx.checking.reports.findings import Findings
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.drift import Drift
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Value
from tileas_xdsl.interpreters.ptx.execution.reconvergence import merge
from tileas_xdsl.interpreters.ptx.execution.spin_detection import LivelockDetector, same_registers
from tileas_xdsl.interpreters.ptx.execution.state import (
    Cluster,
    ConvergenceGroup,
    Cta,
    Frame,
    Warpgroup,
)
from tileas_xdsl.interpreters.ptx.execution.waits import PhaseWait, ReconvergenceWait, SpinWait
from tileas_xdsl.interpreters.ptx.instructions.base import Step

JUMPS_PER_TURN = 16
"""Backward jumps of a group before others get their turn."""

RESIDENTS = 4
"""Clusters that run at a time under the random order."""

SWEEPS_PER_TURN = 16
INSTRUCTIONS_PER_TURN = (8, 64, 4096)
"""Under the random order, bounds of the sweeps of a cluster and the instructions of a group until
others run."""

Snapshot: TypeAlias = "tuple[int, Frame | None, list[Value]]"
"""Of a group at a backward jump: the target, its recursive calls, its registers."""

SPIN_CHECK_AFTER = 14
"""Backward jumps of a turn after which the registers of two iterations are compared."""


@dataclass(eq=False)
class ClusterScheduler:
    """Runs clusters to their end; another one is started only where the running ones may wait for
    it."""

    steps: list[Step]
    findings: Findings
    make: Callable[[int], Cluster]
    """Makes the cluster with a linear index."""
    instructions: int = 0
    limit: float = inf
    rng: random.Random | None = None
    """Decides which clusters run and for how long; None runs one to its end."""
    _detectors: dict[Cluster, LivelockDetector] = field(
        default_factory=dict[Cluster, LivelockDetector]
    )
    _drifts: dict[Cluster, Drift] = field(default_factory=dict[Cluster, Drift])
    """Under the order `drift`, what lets warps of a cluster fall behind."""
    _timed_out_at: dict[Cluster, tuple[int, int, int]] = field(
        default_factory=dict[Cluster, tuple[int, int, int]]
    )

    def run(self, numbers: Iterator[int], done: Callable[[int], None]) -> bool:
        """Run clusters by linear index; return False where a fault or a deadlock ended the run."""
        active: list[Cluster] = []
        residents = 1 if self.rng is None else RESIDENTS
        while True:
            while len(active) < residents and self._start(active, numbers):
                pass
            if not active:
                return True
            stuck = True
            if self.rng is not None:
                self.rng.shuffle(active)
            for cluster in [*active]:
                state = self._advance(cluster)
                if state == "fault":
                    return False
                if state == "over":
                    active.remove(cluster)
                    for kept in (self._detectors, self._drifts, self._timed_out_at):
                        kept.pop(cluster, None)
                    self.instructions += cluster.instructions
                    done(len(cluster.ctas))
                    cluster.retire()
                stuck = stuck and state == "stuck"
            if stuck and active and not self._start_another(active, numbers):
                return False

    def _start(self, active: list[Cluster], numbers: Iterator[int]) -> bool:
        number = next(numbers, None)
        if number is None:
            return False
        cluster = self.make(number)
        active.append(cluster)
        self._detectors[cluster] = LivelockDetector()
        if cluster.queue.order == "drift":
            self._drifts[cluster] = Drift(cluster, cluster.rng)
        return True

    def _start_another(self, active: list[Cluster], numbers: Iterator[int]) -> bool:
        """Start another cluster if a spinning group may wait for it, else report the deadlock."""
        spins = any(
            isinstance(f.wait, SpinWait)
            for c in active
            for g in c.warpgroups
            for f in g.convergence_groups
        )
        if spins and self._start(active, numbers):
            return True
        self._report_deadlock(active)
        self.instructions += sum(c.instructions for c in active)
        return False

    def _advance(self, cluster: Cluster) -> str:
        """Run a cluster until it is over, stuck or at fault, or has had its turn."""
        livelock = self._detectors[cluster]
        sweeps = inf if self.rng is None else self.rng.randrange(1, SWEEPS_PER_TURN)
        try:
            while cluster.live_warpgroups:
                if sweeps <= 0 or cluster.preempted:
                    cluster.preempted = False
                    return "running"
                sweeps -= 1
                if not self._sweep(cluster, livelock.fair) and not self._force_progress(cluster):
                    return "stuck"
                if livelock.observe(cluster):
                    _park_spinning(cluster)
                elif not livelock.changed_recently:
                    self._complete_or_wake(cluster)
                if cluster.instructions > self.limit:
                    raise _endless(cluster, self.limit)
            while cluster.queue.items:
                cluster.queue.step()
        except Fault as fault:
            self._report_fault(cluster, fault)
            self.instructions += cluster.instructions
            return "fault"
        return "over"

    def _sweep(self, cluster: Cluster, fair: bool) -> bool:
        """Give every runnable warpgroup a turn (every group, if `fair`); return whether any ran."""
        warpgroups = cluster.live_warpgroups
        queue, rng, drift = cluster.queue, cluster.rng, self._drifts.get(cluster)
        if queue.is_random:
            rng.shuffle(warpgroups)
        if drift is not None:
            drift.wake_due()
        ran = False
        for warpgroup in [*warpgroups]:
            for group in _select(warpgroup, fair, drift):
                if group not in warpgroup.convergence_groups:
                    continue
                self._turn(cluster, warpgroup, group)
                ran = True
                if queue.order == "eager":
                    while queue.items:
                        queue.step()
                elif queue.items and queue.is_random and rng.random() < 0.5:
                    queue.step()
        return ran

    def _turn(self, cluster: Cluster, warpgroup: Warpgroup, group: ConvergenceGroup) -> None:
        group.wait = None
        drift = self._drifts.get(cluster)
        if drift is not None and not drift.may_run(group):
            return
        cluster.current = group
        self._execute(cluster, group)
        cluster.current = None
        if not warpgroup.convergence_groups:
            cluster.live_warpgroups.remove(warpgroup)
            _retire_if_finished(warpgroup.cta, self.findings)
        elif len(warpgroup.convergence_groups) > 1:
            merge(warpgroup, cluster.program.widths)

    def _execute(self, cluster: Cluster, f: ConvergenceGroup) -> None:
        """Run a group until it blocks, reaches another one to merge with, or has had its turn."""
        steps = self.steps
        reconvergence_point = _reconvergence_point(f)
        last = inf
        if self.rng is not None and self._detectors[cluster].changed_recently:
            last = self.rng.randrange(1, self.rng.choice(INSTRUCTIONS_PER_TURN))
        pc, count, jumps = f.pc, 0, 0
        previous: Snapshot | None = None
        while True:
            f.pc = pc
            target = steps[pc](f)
            count += 1
            if target is None:
                pc += 1
            elif target < 0:
                break
            else:
                if target <= pc:
                    jumps += 1
                    if jumps >= SPIN_CHECK_AFTER:
                        previous = _detect_spin(cluster, f, target, previous)
                        if jumps >= JUMPS_PER_TURN or f.wait is not None:
                            f.pc = target
                            break
                pc = target
            if pc == reconvergence_point or count >= last or cluster.preempted:
                f.pc = pc
                break
        cluster.instructions += count

    def _complete_or_wake(self, cluster: Cluster) -> bool:
        """Complete an operation in flight, else wake who sleeps; return whether there was any."""
        if cluster.queue.items:
            cluster.queue.step()
            return True
        drift = self._drifts.get(cluster)
        return drift is not None and drift.wake_any()

    def _force_progress(self, cluster: Cluster) -> bool:
        """Nothing is runnable: complete an operation in flight, wake who sleeps, or let mbarrier
        waits time out once."""
        if self._complete_or_wake(cluster):
            return True
        if self._timed_out_at.get(cluster) == cluster.changes:
            return False
        self._timed_out_at[cluster] = cluster.changes
        woken = False
        for warpgroup in cluster.live_warpgroups:
            for group in warpgroup.convergence_groups:
                if isinstance(group.wait, PhaseWait):
                    group.wait = None
                    group.timed_out = woken = True
        return woken

    # Findings

    def _report_fault(self, cluster: Cluster, fault: Fault) -> None:
        at = cluster.queue.running
        notes = list(fault.notes)
        if at is None and cluster.current is not None:
            at = cluster.current.pc
            notes.insert(0, f"executed by {describe_warps(cluster.current)}")
        self.findings.add(fault.kind, at, fault.message, notes, fault.location)

    def _report_deadlock(self, clusters: Sequence[Cluster]) -> None:
        """Report that no group of the resident clusters can go on, at the first of them."""
        waiting = [
            (cluster, [f for g in cluster.live_warpgroups for f in g.convergence_groups if f.wait])
            for cluster in clusters
        ]
        waiting = [(cluster, groups) for cluster, groups in waiting if groups]
        if not waiting:
            return
        cluster, stuck = waiting[0]
        apart = [f for f in stuck if _is_divergence_deadlock(f)]
        message, notes, at = diagnose_deadlock(cluster, apart or stuck)
        if apart:
            message = "lanes that have to execute this together never come together"
        for other, groups in waiting[:RESIDENTS]:
            if other is not cluster and not apart:
                notes += diagnose_deadlock(other, groups)[1][:1]
        self.findings.add("diverged" if apart else "deadlock", at, message, notes)


def _endless(cluster: Cluster, limit: float) -> Fault:
    notes, at = diagnose_endless_run(cluster)
    location = None if at is None else cluster.program.code[at].location
    message = f"the kernel runs past {limit} instructions"
    return Fault("deadlock", message, tuple(notes), location)


def _is_divergence_deadlock(f: ConvergenceGroup) -> bool:
    """Return whether the missing lanes wait at another instruction for lanes of this group."""
    if not isinstance(f.wait, ReconvergenceWait):
        return False
    missing = f.wait.wanted & f.warpgroup.live() & ~f.mask
    others = [o for o in f.warpgroup.convergence_groups if o.mask & missing]
    return all(isinstance(o.wait, ReconvergenceWait) for o in others)


def _is_runnable(f: ConvergenceGroup) -> bool:
    if not f.mask & ~f.warpgroup.asleep:
        return False
    return f.wait is None or f.wait.ready()


def _select(warpgroup: Warpgroup, fair: bool, drift: Drift | None) -> list[ConvergenceGroup]:
    """Return the runnable group with the lowest program counter; all runnable ones if `fair`.

    Where warps drift it is the lowest one of any warp.
    """
    groups = warpgroup.convergence_groups
    if len(groups) == 1:
        return [*groups] if _is_runnable(groups[0]) else []
    able = [f for f in groups if _is_runnable(f)]
    if fair or not able:
        return able
    return [min(able, key=lambda f: f.pc) if drift is None else drift.choice(able)]


def _park_spinning(cluster: Cluster) -> None:
    """Block all runnable groups until something changes: they form a livelock."""
    for warpgroup in cluster.live_warpgroups:
        for f in warpgroup.convergence_groups:
            if _is_runnable(f):
                f.wait = SpinWait(cluster, cluster.changes)


def _reconvergence_point(f: ConvergenceGroup) -> float:
    """Return the lowest program counter ahead of `f` where another group can be merged."""
    others = f.warpgroup.convergence_groups
    if len(others) == 1:
        return inf
    ahead = [
        o.pc for o in others if o is not f and o.pc > f.pc and (o.wait is None or o.wait.mergeable)
    ]
    return min(ahead, default=inf)


def _detect_spin(
    cluster: Cluster, f: ConvergenceGroup, target: int, previous: Snapshot | None
) -> Snapshot | None:
    """Block a group whose loop iteration changed none of its registers; return the new snapshot."""
    if previous is None:
        return (target, f.frames, f.r.copy())
    location, frames, registers = previous
    if location != target:
        return previous
    if frames is f.frames and same_registers(registers, f.r):
        f.wait = SpinWait(cluster, cluster.changes)
    return (target, f.frames, f.r.copy())


def _retire_if_finished(cta: Cta, findings: Findings) -> None:
    """Retire a CTA whose last thread has exited."""
    cluster = cta.cluster
    if any(warpgroup.convergence_groups for warpgroup in cta.warpgroups):
        return
    if cluster.checker is not None:
        cluster.checker.leave(cta)
        _check_released(cta, findings)
    for operation in [
        copy.operation
        for warpgroup in cta.warpgroups
        for groups in warpgroup.bulk_groups.values()
        for group in groups
        for copy in group
    ]:
        cluster.queue.force(operation)
    cta.alive = False
    cluster.barrier.exited += cta.threads
    cluster.barrier.try_complete_phase()
    cluster.events += 1


def _check_released(cta: Cta, findings: Findings) -> None:
    """Report bulk copies that still read shared memory, and tensor memory that was not freed."""
    for warpgroup in cta.warpgroups:
        copies = [c for groups in warpgroup.bulk_groups.values() for g in groups for c in g]
        copies += [c for group in warpgroup.bulk_open.values() for c in group]
        if copies:
            findings.add(
                "exit-race",
                copies[0].operation.at,
                f"{cta.name} ends while this copy may still read its shared memory",
                ["hint: cp.async.bulk.commit_group and wait_group.read 0 by the same thread"],
            )
            break
    if cta.tensor.owners.any():
        columns = int((cta.tensor.owners != 0).sum())
        findings.add(
            "tensor-memory",
            None,
            f"{cta.name} ends without freeing {columns} columns of tensor memory",
            ["hint: tcgen05.dealloc by the warp that allocated"],
        )
