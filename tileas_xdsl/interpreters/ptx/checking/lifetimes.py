"""The life of shared memory: what reaches that of another CTA, or is under way when a CTA ends.

The shared memory of a CTA exists from its first instruction to its last one, so that accesses by
others have to come after something it did, and before something it waits for:

    CTA 0: barrier.cluster           st.shared::cluster [of CTA 1]          barrier.cluster
    CTA 1: barrier.cluster (lives)                                          barrier.cluster, ret
"""

from __future__ import annotations

import numpy as np

from tileas_xdsl.interpreters.ptx.checking.reports.conflicts import CheckedCta
from tileas_xdsl.interpreters.ptx.checking.reports.findings import Findings
from tileas_xdsl.interpreters.ptx.checking.shadow_memory import ShadowMemory
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import TICK, Clocks
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array


def check_started(cta: CheckedCta, agent: int, at: int, clocks: Clocks, findings: Findings) -> None:
    """Report a warp that reaches the shared memory of a CTA which nothing says has started."""
    first = cta.rank * cta.warp_count
    if int(clocks.ordered[agent, first : first + cta.warp_count].max()) > TICK:
        return
    findings.add(
        "access-before-start",
        at,
        f"{cta.cluster.warp_name(agent)} reaches into the shared memory of {cta.name}, which may "
        "not have started",
        ["hint: barrier.cluster.arrive and barrier.cluster.wait at the beginning of the kernel"],
    )


def check_ended(cta: CheckedCta, shadow: ShadowMemory, clocks: Clocks, findings: Findings) -> None:
    """Report accesses to the shared memory of a CTA that ends which may come after it."""
    first = cta.rank * cta.warp_count
    ordered = clocks.ordered[first : first + cta.warp_count].max(0)
    for agent, clock in cta.remote_access.items():
        if ordered[agent] < clock:
            name = cta.cluster.warp_name(agent)
            findings.add(
                "exit-race",
                None,
                f"{cta.name} may end before {name} last reaches into its shared memory",
                ["hint: end the kernel with barrier.cluster.arrive and barrier.cluster.wait"],
            )
            return
    _check_copies(cta, shadow, ordered, clocks, findings)


def _check_copies(
    cta: CheckedCta, shadow: ShadowMemory, ordered: Array, clocks: Clocks, findings: Findings
) -> None:
    """Report asynchronous operations on the shared memory of a CTA that its threads do not know
    to be over."""
    agents = np.arange(clocks.agents + 1)
    late = shadow.unordered(ordered, clocks.are_copies(agents), clocks.are_signalled(agents))
    if late is None:
        return
    agent, stamp, is_write = late
    warp, prefix = clocks.describe(agent)
    findings.add(
        "exit-race",
        stamp % TICK,
        f"{cta.name} may end while {prefix}{cta.cluster.warp_name(warp)} still "
        f"{'writes' if is_write else 'reads'} its shared memory",
        ["hint: a thread has to wait for the mbarrier that the copy tells"],
    )
