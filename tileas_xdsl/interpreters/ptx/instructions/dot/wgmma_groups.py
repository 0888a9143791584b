"""Groups of wgmma: fence, commit and wait, and accumulators that are read before their wait."""

from __future__ import annotations

from collections.abc import Callable

from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.execution.waits import reconverge_warpgroup
from tileas_xdsl.interpreters.ptx.instructions.base import STOP, Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.matrix.wgmma_accumulators import (
    PendingMma,
    WgmmaState,
    state_of,
)


def unwaited_reporter(f: ConvergenceGroup) -> Callable[[ConvergenceGroup], None]:
    """Return a callback that reports a read of D before `wgmma.wait_group`."""
    checker = f.warpgroup.cta.cluster.checker

    def report(group: ConvergenceGroup) -> None:
        if checker is not None:
            checker.findings.add(
                "wgmma-wait",
                group.pc,
                "an accumulator of wgmma is read before wgmma.wait_group has waited for it",
                ["hint: wgmma.wait_group.sync.aligned 0 before registers of D are used"],
            )

    return report


def build_fence(site: Site) -> Step:
    """`wgmma.fence`."""
    site.ignore(("sync", "aligned"))
    site.no_more()
    site.count(0)

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge_warpgroup(f, "wgmma.fence"):
            return STOP
        state_of(f.warpgroup).fenced = True
        return None

    return step


def build_commit(site: Site) -> Step:
    """`wgmma.commit_group`."""
    site.ignore(("sync", "aligned"))
    site.no_more()
    site.count(0)

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge_warpgroup(f, "wgmma.commit_group"):
            return STOP
        state = state_of(f.warpgroup)
        state.groups.append(state.open)
        state.open = []
        if f.warpgroup.cta.cluster.queue.order == "eager":
            state.compute_all()
        return None

    return step


def build_wait(site: Site) -> Step:
    """`wgmma.wait_group`: wait until at most the newest N groups are pending."""
    site.ignore(("sync", "aligned"))
    site.no_more()
    site.count(1)
    newest = site.immediate(0)

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge_warpgroup(f, "wgmma.wait_group"):
            return STOP
        state = state_of(f.warpgroup)
        done = state.groups[: max(len(state.groups) - newest, 0)]
        state.groups = state.groups[len(done) :]
        for group in done:
            _finish(f, state, group)
        return None

    return step


def _finish(f: ConvergenceGroup, state: WgmmaState, group: list[PendingMma]) -> None:
    checker = f.warpgroup.cta.cluster.checker
    for item in group:
        state.force(item)
        item.accumulator.pending -= 1
        for slot in item.operands:
            if state.reading.get(slot) is item:
                del state.reading[slot]
    if checker is not None and group:
        started = group[-1].started
        assert started is not None
        agents = f.warpgroup.agents
        checker.clocks.join_own(agents[0], started.done(), agents[-1])


TABLE = (
    Semantics("wgmma.fence", build_fence, waits=True),
    Semantics("wgmma.commit_group", build_commit, waits=True),
    Semantics("wgmma.wait_group", build_wait, waits=True),
)
