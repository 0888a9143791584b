"""Launches of kernels of a PTX module: arguments, sizes, execution and the report."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Sequence
from dataclasses import field
from functools import lru_cache
from math import inf, prod
from typing import Any

import numpy as np

from tileas_xdsl.collection import collected_rarely
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.executors import Workers
from tileas_xdsl.interpreters.ptx.arguments import Arguments, bind
from tileas_xdsl.interpreters.ptx.checking.checker import Checker
from tileas_xdsl.interpreters.ptx.checking.global_memory.conflicts import LaunchShadow
from tileas_xdsl.interpreters.ptx.checking.global_memory.races import ClusterRaces
from tileas_xdsl.interpreters.ptx.checking.reports.findings import Finding, Findings, FindingsError
from tileas_xdsl.interpreters.ptx.checking.shared_memory.shadow_tiles import TileOverlaps
from tileas_xdsl.interpreters.ptx.errors import LaunchError, PtxError, SourceLocation
from tileas_xdsl.interpreters.ptx.execution.counted_steps import counted_steps
from tileas_xdsl.interpreters.ptx.execution.pending_clusters import PendingClusters, first_cta
from tileas_xdsl.interpreters.ptx.execution.program import Program
from tileas_xdsl.interpreters.ptx.execution.register_slots import LaunchShape
from tileas_xdsl.interpreters.ptx.execution.scheduler import ClusterScheduler
from tileas_xdsl.interpreters.ptx.execution.state import (
    ORDERS,
    SEEDED,
    Cluster,
    ConvergenceGroup,
    Cta,
    Order,
    Warpgroup,
)
from tileas_xdsl.interpreters.ptx.launch_sizes import Shape, launch_sizes
from tileas_xdsl.interpreters.ptx.memory.access_counts import AccessCount, AccessCounter
from tileas_xdsl.interpreters.ptx.memory.device_heap import Allocation, DeviceHeap
from tileas_xdsl.interpreters.ptx.memory.global_memory import GlobalMemory
from tileas_xdsl.interpreters.ptx.memory.shared_memory import SharedMemory
from tileas_xdsl.interpreters.ptx.memory.variable_addresses import SharedName, Variables
from tileas_xdsl.interpreters.ptx.parallel_launch import execute
from tileas_xdsl.interpreters.ptx.parsing.parser import parse
from tileas_xdsl.interpreters.ptx.parsing.syntax import Integer, Kernel, PtxModule
from tileas_xdsl.interpreters.ptx.synchronization.hardware_barriers import ClusterBarrier
from tileas_xdsl.layout.integers import align_up, ceil_div
from tileas_xdsl.layout.units import WARP, WARPGROUP_WARPS
from tileas_xdsl.target.arch import Target

Progress = Callable[[int, int], None]
"""Called with the number of finished CTAs and that of all."""

REGISTERS = Target.registers_per_multiprocessor


@dataclass
class Report:
    """The result of a run: arrays afterwards (of an address table its arrays, None for scalars),
    findings, executed instructions."""

    arrays: list[Any]
    findings: list[Finding]
    instructions: int
    """Executed steps: an instruction that a warpgroup executes convergently counts once."""
    finished: bool = True
    """Whether all CTAs ran to their end."""
    printed: str = ""
    """The text that threads printed, in the order of execution."""
    accesses: Sequence[AccessCount] = ()
    """What accesses of warps cost, by instruction in program order, where it was asked for."""
    counter: AccessCounter | None = None
    """What was counted besides: instructions, bytes of bulk copies."""

    @property
    def failures(self) -> list[Finding]:
        """The findings that are more than notes."""
        return [finding for finding in self.findings if finding.severity.fails]


@lru_cache(maxsize=8)
def load(text: str, name: str = "<ptx>") -> PtxModule:
    """Parse PTX text; raise `PtxError` with the location of what is no PTX.

    A module is never changed, so that a text which runs again is not parsed again.
    """
    return parse(text, name)


_MADE_AGAIN = ("program", "findings", "shadow", "printed")
"""Of a launch, what a copy of it in another process has of its own."""


@dataclass
class Launch:
    """A kernel with its arguments in memory, ready to run."""

    module: PtxModule
    kernel: Kernel
    shape: LaunchShape
    memory: GlobalMemory
    arguments: Arguments
    program: Program
    order: Order
    seed: int
    checks: bool
    limit: float
    accesses: AccessCounter | None = None
    """Counts accesses, where somebody asks for them."""
    findings: Findings = field(init=False)
    shadow: LaunchShadow = field(init=False)
    """The accesses to global memory."""
    registers: int = field(init=False)
    """Of a thread before any `setmaxnreg`."""
    printed: list[str] = field(default_factory=list[str])

    def __post_init__(self) -> None:
        self.findings = Findings(self.module, self.kernel.code, self.kernel.location)
        self.shadow = LaunchShadow(self.findings)
        self._overlaps = TileOverlaps()
        self._heap = DeviceHeap(self.memory)
        self.registers = _registers_at_entry(self.kernel, prod(self.shape.block))

    def __getstate__(self) -> dict[str, Any]:
        """Return all but the closures of the program, which are made again."""
        kept = {**vars(self), "variables": self.program.variables, "target": self.program.target}
        return {name: value for name, value in kept.items() if name not in _MADE_AGAIN}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Make the program again, and note nothing yet."""
        variables, target = state.pop("variables"), state.pop("target")
        self.__dict__.update(state)
        self.program = Program(self.module, self.kernel, variables, target)
        self.__post_init__()
        self.printed = []

    @property
    def clusters(self) -> int:
        """The number of clusters of the grid."""
        return prod(self.shape.grid) // prod(self.shape.cluster)

    @collected_rarely()
    def execute(self, numbers: Sequence[int], progress: Progress | None = None) -> tuple[int, bool]:
        """Run clusters by linear index; return executed instructions, and whether all finished."""
        total, done = prod(self.shape.grid), 0

        def tell(ctas: int) -> None:
            nonlocal done
            done += ctas
            if progress is not None:
                progress(done, total)

        rng = random.Random(f"{self.seed}") if self.order in SEEDED else None
        if rng is not None:
            numbers = rng.sample(numbers, len(numbers))
        pending = PendingClusters(iter(numbers), self.shape.grid, self.shape.cluster, tell)
        steps = self.program.steps
        machine = ClusterScheduler(
            steps if self.accesses is None else counted_steps(steps, self.accesses),
            self.findings,
            lambda number: self.make_cluster(number, pending),
            limit=self.limit,
            rng=rng,
        )
        with np.errstate(all="ignore"):
            finished = machine.run(iter(pending), tell)
        self.shadow.finish()
        if finished:
            self._report_leaks()
        return machine.instructions, finished

    def _report_leaks(self) -> None:
        """Note leaks: memory of `malloc` that is never freed, by the call that allocated it."""
        by_call: dict[int, list[Allocation]] = {}
        for piece in self._heap.leaks():
            by_call.setdefault(piece.at, []).append(piece)
        for at, pieces in by_call.items():
            self.findings.add(
                "leak",
                at,
                f"{sum(piece.size for piece in pieces)} bytes in {len(pieces)} allocations, the "
                f"first of {pieces[0].owner}, are not freed when the kernel ends",
                ["hint: another kernel may free them; the heap is as old as the context"],
            )

    def make_cluster(self, number: int, pending: PendingClusters | None) -> Cluster:
        """Return the cluster with a linear index, at its first instruction."""
        shape = self.shape
        rng = random.Random(f"{self.seed}:{number}")
        threads = prod(shape.block)
        warps = ceil_div(threads, WARP)
        size = prod(shape.cluster)
        checker = None
        if self.checks:
            granules = SharedMemory(self.program.variables.shared_size).data.size // 16
            checker = Checker(warps * size, size, granules, self.findings, self._overlaps)
        cluster = Cluster(self.program, self.memory, self.order, rng, checker)
        cluster.printed, cluster.number = self.printed, number
        cluster.pending = pending
        cluster.accesses, cluster.heap = self.accesses, self._heap
        cluster.barrier = ClusterBarrier(threads * size)
        first = first_cta(number, shape.grid, shape.cluster)
        for rank in range(size):
            inside = _place(rank, shape.cluster)
            index = tuple(a + i for a, i in zip(first, inside, strict=True))
            cluster.ctas.append(self._make_cta(cluster, rank, (index[0], index[1], index[2])))
        if checker is not None:
            cluster.races = ClusterRaces(self.shadow, cluster, warps, checker.clocks)
        for warpgroup in cluster.warpgroups:
            registers = self.program.slots.fill(warpgroup, shape)
            warpgroup.convergence_groups.append(
                ConvergenceGroup(warpgroup, warpgroup.full, 0, registers)
            )
        cluster.live_warpgroups = cluster.warpgroups
        return cluster

    def _make_cta(self, cluster: Cluster, rank: int, index: tuple[int, int, int]) -> Cta:
        shared = SharedMemory(self.program.variables.shared_size)
        shared.outside = self.program.variables.shared_outside
        cta = Cta(cluster, rank, index, shared)
        threads = prod(self.shape.block)
        cta.threads = threads
        cta.warp_count = ceil_div(threads, WARP)
        for first in range(0, cta.warp_count, WARPGROUP_WARPS):
            count = min(WARPGROUP_WARPS, cta.warp_count - first)
            lanes = min(count * WARP, threads - first * WARP)
            warpgroup = Warpgroup(cta, first, count, (1 << lanes) - 1)
            for state in warpgroup.warp_states:
                state.registers = self.registers
            if self.program.variables.local_size:
                size = self.program.variables.local_size
                warpgroup.local = np.zeros((warpgroup.lanes, size), np.uint8)
                warpgroup.local_written = np.zeros((warpgroup.lanes, size), np.bool_)
            cta.warpgroups.append(warpgroup)
        return cta


def _place(rank: int, extents: tuple[int, int, int]) -> tuple[int, int, int]:
    x, y, _ = extents
    return rank % x, rank // x % y, rank // (x * y)


def _registers_at_entry(kernel: Kernel, threads: int) -> int:
    """Return the registers of a thread before any `setmaxnreg`.

    They are what the limits of the kernel allow, but no more than the largest `setmaxnreg.inc` of
    it asks for: so ptxas 13.5 compiles (240 of the 256 that 256 threads may have, 168 of 384).
    """
    whole = align_up(threads, WARP)
    limit = REGISTERS // max(kernel.min_blocks or 1, 1) // whole // 8 * 8
    return min(kernel.max_registers or limit, max(_acquired_registers(kernel), default=256), 256)


def _acquired_registers(kernel: Kernel) -> Iterator[int]:
    """Return the counts of all `setmaxnreg.inc` of a kernel."""
    for instruction in kernel.code:
        if instruction.parts[:2] == ("setmaxnreg", "inc"):
            count = instruction.operands[0]
            if isinstance(count, Integer):
                yield count.value


def run(
    module: PtxModule,
    kernel: str | None,
    args: Sequence[Any],
    grid: Shape,
    block: Shape | None = None,
    cluster: Shape | None = None,
    *,
    target: str | None = None,
    dynamic_shared: int = 0,
    shared_names: Sequence[SharedName] = (),
    argument_names: Sequence[str] = (),
    order: Order = "eager",
    seed: int = 0,
    checks: bool = True,
    jobs: Workers = 1,
    progress: Progress | None = None,
    limit: float = inf,
    raise_on_findings: bool = False,
    count_accesses: int = 0,
) -> Report:
    """Run a kernel (the only one, if `kernel` is None) and return the report.

    `args` are arrays (pointers to global memory), numbers for scalars, `TensorMapArg` or 128 bytes
    for tensor maps.  `block` and `cluster` default to what the kernel requires.  `order` says when
    asynchronous operations complete.  `shared_names` say what parts of dynamic shared memory are,
    and `argument_names` what the arguments are called, in findings.  `jobs` says where parts of
    the grid run: processes, the name of an executor, or one.  `count_accesses` runs so many
    clusters of the grid alone, and counts what accesses of their warps cost.  Raises `PtxError` for
    instructions that are not supported, `LaunchError` for arguments and sizes that do not fit; what
    is wrong with the program itself is in the report's findings.
    """
    launch = prepare(
        module,
        kernel,
        args,
        grid,
        block,
        cluster,
        target=target,
        dynamic_shared=dynamic_shared,
        shared_names=shared_names,
        argument_names=argument_names,
        order=order,
        seed=seed,
        checks=checks,
        limit=limit,
    )
    if count_accesses:
        launch.accesses = AccessCounter(launch.kernel, prod(launch.shape.cluster))
        some = range(min(count_accesses, launch.clusters))
        instructions, finished = launch.execute(some, progress)
    else:
        instructions, finished = execute(launch, jobs, progress)
    report = _report(launch, instructions, finished)
    if raise_on_findings and report.failures:
        raise FindingsError(report.findings)
    return report


def _report(launch: Launch, instructions: int, finished: bool) -> Report:
    """Return what a launch that ran has left."""
    counter = launch.accesses
    return Report(
        launch.arguments.results(),
        launch.findings.all(),
        instructions,
        finished,
        "".join(launch.printed),
        () if counter is None else [counter.counts[key] for key in sorted(counter.counts)],
        counter,
    )


def prepare(
    module: PtxModule,
    kernel: str | None,
    args: Sequence[Any],
    grid: Shape,
    block: Shape | None = None,
    cluster: Shape | None = None,
    *,
    target: str | None = None,
    dynamic_shared: int = 0,
    shared_names: Sequence[SharedName] = (),
    argument_names: Sequence[str] = (),
    order: Order = "eager",
    seed: int = 0,
    checks: bool = True,
    limit: float = inf,
) -> Launch:
    """Return a launch with its arguments in memory."""
    if order not in ORDERS:
        raise LaunchError(f"order '{order}' is unknown; known: {', '.join(ORDERS)}")
    entry = pick_kernel(module, kernel)
    sizes = launch_sizes(entry, grid, block, cluster)
    memory = GlobalMemory()
    arguments = bind(entry, args, memory, argument_names)
    variables = Variables(module, entry, memory, arguments.parameters, dynamic_shared, shared_names)
    program = Program(module, entry, variables, target or module.target)
    shape = LaunchShape(
        *sizes, entry.required_cluster is not None or cluster is not None,
        dynamic_shared, variables.shared_size,
    )  # fmt: skip
    return Launch(module, entry, shape, memory, arguments, program, order, seed, checks, limit)


def pick_kernel(module: PtxModule, kernel: str | None) -> Kernel:
    """Return the kernel of a name, or the only one.

    Raises `LaunchError` that lists the kernels, `PtxError` at a file without any.
    """
    if not module.kernels:
        raise PtxError(
            "there is no kernel (.entry) in this file", SourceLocation(module.path, 1, 1)
        )
    names = ", ".join(module.kernels)
    if kernel is None:
        if len(module.kernels) != 1:
            raise LaunchError(f"say which kernel to run; the module has: {names}")
        return next(iter(module.kernels.values()))
    if kernel not in module.kernels:
        raise LaunchError(f"there is no kernel '{kernel}'; the module has: {names}")
    return module.kernels[kernel]
