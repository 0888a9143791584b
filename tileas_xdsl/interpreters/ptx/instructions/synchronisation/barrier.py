"""Barriers of CTAs and clusters, and fences.  Source: PTX ISA 9.7.13.1 to 9.7.13.4."""

from __future__ import annotations

from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import predicate_mask, warps_of
from tileas_xdsl.interpreters.ptx.execution.state import Cluster, ConvergenceGroup, Cta
from tileas_xdsl.interpreters.ptx.execution.waits import (
    Absence,
    ClusterBarrierWait,
    NamedBarrierWait,
    RegisterBudgetWait,
    reconverge,
    reconverge_warpgroup,
)
from tileas_xdsl.interpreters.ptx.instructions.base import (
    STOP,
    Semantics,
    Site,
    Step,
    build_no_operation,
)
from tileas_xdsl.interpreters.ptx.instructions.memory.tensor_maps import build_tensormap_fence
from tileas_xdsl.interpreters.ptx.memory.memory_order import SCOPES, order_of_fence
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES
from tileas_xdsl.interpreters.ptx.synchronization.hardware_barriers import (
    NAMED_BARRIERS,
    ClusterBarrier,
    NamedBarrier,
)
from tileas_xdsl.layout.units import WARP

U32 = TYPES["u32"]


def build_bar(site: Site) -> Step:
    """`bar` and `barrier{.cta}`: sync, arrive and red."""
    site.flag("cta")
    action = site.choose(("sync", "arrive", "red"))
    site.flag("aligned")
    if action == "red":
        return _build_reduction(site)
    site.no_more()
    site.count(1 if action == "sync" else 2, 2)
    number = site.source(0, U32)
    threads = site.source(1, U32) if len(site.operands) == 2 else None
    waits = action == "sync"
    what = f"{site.name}.{action}"

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, what, absence=Absence.EXITED_BEFORE):
            return STOP
        barrier = _named(f, f.value(number))
        expected = f.value(threads) if threads is not None else f.warpgroup.cta.threads
        return _arrive(f, barrier, expected, waits=waits)

    return step


def _build_reduction(site: Site) -> Step:
    """`barrier.red`: a barrier that counts or combines a predicate of all threads."""
    mode = site.choose(("popc", "and", "or"))
    result = site.type(("u32",) if mode == "popc" else ("pred",))
    site.no_more()
    site.count(3, 4)
    dest = site.destination(0, result)
    number = site.source(1, U32)
    threads = site.source(2, U32) if len(site.operands) == 4 else None
    p, inverted = site.predicate(len(site.operands) - 1)

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge(f, "barrier.red", absence=Absence.EXITED_BEFORE):
            return STOP
        barrier = _named(f, f.value(number))
        yes = predicate_mask(f.r[p], f.mask)
        if inverted:
            yes ^= f.mask
        barrier.votes.append((f.mask.bit_count(), yes.bit_count()))
        expected = f.value(threads) if threads is not None else f.warpgroup.cta.threads
        stopped = _arrive(f, barrier, expected, waits=True)
        if stopped is None:
            f.r[dest] = _reduced(barrier, mode)
        else:
            f.wait = _ReductionWait(f, dest, barrier, mode)
        return stopped

    return step


class _ReductionWait(NamedBarrierWait):
    """A wait on a reducing barrier, which delivers the result on completion."""

    def __init__(self, f: ConvergenceGroup, dest: int, barrier: NamedBarrier, mode: str) -> None:
        super().__init__(barrier, barrier.generation, f.warpgroup.cta)
        self.group, self.dest, self.mode = f, dest, mode

    def ready(self) -> bool:
        """Return whether the barrier has completed, and write the result to its register if so."""
        if not super().ready():
            return False
        self.group.r[self.dest] = _reduced(self.named, self.mode)
        return True


def _reduced(barrier: NamedBarrier, mode: str) -> int | bool:
    threads, yes = barrier.result
    if mode == "popc":
        return yes
    return yes == threads if mode == "and" else yes > 0


def _named(f: ConvergenceGroup, number: int) -> NamedBarrier:
    if not 0 <= number < NAMED_BARRIERS:
        raise Fault("named-barrier", f"barrier {number} is not in 0..{NAMED_BARRIERS - 1}")
    return f.warpgroup.cta.named.setdefault(number, NamedBarrier(number))


def _arrive(
    f: ConvergenceGroup, barrier: NamedBarrier, expected: int, *, waits: bool
) -> int | None:
    warpgroup, cluster = f.warpgroup, f.warpgroup.cta.cluster
    warps = warps_of(f.mask)
    _check_counts(f, barrier, expected)
    barrier.expected = expected
    barrier.arrived += WARP * len(warps)
    first = warpgroup.first_warp
    barrier.arrivals.append(f"warps {', '.join(str(first + w) for w in warps)}")
    cluster.events += 1
    checker = cluster.checker
    agents = [warpgroup.agents[w] for w in warps]
    if checker is not None:
        _check_generations(f, barrier, agents)
        barrier.join(checker.release(warpgroup, warps))
    if waits:
        barrier.waiting += agents
    if barrier.arrived < expected:
        if not waits:
            return None
        f.wait = NamedBarrierWait(barrier, barrier.generation, warpgroup.cta)
        f.pc += 1
        return STOP
    if checker is not None and barrier.snapshot is not None:
        for agent in barrier.waiting:
            checker.clocks.acquire(agent, barrier.snapshot)
    barrier.reset()
    return None


def _check_generations(f: ConvergenceGroup, barrier: NamedBarrier, agents: list[int]) -> None:
    """Report warps that arrive without being ordered after the barrier's previous generation."""
    cluster = f.warpgroup.cta.cluster
    checker = cluster.checker
    assert checker is not None
    seen = checker.clocks.ordered
    for agent in agents:
        early = [w for w, clock in barrier.before.items() if seen[agent, w] < clock]
        if early:
            checker.findings.add(
                "named-barrier",
                f.pc,
                f"{cluster.warp_name(agent)} comes to barrier {barrier.number} without knowing "
                "that its last use is over: it could have been counted there",
                [
                    f"{cluster.warp_name(early[0])} took part in the last use",
                    "hint: groups of warps that are not ordered need barriers of their own",
                ],
            )
        barrier.now[agent] = int(seen[agent, agent])


def _check_counts(f: ConvergenceGroup, barrier: NamedBarrier, expected: int) -> None:
    cta = f.warpgroup.cta
    whole = (cta.threads + WARP - 1) // WARP * WARP
    if expected % WARP and expected != cta.threads:
        raise Fault(
            "named-barrier", f"barrier {barrier.number}: {expected} threads are no whole warps"
        )
    if not 0 < expected <= whole:
        raise Fault(
            "named-barrier",
            f"barrier {barrier.number} expects {expected} threads; the block has {cta.threads}",
        )
    checker = cta.cluster.checker
    if checker is not None and barrier.arrived and barrier.expected != expected:
        checker.findings.add(
            "named-barrier",
            f.pc,
            f"barrier {barrier.number} is joined with {expected} threads; others joined it with "
            f"{barrier.expected}",
            [f"came before: {', '.join(barrier.arrivals)}"],
        )
    if checker is not None and barrier.arrived + f.mask.bit_count() > expected:
        checker.findings.add(
            "named-barrier",
            f.pc,
            f"more threads come to barrier {barrier.number} than the {expected} it expects",
            [
                *([f"came before: {', '.join(barrier.arrivals)}"] if barrier.arrivals else ()),
                "hint: the count covers all warps that come to the barrier, or the rest takes "
                "another one",
            ],
        )


# Clusters


def build_cluster(site: Site) -> Step:
    """`barrier.cluster.arrive` and `.wait`."""
    action = site.choose(("arrive", "wait"))
    relaxed = site.flag("relaxed")
    site.ignore(("release", "acquire", "aligned"))
    site.no_more()
    site.count(0)
    return _cluster_wait if action == "wait" else lambda f: _cluster_arrive(f, relaxed=relaxed)


def _cluster_arrive(f: ConvergenceGroup, *, relaxed: bool) -> int | None:
    warpgroup, cluster = f.warpgroup, f.warpgroup.cta.cluster
    if not reconverge(f, "barrier.cluster.arrive"):
        return STOP
    barrier, warps = cluster.barrier, warps_of(f.mask)
    barrier.arrived += f.mask.bit_count()
    cluster.events += 1
    for warp in warps:
        agent = warpgroup.agents[warp]
        if cluster.checker is not None:
            _release_to_cluster(cluster, barrier, agent, relaxed=relaxed)
        if agent in barrier.arrivals:
            raise Fault(
                "named-barrier",
                "barrier.cluster.arrive is executed twice without barrier.cluster.wait",
            )
        barrier.arrivals[agent] = barrier.generation
    barrier.try_complete_phase()
    return None


def _release_to_cluster(
    cluster: Cluster, barrier: ClusterBarrier, agent: int, *, relaxed: bool
) -> None:
    """Join what an arrival releases: with `.relaxed` only what fences have released before it."""
    assert cluster.checker is not None
    clocks = cluster.checker.clocks
    barrier.clocks[agent] = int(clocks.ordered[agent, agent])
    released = clocks.release(agent)
    if not relaxed:
        barrier.join(released)
        return
    if cluster.races is not None:
        barrier.join(cluster.races.patterns.fenced(agent, SCOPES["cluster"]))
    for cta in cluster.ctas:
        for made in cta.mbarriers.values():
            if made.fenced and made.initialised_by and made.initialised_by[0] == agent:
                made.published = barrier.generation


def _cluster_wait(f: ConvergenceGroup) -> int | None:
    warpgroup, cluster = f.warpgroup, f.warpgroup.cta.cluster
    if not reconverge(f, "barrier.cluster.wait"):
        return STOP
    barrier, warps = cluster.barrier, warps_of(f.mask)
    agents = [warpgroup.agents[w] for w in warps]
    missing = [a for a in agents if a not in barrier.arrivals]
    if missing:
        raise Fault(
            "named-barrier",
            f"{cluster.warp_name(missing[0])} waits for the cluster without having arrived",
        )
    generation = barrier.arrivals[agents[0]]
    if barrier.generation <= generation:
        f.wait = ClusterBarrierWait(barrier, generation)
        return STOP
    if cluster.checker is not None:
        cluster.checker.acquire(warpgroup, warps, barrier.ended)
        _forget_remote_accesses(warpgroup.cta, barrier)
    for agent in agents:
        barrier.passed[agent] = barrier.arrivals.pop(agent)
    return None


def _forget_remote_accesses(cta: Cta, barrier: ClusterBarrier) -> None:
    """Forget accesses to a CTA by threads that have arrived since: it may end."""
    over = [a for a, clock in cta.remote_access.items() if clock <= barrier.ended_clocks.get(a, 0)]
    for agent in over:
        del cta.remote_access[agent]


# Fences


def build_fence(site: Site) -> Step:
    """`fence` and `membar`."""
    if site.flag("mbarrier_init"):
        site.ignore(("release", "cluster"))
        site.no_more()
        return _fence_init
    if site.flag("proxy"):
        return _build_proxy_fence(site)
    order = order_of_fence(site.modifiers)
    site.modifiers = []

    def step(f: ConvergenceGroup) -> None:
        races = f.warpgroup.cta.cluster.races
        if races is None:
            return
        for warp in warps_of(f.mask):
            races.patterns.fence(f.warpgroup.agents[warp], order, f.pc)

    return step


def _build_proxy_fence(site: Site) -> Step:
    names = ("async", "async::generic", "alias", "tensormap::generic")
    kind = site.choose(names)
    if kind == "tensormap::generic":
        return build_tensormap_fence(site)
    is_release = kind == "async::generic" and site.flag("release")
    if kind != "async":
        site.modifiers = []
    if kind != "async" and not is_release:
        return build_no_operation(site)
    site.ignore(("global", "shared::cta", "shared::cluster", "shared"))
    site.no_more()
    site.count(0)

    def step(f: ConvergenceGroup) -> None:
        checker = f.warpgroup.cta.cluster.checker
        if checker is None:
            return
        for warp in warps_of(f.mask):
            checker.clocks.fence_proxy(f.warpgroup.agents[warp])
        _fence_init(f)

    return step


def _fence_init(f: ConvergenceGroup) -> None:
    """Make mbarriers that these warps initialised visible to the cluster."""
    for barrier in f.warpgroup.cta.mbarriers.values():
        barrier.fenced = True


def build_setmaxnreg(site: Site) -> Step:
    """`setmaxnreg`: release registers of a warpgroup to the pool, or acquire some from it."""
    increase = site.choose(("inc", "dec")) == "inc"
    site.ignore(("sync", "aligned"))
    site.type(("u32",))
    site.no_more()
    site.count(1)
    wanted = site.immediate(0)
    if not 24 <= wanted <= 256 or wanted % 8:
        site.fail(f"{wanted} registers are no multiple of 8 in 24..256")
    return _set_registers(increase, wanted)


def _set_registers(increase: bool, wanted: int) -> Step:
    def step(f: ConvergenceGroup) -> int | None:
        warpgroup = f.warpgroup
        if not reconverge_warpgroup(f, "setmaxnreg"):
            return STOP
        states = [warpgroup.warp_states[w] for w in warps_of(f.mask)]
        has = states[0].registers
        if (wanted < has) if increase else (wanted > has):
            raise Fault(
                "registers",
                f"setmaxnreg.{'inc' if increase else 'dec'} to {wanted}: the warp has {has} "
                "registers a thread",
            )
        needed = (wanted - has) * WARP * len(states)
        if needed > warpgroup.cta.register_pool:
            f.wait = RegisterBudgetWait(warpgroup.cta, needed)
            return STOP
        warpgroup.cta.register_pool -= needed
        warpgroup.cta.cluster.events += 1
        for state in states:
            state.registers = wanted
        return None

    return step


TABLE = (
    Semantics("bar", build_bar, waits=True),
    Semantics("barrier", build_bar, waits=True),
    Semantics("barrier.cluster", build_cluster, waits=True),
    Semantics("fence", build_fence),
    Semantics("membar", build_fence),
    Semantics("setmaxnreg", build_setmaxnreg, waits=True),
)
