"""The state of a running kernel: clusters, CTAs, gangs of warps, and their fragments."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import WARP, Value, first_lane
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

if TYPE_CHECKING:
    from tileas_xdsl.interpreters.ptx.checking.checker import Checker
    from tileas_xdsl.interpreters.ptx.execution.program import Program

Order: TypeAlias = Literal["eager", "lazy", "random"]

WARPGROUP = 4


class Block(Protocol):
    """Why a fragment cannot go on."""

    mergeable: bool
    """Whether it stands before an instruction that it will execute anew."""

    def ready(self) -> bool:
        """Whether it can go on now."""
        ...

    def why(self) -> str:
        """Completes "waits ..."."""
        ...


class Fragment:
    """Lanes of a gang at one place of the code, with registers of their own."""

    __slots__ = ("block", "gang", "mask", "pc", "r", "timed_out")

    def __init__(self, gang: Gang, mask: int, pc: int, r: list[Value]) -> None:
        self.gang = gang
        self.mask = mask
        self.pc = pc
        self.r = r
        self.block: Block | None = None
        self.timed_out = False
        """Whether a wait that may give up has to, because nobody else can go on."""

    def value(self, slot: int) -> int:
        """A register as one integer: that of the first lane."""
        found = self.r[slot]
        if isinstance(found, int):
            return found
        return int(found[first_lane(self.mask)])


@dataclass
class Operation:
    """Something asynchronous; `run` does it, once.  Operations of one `lane` keep their order."""

    run: Callable[[], None]
    at: int
    lane: object = None
    done: bool = False


class AsyncQueue:
    """Operations that have been issued and not done; `order` says when they are."""

    def __init__(self, order: Order, rng: random.Random) -> None:
        self.order: Order = order
        self.rng = rng
        self.items: list[Operation] = []
        self.finished = 0
        self.running: int | None = None
        """The instruction that issued the operation that is being done."""

    def add(self, run: Callable[[], None], at: int, lane: object = None) -> Operation:
        """A new operation, issued by the instruction `at`."""
        operation = Operation(run, at, lane)
        self.items.append(operation)
        return operation

    def step(self) -> None:
        """Do one operation: the oldest, or any that may be next."""
        pick = self.rng.randrange(len(self.items)) if self.order == "random" else 0
        lane = self.items[pick].lane
        if lane is not None:
            pick = next(i for i, item in enumerate(self.items) if item.lane == lane)
        self._finish(self.items.pop(pick))

    def force(self, operation: Operation) -> None:
        """Do one operation now, and those before it in its lane."""
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
    """What a warp has open besides its registers."""

    copies_open: list[Any] = field(default_factory=list[Any])
    copies: list[list[Any]] = field(default_factory=list[list[Any]])
    """Groups of `cp.async`."""
    tensor_loads: dict[int, int] = field(default_factory=dict[int, int])
    """Registers that `tcgen05.ld` fills until `tcgen05.wait::ld`."""
    tensor_stores: list[Any] = field(default_factory=list[Any])
    tensor_issued: list[Any] = field(default_factory=list[Any])
    """Tensor-core operations since the last commit."""
    registers: int = 0


class Gang:
    """Up to four warps, a warpgroup, that run together while they agree."""

    def __init__(self, cta: Cta, first_warp: int, warps: int, full: int) -> None:
        self.cta = cta
        self.first_warp = first_warp
        self.warps = warps
        self.lanes = warps * WARP
        self.full = full
        """The lanes that exist."""
        self.fragments: list[Fragment] = []
        self.warp_states = [WarpState() for _ in range(warps)]
        self.bulk_open: dict[int, list[Any]] = {}
        self.bulk_groups: dict[int, list[list[Any]]] = {}
        """Groups of bulk copies by the lane that committed them."""
        self.wgmma: Any = None
        self.local: Any = None

    @property
    def agents(self) -> range:
        """The warps of the gang as the cluster counts them."""
        first = self.cta.rank * self.cta.warp_count + self.first_warp
        return range(first, first + self.warps)

    def agent(self, lane: int) -> int:
        """The warp of a lane as the cluster counts it."""
        return self.cta.rank * self.cta.warp_count + self.first_warp + lane // WARP

    def live(self) -> int:
        """The lanes that have not ended."""
        mask = 0
        for fragment in self.fragments:
            mask |= fragment.mask
        return mask


class Cta:
    """A thread block of a cluster."""

    def __init__(
        self, cluster: Cluster, rank: int, index: tuple[int, int, int], shared: SharedMemory
    ) -> None:
        self.cluster = cluster
        self.rank = rank
        self.index = index
        self.shared = shared
        self.tensor = TensorMemory()
        self.mbarriers: dict[int, MBarrier] = {}
        self.named: dict[int, NamedBarrier] = {}
        self.gangs: list[Gang] = []
        self.warp_count = 0
        self.threads = 0
        self.alive = True
        self.register_pool = 0
        """Registers that its warps have given away: there are no others (PTX ISA, setmaxnreg)."""
        self.operands: dict[Any, Any] = {}
        """Operands of matrix instructions already decoded, until shared memory changes."""
        self.operand_version = -1
        self.remote_touch: dict[int, int] = {}
        """By warp of another CTA, its clock when it last reached into this one."""

    @property
    def name(self) -> str:
        """How stories call it."""
        x, y, z = self.index
        return f"CTA {x}" if not y and not z else f"CTA ({x},{y},{z})"

    def mbarrier(self, offset: int) -> MBarrier:
        """The barrier at an offset of shared memory."""
        found = self.mbarriers.get(offset)
        if found is None:
            raise Fault(
                "barrier-init",
                f"there is no mbarrier at {self.cluster.program.shared_name(offset)} of "
                f"{self.name}: it was never initialised",
            )
        return found


class Cluster:
    """CTAs that run together, and everything in flight between them."""

    def __init__(
        self,
        program: Program,
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
        self.gangs_left: list[Gang] = []
        """Those that have not ended."""
        self.current: Fragment | None = None
        self.barrier = ClusterBarrier(0)
        self.instructions = 0
        self.events = 0
        """How often something happened that a waiting thread may have waited for."""
        self.printed: list[str] = []
        """Texts that threads of the launch have printed."""

    def cta_of(self, address: int) -> Cta:
        """The CTA that a `.shared::cluster` address is in."""
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
        """How stories call a warp of the cluster."""
        cta = self.ctas[agent // self.ctas[0].warp_count]
        return f"{cta.name} warp {agent % cta.warp_count}"

    @property
    def changes(self) -> tuple[int, int, int]:
        """Grows with everything that a waiting thread may see: barriers, copies, memory."""
        return self.events, self.queue.finished, self.memory.writes

    @property
    def gangs(self) -> list[Gang]:
        """All gangs of all CTAs."""
        return [gang for cta in self.ctas for gang in cta.gangs]
