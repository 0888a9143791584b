"""Launch a kernel over a grid in the tile interpreter: blocks one by one, or concurrently.

A launch is deterministic: `Schedule(policy, seed)` names the order in which agents take steps, and
the same schedule gives the same run. Virtual time models the GPU: a cluster starts when one of
`multiprocessors / blocks per cluster` slots is free, so that `cycles` is a makespan:

    9 blocks, 4 multiprocessors: blocks 0 to 3 start at `launch` cycles, block 4 when the first ends

By default one cluster is resident at a time, which needs the least memory and finds races within
it. Kernels whose blocks may exchange data (atomics, acquire and release, globals) run with as many
resident as the multiprocessors hold, in this process; all others may be split over processes
(`parallel_launch.py`), to which the IR is sent as text.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Mapping, Sequence
from heapq import heappop, heappush
from io import StringIO
from math import prod
from typing import Any

from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.printer import Printer

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.errors import ArgumentError
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.dialects.block_exchange import exchanges_data
from tileas_xdsl.dialects.nv_tileas.attributes import atom_of
from tileas_xdsl.dialects.nv_tileas.pipelines.queries import KernelFacts
from tileas_xdsl.dialects.target_attribute import row_of, target_of
from tileas_xdsl.executors import Workers
from tileas_xdsl.installed import registered_context
from tileas_xdsl.interpreters.tile.arguments import Arguments, bind
from tileas_xdsl.interpreters.tile.execution.agent import Code
from tileas_xdsl.interpreters.tile.execution.machine import Block, Device, TileAgent
from tileas_xdsl.interpreters.tile.execution.scheduler import (
    Adversarial,
    Policy,
    RoundRobin,
    Scheduler,
    SeededRandom,
    Steps,
    Wait,
)
from tileas_xdsl.interpreters.tile.faults import SimulationError, fault
from tileas_xdsl.interpreters.tile.language import TILE_LANGUAGE
from tileas_xdsl.interpreters.tile.launch_descriptors import HostMaps
from tileas_xdsl.interpreters.tile.memory.module_globals import global_memories
from tileas_xdsl.interpreters.tile.memory.pointers import give_addresses
from tileas_xdsl.interpreters.tile.parallel_launch import run_in_parts
from tileas_xdsl.interpreters.tile.simulation import Grid, Progress, Simulation
from tileas_xdsl.interpreters.tile.synchronization.pipelines import check_consumed
from tileas_xdsl.interpreters.tile.tracing.trace import Trace
from tileas_xdsl.layout.integers import three_extents
from tileas_xdsl.target.arch import TARGETS, get_target
from tileas_xdsl.target.costs.latencies import latencies

POLICIES: Mapping[str, Callable[[int], Policy]] = {
    "round-robin": lambda _: RoundRobin(),
    "random": SeededRandom,
    "adversarial": lambda _: Adversarial(),
}
"""Scheduling policies by name; the integer is the seed."""


@dataclass(frozen=True)
class Schedule:
    """The order of execution: a scheduling policy and its seed."""

    policy: str = "round-robin"
    seed: int = 0

    def __post_init__(self) -> None:
        if self.policy not in POLICIES:
            raise ArgumentError(f"unknown policy '{self.policy}'; known: {', '.join(POLICIES)}")

    def policy_of(self, cluster: int) -> Policy:
        """Return the policy of a cluster, independent of the process that runs it."""
        return POLICIES[self.policy](self.seed * 1_000_003 + cluster)


def grid_of(grid: int | Sequence[int]) -> Grid:
    """Normalise a grid to three extents."""
    if (extents := three_extents(grid)) is None:
        raise ArgumentError(f"a grid has one to three extents of at least 1, not {grid!r}")
    return extents


def simulate(
    module: ModuleOp,
    args: Sequence[Any],
    *,
    kernel: str | None = None,
    grid: int | Sequence[int] = 1,
    schedule: Schedule | None = None,
    target: str | None = None,
    cluster: Sequence[int] | None = None,
    resident: int | None = None,
    trace: bool = False,
    jobs: Workers = 1,
    progress: Progress | None = None,
    host_maps: HostMaps | None = None,
) -> Simulation:
    """Run a kernel on arrays and scalars, which are not modified; the results are copies.

    `resident` clusters run at once; the default is one, or all where blocks may wait for one
    another. `target` defaults to what the module names, else the first one that has all
    instructions. `host_maps` returns the tensor maps of descriptor arguments that describe windows.
    Raises `SimulationError` where the program breaks a rule, `ArgumentError` for arguments that do
    not fit the kernel.  `jobs` says where parts of the grid run: processes, the name of an
    executor, or one; blocks that exchange data run here.
    """
    _check_schedule(schedule)
    function = find_kernel(module, kernel)
    run = Launch(
        module,
        function,
        bind(function, args, host_maps=host_maps),
        grid_of(grid),
        schedule or Schedule(),
        target_for(function, target),
        None if cluster is None else grid_of(cluster),
        resident,
        trace,
    )
    if not run.is_shared:
        return run_in_parts(run, jobs, progress)
    return run.run(run.clusters, progress)


def _check_schedule(given: object) -> None:
    if not isinstance(given, Schedule | None):
        known = ", ".join(f"'{policy}'" for policy in POLICIES)
        text = f"schedule is Schedule(POLICY, SEED), with a policy of {known}, not {given!r}"
        raise TypeError(text)


def kernels_of(module: ModuleOp) -> Sequence[func.FuncOp]:
    """Return the functions that can be launched: public ones with a body."""
    return [
        op
        for op in module.ops
        if isinstance(op, func.FuncOp)
        and not op.is_declaration
        and (op.sym_visibility is None or op.sym_visibility.data != "private")
    ]


def find_kernel(module: ModuleOp, name: str | None = None) -> func.FuncOp:
    """Return the kernel of this name, or the only one; the fault otherwise lists them."""
    kernels = kernels_of(module)
    names = ", ".join(f"@{kernel.sym_name.data}" for kernel in kernels)
    found = [kernel for kernel in kernels if name in (None, kernel.sym_name.data)]
    if len(found) == 1:
        return found[0]
    if not kernels:
        raise fault(module, "has no kernel: a function with a body")
    if name is None:
        raise fault(module, f"has {len(kernels)} kernels, say which one to run: {names}")
    raise fault(module, f"has no kernel @{name}; it has {names}")


def target_for(kernel: func.FuncOp, name: str | None) -> str:
    """Return the target of a kernel; raise a fault if it lacks instructions that the kernel uses.

    Without `name` it is what the module names, else the first one that has all instructions.
    """
    if name is None and (named := target_of(kernel)) is not None:
        name = row_of(named).name
    left = list(TARGETS) if name is None else [get_target(name).name]
    for op in kernel.walk():
        if (atom := atom_of(op.properties.get("atom"))) is None:
            continue
        known, left = left, [target for target in left if target in atom.targets]
        if not left:
            exists, wanted = " and ".join(atom.targets), " or ".join(known)
            raise fault(op, f"atom '{atom.keyword}' is of {exists}, but the kernel is for {wanted}")
    return left[0]


_MADE_OF_IR = ("module", "kernel", "program", "code")


class Launch:
    """A kernel, its arguments and its grid, ready to run."""

    def __init__(
        self,
        module: ModuleOp,
        kernel: func.FuncOp,
        arguments: Arguments,
        grid: Grid,
        schedule: Schedule,
        target: str,
        cluster: Grid | None,
        resident: int | None,
        traces: bool,
    ) -> None:
        self.arguments = arguments
        self.schedule = schedule
        self.target = get_target(target)
        self.latencies = latencies(target)
        self._take(module, kernel)
        self.tile_blocks, self.grid = grid, self.program.ctas(grid)
        self.cluster = cluster or self.program.cluster
        self.traces = traces
        self.globals = global_memories(module)
        give_addresses([*arguments.memories, *self.globals])
        arguments.fill_tables()
        self.is_shared = bool(self.globals) or exchanges_data(kernel)
        self.clusters = self._clusters()
        at_once = self.latencies.multiprocessors // prod(self.cluster)
        self.resident = resident or (max(at_once, 1) if self.is_shared else 1)

    def _take(self, module: ModuleOp, kernel: func.FuncOp) -> None:
        """Set the IR, and what is derived from it."""
        self.module, self.kernel = module, kernel
        self.program = KernelFacts(kernel)
        self.code = Code(TILE_LANGUAGE)

    def __getstate__(self) -> dict[str, Any]:
        """Return the launch with its IR as text, whose operations have their locations."""
        kept = {name: value for name, value in vars(self).items() if name not in _MADE_OF_IR}
        text = StringIO()
        Printer(text, print_generic_format=True, print_debuginfo=True).print_op(self.module)
        return {**kept, "text": text.getvalue(), "name": self.kernel.sym_name.data}

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Read the IR again."""
        text, name = state.pop("text"), state.pop("name")
        self.__dict__.update(state)
        context = registered_context()
        module = parse_module(context, text, "<launch>")
        self._take(module, find_kernel(module, name))

    def _clusters(self) -> Sequence[tuple[int, Grid]]:
        """Yield the clusters of the grid by their first block, in launch order."""
        if any(n % c for n, c in zip(self.grid, self.cluster, strict=True)):
            raise ArgumentError(
                f"a grid of {_listed(self.grid)} is not made of clusters of {_listed(self.cluster)}"
            )
        most = self.target.blocks_per_cluster * 2
        if prod(self.cluster) > most:
            raise ArgumentError(f"a cluster has at most {most} blocks, not {prod(self.cluster)}")
        counts = [n // c for n, c in zip(self.grid, self.cluster, strict=True)]
        x, y, z = self.cluster
        firsts = [
            (i * x, j * y, k * z)
            for k in range(counts[2])
            for j in range(counts[1])
            for i in range(counts[0])
        ]
        return list(enumerate(firsts))

    def run(self, clusters: Sequence[tuple[int, Grid]], progress: Progress | None) -> Simulation:
        """Run some of the clusters in this process."""
        return _Run(self, clusters, progress).finish()


def _listed(extents: Sequence[int]) -> str:
    return "x".join(map(str, extents))


class _Run:
    """The state of a launch while it runs."""

    def __init__(
        self, launch: Launch, clusters: Sequence[tuple[int, Grid]], progress: Progress | None
    ) -> None:
        self.launch = launch
        self.progress = progress
        self.total = len(clusters) * prod(launch.cluster)
        self.ended = self.running = self.operations = self.cycles = 0
        self.trace = Trace()
        self.scheduler = Scheduler(launch.schedule.policy_of(clusters[0][0] if clusters else 0))
        self.numbers = {first: number for number, first in clusters}
        self.device = Device(
            launch.module,
            launch.program,
            launch.code,
            launch.target,
            launch.latencies,
            self.scheduler,
            launch.tile_blocks,
            launch.grid,
            deque(first for _, first in clusters),
            self.trace if launch.traces else None,
            [*launch.arguments.memories, *launch.globals],
        )
        at_once = max(launch.latencies.multiprocessors // prod(launch.cluster), 1)
        self.free = [0] * at_once
        """By slot of a resident cluster, the virtual time at which it is free."""

    def finish(self) -> Simulation:
        """Run all blocks to completion."""
        self._start_clusters()
        try:
            self.scheduler.run()
            self._check_counter()
        except SimulationError as error:
            error.trace = self.trace
            error.printed = "".join(self.device.printed)
            raise
        return Simulation(
            self.launch.arguments.results(),
            self.cycles,
            self.operations,
            self.ended,
            self.trace,
            "".join(self.device.printed),
        )

    def _check_counter(self) -> None:
        """Raise a fault where a launch leaves the counter of tile blocks otherwise than it was."""
        asked = self.device.asked
        if asked % (count := prod(self.launch.tile_blocks) + prod(self.launch.grid)):
            text = f"asks for a tile block {asked} times, not for each and in each CTA, {count}"
            raise fault(self.launch.kernel, text)

    def _start_clusters(self) -> None:
        while self.device.waiting and self.running < self.launch.resident:
            self._start(self.device.waiting.popleft())

    def _start(self, first: Grid) -> None:
        """Start all blocks of a cluster together."""
        policy = self.launch.schedule.policy_of(self.numbers[first])
        if self.launch.resident == 1:
            self.scheduler.policy = policy
        time = heappop(self.free)
        began = time + self.launch.latencies.launch
        blocks: list[Block] = []
        for rank in range(prod(self.launch.cluster)):
            index = _block_at(first, self.launch.cluster, rank)
            blocks.append(Block(self.device, index, rank, policy, began, blocks))
        left = set(map(id, blocks))
        self.running += 1

        def ended(block: Block) -> None:
            left.discard(id(block))
            if not left:
                self._end(blocks)

        for block in blocks:
            agent = TileAgent(block, "kernel")
            agent.start(self._steps(agent, ended), began)

    def _steps(self, agent: TileAgent, ended: Callable[[Block], None]) -> Steps:
        block = agent.block
        yield from agent.call(
            self.launch.kernel.sym_name.data,
            self.launch.arguments.values(self.launch.kernel, block),
        )
        yield from _drained(agent)
        check_consumed(block)
        ended(block)
        return ()

    def _end(self, blocks: Sequence[Block]) -> None:
        """End the blocks of a cluster and free its slot."""
        processes = [process for block in blocks for process in block.processes()]
        end = max(process.time for process in processes)
        self.cycles = max(self.cycles, end)
        heappush(self.free, end)
        self.operations += sum(agent.steps for block in blocks for agent in block.agents)
        self.scheduler.remove(processes)
        self.running -= 1
        self.ended += len(blocks)
        if self.progress is not None:
            self.progress(self.ended, self.total)
        self._start_clusters()


def _drained(agent: TileAgent) -> Steps:
    """Wait for the tasks in flight of an agent, before its block ends."""
    engines = agent.block.engines.values()
    if any(engine.in_flight for engine in engines):
        yield Wait(
            lambda: not any(engine.in_flight for engine in agent.block.engines.values()),
            "what is in flight to land",
            ready_time=lambda: max(engine.last_end for engine in engines),
        )
    return ()


def _block_at(first: Grid, cluster: Grid, rank: int) -> Grid:
    """Return the block of a cluster with this rank, x fastest."""
    x, rest = rank % cluster[0], rank // cluster[0]
    return first[0] + x, first[1] + rest % cluster[1], first[2] + rest // cluster[1]
