"""The scheduler: clusters, their gangs in turn, and what is in flight between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import inf

from tileas_xdsl.interpreters.ptx.checking.diagnosis import deadlock_story, who
from tileas_xdsl.interpreters.ptx.checking.findings import Findings
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Value
from tileas_xdsl.interpreters.ptx.execution.reconvergence import merge
from tileas_xdsl.interpreters.ptx.execution.spin_detection import Watch, same_registers
from tileas_xdsl.interpreters.ptx.execution.state import Cluster, Cta, Fragment, Gang
from tileas_xdsl.interpreters.ptx.execution.waits import PhaseWait, Spin, Together
from tileas_xdsl.interpreters.ptx.instructions.base import Step

TURN = 16
"""Backward jumps after which others have their turn."""

LOOK = 14
"""The backward jump from which on a loop is compared with its next round."""


@dataclass(eq=False)
class Machine:
    """Runs clusters to their end, one after the other while they do not wait for one another."""

    steps: list[Step]
    findings: Findings
    make: Callable[[int], Cluster]
    """The cluster of a number."""
    instructions: int = 0
    limit: float = inf
    _marks: dict[Cluster, tuple[int, int, int]] = field(
        default_factory=dict[Cluster, tuple[int, int, int]]
    )

    def run(self, numbers: Iterator[int], done: Callable[[int], None]) -> bool:
        """Run clusters by number; False where a fault or a deadlock ended the run."""
        active: list[Cluster] = []
        more = True
        while True:
            if not active:
                more = self._start(active, numbers)
                if not more:
                    return True
            stuck = True
            for cluster in [*active]:
                state = self._advance(cluster)
                if state == "fault":
                    return False
                if state == "over":
                    active.remove(cluster)
                    self.instructions += cluster.instructions
                    done(len(cluster.ctas))
                stuck = stuck and state == "stuck"
            if stuck and active and not self._help(active, numbers):
                return False

    def _start(self, active: list[Cluster], numbers: Iterator[int]) -> bool:
        number = next(numbers, None)
        if number is None:
            return False
        active.append(self.make(number))
        return True

    def _help(self, active: list[Cluster], numbers: Iterator[int]) -> bool:
        """Start another cluster if somebody may wait for it; else tell the deadlock."""
        spins = any(isinstance(f.block, Spin) for c in active for g in c.gangs for f in g.fragments)
        if spins and self._start(active, numbers):
            return True
        self._tell_deadlock(active[0])
        self.instructions += sum(c.instructions for c in active)
        return False

    def _advance(self, cluster: Cluster) -> str:
        """Run a cluster until it is over, stuck or at fault."""
        watch = Watch()
        try:
            while cluster.gangs_left:
                if not self._round(cluster, watch.fair) and not self._wake(cluster):
                    return "stuck"
                if watch.look(cluster):
                    _let_wait(cluster)
                elif cluster.queue.items and not watch.is_patient:
                    cluster.queue.step()
                if cluster.instructions > self.limit:
                    raise Fault("deadlock", f"the kernel runs past {self.limit} instructions")
            while cluster.queue.items:
                cluster.queue.step()
        except Fault as fault:
            self._tell_fault(cluster, fault)
            self.instructions += cluster.instructions
            return "fault"
        return "over"

    def _round(self, cluster: Cluster, fair: bool) -> bool:
        """A turn for each gang that can go on (each fragment, if `fair`); whether any had one."""
        gangs = cluster.gangs_left
        queue, rng = cluster.queue, cluster.rng
        if queue.order == "random":
            rng.shuffle(gangs)
        ran = False
        for gang in [*gangs]:
            for fragment in _choose(gang, fair):
                if fragment not in gang.fragments:
                    continue
                self._turn(cluster, gang, fragment)
                ran = True
                if queue.order == "eager":
                    while queue.items:
                        queue.step()
                elif queue.items and queue.order == "random" and rng.random() < 0.5:
                    queue.step()
        return ran

    def _turn(self, cluster: Cluster, gang: Gang, fragment: Fragment) -> None:
        fragment.block = None
        cluster.current = fragment
        self._execute(cluster, fragment)
        cluster.current = None
        if not gang.fragments:
            cluster.gangs_left.remove(gang)
            _leave_if_over(gang.cta, self.findings)
        elif len(gang.fragments) > 1:
            merge(gang, cluster.program.slots.widths)

    def _execute(self, cluster: Cluster, f: Fragment) -> None:
        """Run a fragment until it stops, comes to another one, or has had its turn."""
        steps = self.steps
        horizon = _horizon(f)
        pc, count, jumps = f.pc, 0, 0
        seen: tuple[int, list[Value]] | None = None
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
                    if jumps >= LOOK:
                        seen = _look(cluster, f, target, seen)
                        if jumps >= TURN or f.block is not None:
                            f.pc = target
                            break
                pc = target
            if pc == horizon:
                f.pc = pc
                break
        cluster.instructions += count

    def _wake(self, cluster: Cluster) -> bool:
        """Nobody can go on: finish something in flight, or let waits give up once."""
        if cluster.queue.items:
            cluster.queue.step()
            return True
        if self._marks.get(cluster) == cluster.changes:
            return False
        self._marks[cluster] = cluster.changes
        woken = False
        for gang in cluster.gangs_left:
            for fragment in gang.fragments:
                if isinstance(fragment.block, PhaseWait):
                    fragment.block = None
                    fragment.timed_out = woken = True
        return woken

    # Findings

    def _tell_fault(self, cluster: Cluster, fault: Fault) -> None:
        at = cluster.queue.running
        story = list(fault.story)
        if at is None and cluster.current is not None:
            at = cluster.current.pc
            story.insert(0, f"executed by {who(cluster.current)}")
        self.findings.add(fault.kind, at, fault.message, story, fault.place)

    def _tell_deadlock(self, cluster: Cluster) -> None:
        stuck = [f for g in cluster.gangs_left for f in g.fragments if f.block is not None]
        if not stuck:
            return
        apart = [f for f in stuck if _apart_for_good(f)]
        message, story, at = deadlock_story(cluster, apart or stuck)
        if apart:
            message = "lanes that have to execute this together never come together"
        self.findings.add("diverged" if apart else "deadlock", at, message, story)


def _apart_for_good(f: Fragment) -> bool:
    """Whether a fragment waits for lanes that wait for others of its warp elsewhere."""
    if not isinstance(f.block, Together):
        return False
    missing = f.block.wanted & f.gang.live() & ~f.mask
    others = [o for o in f.gang.fragments if o.mask & missing]
    return all(isinstance(o.block, Together) for o in others)


def _can_go_on(f: Fragment) -> bool:
    return f.block is None or f.block.ready()


def _choose(gang: Gang, fair: bool) -> list[Fragment]:
    """The fragment furthest behind of those that can go on; all of those if `fair`."""
    fragments = gang.fragments
    if len(fragments) == 1:
        return [*fragments] if _can_go_on(fragments[0]) else []
    able = [f for f in fragments if _can_go_on(f)]
    return able if fair or not able else [min(able, key=lambda f: f.pc)]


def _let_wait(cluster: Cluster) -> None:
    """All that could go on have gone round: they wait until something changes."""
    for gang in cluster.gangs_left:
        for f in gang.fragments:
            if _can_go_on(f):
                f.block = Spin(cluster, cluster.changes)


def _horizon(f: Fragment) -> float:
    """The instruction where the next fragment waits to be joined."""
    others = f.gang.fragments
    if len(others) == 1:
        return inf
    ahead = [
        o.pc
        for o in others
        if o is not f and o.pc > f.pc and (o.block is None or o.block.mergeable)
    ]
    return min(ahead, default=inf)


def _look(
    cluster: Cluster, f: Fragment, target: int, seen: tuple[int, list[Value]] | None
) -> tuple[int, list[Value]] | None:
    """Block a fragment whose loop came round without any change."""
    if seen is None:
        return (target, f.r.copy())
    place, registers = seen
    if place != target:
        return seen
    if same_registers(registers, f.r):
        f.block = Spin(cluster, cluster.changes)
    return (target, f.r.copy())


def _leave_if_over(cta: Cta, findings: Findings) -> None:
    """End a CTA whose last thread has ended."""
    cluster = cta.cluster
    if any(gang.fragments for gang in cta.gangs):
        return
    if cluster.checker is not None:
        cluster.checker.leave(cta)
        _check_left_behind(cta, findings)
    for operation in [
        copy.operation
        for gang in cta.gangs
        for groups in gang.bulk_groups.values()
        for group in groups
        for copy in group
    ]:
        cluster.queue.force(operation)
    cta.alive = False
    cluster.barrier.exited += cta.threads
    cluster.barrier.settle()
    cluster.events += 1


def _check_left_behind(cta: Cta, findings: Findings) -> None:
    """Copies out of shared memory that nobody waited for, and columns that nobody freed."""
    for gang in cta.gangs:
        copies = [c for groups in gang.bulk_groups.values() for g in groups for c in g]
        copies += [c for group in gang.bulk_open.values() for c in group]
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
