"""The state of a running kernel: clusters, CTAs, warpgroups and their convergence groups.

A warpgroup (up to four warps) is executed as one unit: one numpy operation on 128 lanes.  While
its lanes agree on the control flow it is one convergence group; a divergent branch splits it, as
independent thread scheduling does (PTX ISA 3.1), and `reconvergence.merge` joins groups again:

        @p bra L;       one group, mask 0xf..f, pc 0  ->  mask p, pc L  and  mask ~p, pc 1
        ...             the group furthest behind runs first
    L:  ...             both at pc L  ->  one group, registers selected by mask

In functions of instructions `f` is the convergence group that executes.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, Literal, Protocol, TypeAlias, get_args

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.checking.checker import Checker
from tileas_xdsl.interpreters.ptx.checking.global_memory.races import ClusterRaces
from tileas_xdsl.interpreters.ptx.checking.reports.conflicts import CheckedProgram
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Value, first_lane
from tileas_xdsl.interpreters.ptx.execution.pending_clusters import PendingClusters
from tileas_xdsl.interpreters.ptx.memory.access_counts import AccessCounter
from tileas_xdsl.interpreters.ptx.memory.device_heap import DeviceHeap
from tileas_xdsl.interpreters.ptx.memory.global_memory import GlobalMemory
from tileas_xdsl.interpreters.ptx.memory.shared_memory import (
    OFFSET_MASK,
    RANK_SHIFT,
    SharedMemory,
    TensorMemory,
)
from tileas_xdsl.interpreters.ptx.synchronization.hardware_barriers import (
    ClusterBarrier,
    NamedBarrier,
)
from tileas_xdsl.interpreters.ptx.synchronization.mbarrier import MBarrier
from tileas_xdsl.layout.units import WARP

Order: TypeAlias = Literal["eager", "lazy", "random", "drift"]
"""When asynchronous operations complete: at once, at last, or at random; under `drift` warps fall
behind besides (`drift`)."""

ORDERS: Sequence[Order] = get_args(Order)
SEEDED: Sequence[Order] = ("random", "drift")
"""The orders that a seed chooses."""


def order_of_run(number: int) -> Order:
    """Return the order of a run, of several: each once, then those that a seed chooses in turn."""
    return ORDERS[number] if number < len(ORDERS) else SEEDED[number % len(SEEDED)]


class RunningProgram(CheckedProgram, Protocol):
    """The kernel that a cluster runs (`program.Program`)."""

    @property
    def widths(self) -> Sequence[int]:
        """The width of each register slot in bits."""
        ...


class WaitCondition(Protocol):
    """Why a convergence group is blocked."""

    mergeable: bool
    """Whether the group is before an instruction that it will execute anew, so that others may
    join."""

    def ready(self) -> bool:
        """Return whether the group can run again."""
        ...

    def why(self) -> str:
        """Return what the group waits for, to complete the sentence "waits ..."."""
        ...


class ConvergenceGroup:
    """Converged lanes of a warpgroup: one program counter, an active mask, registers `r`."""

    __slots__ = (
        "awaited",
        "frames",
        "gave_up_at",
        "mask",
        "pc",
        "r",
        "timed_out",
        "wait",
        "warpgroup",
    )

    def __init__(self, warpgroup: Warpgroup, mask: int, pc: int, r: list[Value]) -> None:
        self.warpgroup = warpgroup
        self.mask = mask
        self.pc = pc
        self.r = r
        self.wait: WaitCondition | None = None
        self.gave_up_at: tuple[int, str, int] | None = None
        """The wait that timed out last: its instruction, its mbarrier and the phase of that."""
        self.awaited = 0
        """Lanes that had not exited when the group began to wait for them."""
        self.frames: Frame | None = None
        """The recursive calls that it is in, the innermost first."""
        self.timed_out = False
        """Whether a wait with a time limit has to time out, because nothing else can make
        progress."""

    def part(self, mask: int, pc: int) -> ConvergenceGroup:
        """Return a group of some of the lanes, at an instruction, with the registers of all."""
        found = ConvergenceGroup(self.warpgroup, mask, pc, self.r.copy())
        found.frames = self.frames
        return found

    def value(self, slot: int) -> int:
        """Return a register of the lowest active lane, as an integer."""
        found = self.r[slot]
        if isinstance(found, int):
            return found
        return int(found[first_lane(self.mask)])


@dataclass(frozen=True, eq=False)
class Frame:
    """What a recursive call saves until it returns."""

    outer: Frame | None
    function: str
    """The copy of a function that calls itself, by the label at its beginning."""
    back: int
    """The instruction after the call."""
    registers: list[Value]
    local: Any
    """The local memory of the calling lanes that the call uses again."""
    results: Sequence[tuple[int, int, int]]
    """Of each result, where the function leaves it, where the caller wants it, and its size."""
    depth: int
    """How many calls there are, this one included."""


@dataclass
class Operation:
    """An asynchronous operation; `run` performs it once.  Operations of one `lane` stay in
    order."""

    run: Callable[[], None]
    at: int
    lane: object = None
    done: bool = False


class AsyncQueue:
    """Issued operations that have not completed; `order` is the policy that completes them."""

    def __init__(self, order: Order, rng: random.Random) -> None:
        self.order: Order = order
        self.is_random = order in SEEDED
        self.rng = rng
        self.items: list[Operation] = []
        self.finished = 0
        self.running: int | None = None
        """The index of the instruction that issued the operation being performed."""

    def add(self, run: Callable[[], None], at: int, lane: object = None) -> Operation:
        """Enqueue an operation issued by the instruction with index `at`."""
        operation = Operation(run, at, lane)
        self.items.append(operation)
        return operation

    def step(self) -> None:
        """Complete one operation: the oldest, or of a random order any that may be next."""
        pick = self.rng.randrange(len(self.items)) if self.is_random else 0
        lane = self.items[pick].lane
        if lane is not None:
            pick = next(i for i, item in enumerate(self.items) if item.lane == lane)
        self._finish(self.items.pop(pick))

    def force(self, operation: Operation) -> None:
        """Complete one operation now, after those before it in its lane."""
        while not operation.done:
            earlier = next(
                i
                for i, item in enumerate(self.items)
                if item is operation or (item.lane is not None and item.lane == operation.lane)
            )
            self._finish(self.items.pop(earlier))

    def _finish(self, operation: Operation) -> None:
        operation.done = True
        self.finished += 1
        before, self.running = self.running, operation.at
        operation.run()
        self.running = before


@dataclass(eq=False)
class WarpState:
    """The asynchronous work of a warp that has not been waited for, and its register budget."""

    copies_open: list[Any] = field(default_factory=list[Any])
    copies: list[list[Any]] = field(default_factory=list[list[Any]])
    """Committed groups of `cp.async`, oldest first."""
    tensor_loads: dict[int, int] = field(default_factory=dict[int, int])
    """Registers that `tcgen05.ld` fills until `tcgen05.wait::ld`."""
    tensor_issued: list[Any] = field(default_factory=list[Any])
    """Tensor-core operations since the last commit."""
    registers: int = 0


class Warpgroup:
    """Up to four warps that execute as one unit while their lanes are converged."""

    def __init__(self, cta: Cta, first_warp: int, warps: int, full: int) -> None:
        self.cta = cta
        self.first_warp = first_warp
        self.warps = warps
        first = cta.rank * cta.warp_count + first_warp
        self.agents = range(first, first + warps)
        """The warps of the warpgroup, numbered within the cluster."""
        self.warp_names = [f"{cta.name} warp {first_warp + warp}" for warp in range(warps)]
        self.lanes = warps * WARP
        self.full = full
        """The mask of lanes that exist: the last warpgroup of a block may have fewer than 128."""
        self.convergence_groups: list[ConvergenceGroup] = []
        self.asleep = 0
        """The mask of lanes that do not run for a while (`drift`)."""
        self.warp_states = [WarpState() for _ in range(warps)]
        self.bulk_open: dict[int, list[Any]] = {}
        self.bulk_groups: dict[int, list[list[Any]]] = {}
        """Groups of bulk copies by the lane that committed them."""
        self.bulk_writes: dict[int, list[list[Any]]] = {}
        """Writes by lane of the groups that `wait_group.read` has waited for, not `wait_group`."""
        self.wgmma: Any = None
        self.local: Any = None
        self.local_written: Any = None
        """Which bytes of its local memory each lane has written."""
        self.stack_tops: Any = None
        """Where the local memory of each lane ends, once one has allocated any by `alloca`."""

    def agent(self, lane: int) -> int:
        """Return the warp of a lane, numbered within the cluster."""
        return self.cta.rank * self.cta.warp_count + self.first_warp + lane // WARP

    def is_converged(self, warp: int) -> bool:
        """Return whether all lanes of a warp that have not exited execute together."""
        lanes = 0xFFFF_FFFF << WARP * warp
        return sum(bool(group.mask & lanes) for group in self.convergence_groups) < 2

    def live(self) -> int:
        """Return the mask of lanes that have not exited."""
        mask = 0
        for group in self.convergence_groups:
            mask |= group.mask
        return mask


class Cta:
    """A thread block of a cluster."""

    def __init__(
        self, cluster: Cluster, rank: int, index: tuple[int, int, int], shared: SharedMemory
    ) -> None:
        self.cluster = cluster
        self.rank = rank
        self.index = index
        x, y, z = index
        self.name = f"CTA {x}" if not y and not z else f"CTA ({x},{y},{z})"
        """The name in diagnostics."""
        self.shared = shared
        self.tensor = TensorMemory()
        self.mbarriers: dict[int, MBarrier] = {}
        self.named: dict[int, NamedBarrier] = {}
        self.warpgroups: list[Warpgroup] = []
        self.warp_count = 0
        self.threads = 0
        self.alive = True
        self.register_pool = 0
        """Registers released by `setmaxnreg.dec` for `setmaxnreg.inc` to take (PTX ISA
        9.7.19.5)."""
        self.operands: dict[Any, Any] = {}
        """Decoded operands of matrix instructions, valid until shared memory changes."""
        self.operand_version = -1
        self.remote_access: dict[int, int] = {}
        """By warp of another CTA, its clock at its last access to this CTA's shared memory."""
        self.reached_by: set[int] = set()
        """The warps of other CTAs that have accessed this CTA's shared memory."""

    def mbarrier(self, offset: int) -> MBarrier:
        """Return the mbarrier at an offset of shared memory; a fault where none was initialised."""
        found = self.mbarriers.get(offset)
        if found is None:
            raise Fault(
                "barrier-init",
                f"there is no mbarrier at {self.cluster.program.shared_name(offset)} of "
                f"{self.name}: it was never initialised",
            )
        return found


class Cluster:
    """The CTAs of a cluster and the asynchronous operations between them."""

    def __init__(
        self,
        program: RunningProgram,
        memory: GlobalMemory,
        order: Order,
        rng: random.Random,
        checker: Checker | None,
    ) -> None:
        self.program = program
        self.memory = memory
        self.queue = AsyncQueue(order, rng)
        self.rng = rng
        self.checker = checker
        self.ctas: list[Cta] = []
        self.live_warpgroups: list[Warpgroup] = []
        """Warpgroups with lanes that have not exited."""
        self.current: ConvergenceGroup | None = None
        self.barrier = ClusterBarrier(0)
        self.instructions = 0
        self.cycle = 0
        """The clock that was read last."""
        self.events = 0
        """Count of events that a waiting thread may have waited for."""
        self.preempted = False
        """Whether other clusters run next: after an atomic, which may have taken a lock."""
        self.printed: list[str] = []
        """Text that threads of the launch have printed."""
        self.number = 0
        """Its linear index in the grid."""
        self.pending: PendingClusters | None = None
        """The clusters that it may take over."""
        self.seen_refusal = False
        """Whether one of its threads has seen that none was left to take over."""
        self.races: ClusterRaces | None = None
        """The checks of global memory."""
        self.heap: DeviceHeap | None = None
        """What `malloc` allocates from."""
        self.accesses: AccessCounter | None = None
        """The counts of accesses, where they are asked for."""

    def cta_of(self, address: int) -> Cta:
        """Return the CTA of a `.shared::cluster` address."""
        rank = address >> RANK_SHIFT
        if rank >= len(self.ctas):
            raise Fault(
                "illegal-address",
                f"shared address {address:#x} is of CTA rank {rank}; the cluster has "
                f"{len(self.ctas)} CTAs",
            )
        cta = self.ctas[rank]
        if not cta.alive:
            raise Fault(
                "access-after-exit",
                f"shared offset {address & OFFSET_MASK:#x} of {cta.name} is reached after the "
                "CTA has ended",
            )
        return cta

    def warp_name(self, agent: int) -> str:
        """Return the name of a warp of the cluster in diagnostics."""
        cta = self.ctas[agent // self.ctas[0].warp_count]
        return f"{cta.name} warp {agent % cta.warp_count}"

    def retire(self) -> None:
        """Drop what only a running cluster needs, once it is over.

        A cluster and its parts refer to one another, so that their memory would be freed by the
        garbage collector only, which walks the objects of the whole process.
        """
        for cta in self.ctas:
            cta.warpgroups.clear()
            cta.mbarriers.clear()
            cta.named.clear()
            cta.operands.clear()
        for shadow in self.checker.shared if self.checker is not None else ():
            shadow.forget_tiles()
        self.checker = self.races = None

    @property
    def changes(self) -> tuple[int, int, int]:
        """Counters that grow with every change visible to a waiting thread: barriers, copies,
        memory."""
        return self.events, self.queue.finished, self.memory.writes

    @property
    def warpgroups(self) -> list[Warpgroup]:
        """All warpgroups of all CTAs."""
        return [warpgroup for cta in self.ctas for warpgroup in cta.warpgroups]
