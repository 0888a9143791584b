"""The machine at run time: device, blocks of a cluster with their memory and engines, agents.

    Device            one per launch: target, latencies, scheduler, arrays, blocks not yet started
      Block           one per block: shared memory, pipelines, named barriers
        TileAgent     a process that interprets operations (`kernel`, then `agent 0`, `agent 1`)
        Engine        a process that runs asynchronous tasks: TMA, tensor core, copies

An asynchronous operation issues a `Task` to an engine and goes on; the task's effect takes place
when the engine lands it, at a virtual time and in an order that the policy chooses. Its vector
clock begins as the issuer's and is joined by whoever waits for it.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from math import prod
from typing import Any

import numpy as np
from xdsl.dialects.builtin import FixedBitwidthType, ModuleOp
from xdsl.ir import Attribute, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.locations import location_of, name_of
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.pipelines.queries import KernelFacts
from tileas_xdsl.interpreters.tile.execution.agent import AgentInterpreter, Code
from tileas_xdsl.interpreters.tile.execution.engines import Engine, Task
from tileas_xdsl.interpreters.tile.execution.scheduler import (
    Policy,
    Process,
    Scheduler,
    Steps,
    Wait,
)
from tileas_xdsl.interpreters.tile.faults import RuleBroken, fault
from tileas_xdsl.interpreters.tile.memory.pointers import give_addresses
from tileas_xdsl.interpreters.tile.memory.tracked_memory import Actor, Memory
from tileas_xdsl.interpreters.tile.memory.views import View
from tileas_xdsl.interpreters.tile.numerics.element_types import dtype_of, is_array
from tileas_xdsl.interpreters.tile.synchronization.async_tokens import AsyncToken
from tileas_xdsl.interpreters.tile.synchronization.named_barrier import NamedBarrier
from tileas_xdsl.interpreters.tile.tracing.trace import Lane, Span, Trace
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.costs.latencies import Latencies


class ResourceError(RuleBroken):
    """More memory than a block has."""


@dataclass(frozen=True)
class TransferredTiles:
    """What a block has transferred to another one."""

    tiles: Sequence[Any]
    clock: Mapping[str, int]
    time: int
    """The virtual time at which it is there."""


@dataclass
class Device:
    """The state that all blocks of a launch share."""

    module: ModuleOp
    program: KernelFacts
    code: Code
    target: Target
    latencies: Latencies
    scheduler: Scheduler
    tile_blocks: tuple[int, int, int]
    """The grid as the program counts it."""
    grid: tuple[int, int, int]
    """The blocks that run it."""
    waiting: deque[tuple[int, int, int]] = field(default_factory=deque[tuple[int, int, int]])
    """Blocks that have not begun, in order of their start."""
    trace: Trace | None = None
    memories: list[Memory] = field(default_factory=list[Memory])
    """The arrays that the kernel takes, the globals, and memory that blocks allocate, by ascending
    addresses."""
    transferred: dict[int, TransferredTiles] = field(default_factory=dict[int, TransferredTiles])
    """By slot, what a block has transferred and no other one has taken."""
    asked: int = 0
    """How many tile blocks have been asked for."""
    printed: list[str] = field(default_factory=list[str])
    """The text that blocks have printed, in order."""

    def give_address(self, memory: Memory) -> None:
        """Let pointers point to memory that a block allocated."""
        give_addresses([memory], self.memories)
        self.memories.append(memory)

    @property
    def has_one_block(self) -> bool:
        """Whether diagnostics need not name the block."""
        return prod(self.grid) == 1


@dataclass(eq=False)
class Block:
    """One block of the grid: its memory, engines, barriers, and the cluster around it."""

    device: Device
    index: tuple[int, int, int]
    rank: int
    policy: Policy
    started: int
    """The virtual time of its start."""
    cluster: list[Block] = field(default_factory=list["Block"])
    memories: dict[tuple[Any, ...], Memory] = field(default_factory=dict[tuple[Any, ...], Memory])
    pipelines: dict[tuple[Any, ...], Any] = field(default_factory=dict[tuple[Any, ...], Any])
    engines: dict[str, Engine] = field(default_factory=dict[str, Engine])
    barriers: dict[int, NamedBarrier] = field(default_factory=dict[int, NamedBarrier])
    agents: list[TileAgent] = field(default_factory=list["TileAgent"])
    _shared: dict[Operation | SSAValue, int] = field(
        default_factory=dict[Operation | SSAValue, int]
    )
    _made: Counter[Any] = field(default_factory=Counter[Any])

    @property
    def title(self) -> str:
        """The name of the block in traces."""
        return f"block {self.index}"

    @property
    def prefix(self) -> str:
        """The prefix of names of agents and barriers in diagnostics."""
        return "" if self.device.has_one_block else f"block {self.index} "

    @property
    def of_cluster(self) -> str:
        """The prefix of names that are unique within its cluster, in diagnostics."""
        return self.prefix if len(self.cluster) > 1 else ""

    def peers(self, group: int) -> Sequence[Block]:
        """The blocks that share loads with this one: `group` neighbours, itself among them."""
        if group > len(self.cluster) or len(self.cluster) % group:
            raise ResourceError(
                f"{group} blocks are to share a load, but a cluster has {len(self.cluster)}"
            )
        first = self.rank // group * group
        return self.cluster[first : first + group]

    def key_of(self, op: Operation | SSAValue, agent: str) -> tuple[Any, ...]:
        """Return a key of the next object that `op` makes, equal in all blocks of the cluster."""
        maker = (op, agent.removeprefix(self.prefix))
        self._made[maker] += 1
        return (*maker, self._made[maker])

    def allocate(
        self,
        owner: Operation | SSAValue,
        agent: str,
        name: str,
        shape: Sequence[int],
        element: Attribute,
        space: Space,
    ) -> View:
        """Allocate unwritten memory; raise `ResourceError` where the space is exhausted."""
        if space is Space.SMEM:
            self._account(owner, shape, element)
        data = np.zeros(tuple(shape), dtype_of(element))
        key = self.key_of(owner, agent)
        memory = Memory(f"{self.of_cluster}{name}", space, data, key=key)
        self.memories[key] = memory
        return View.whole(memory, element)

    def _account(
        self, owner: Operation | SSAValue, shape: Sequence[int], element: Attribute
    ) -> None:
        """Count the shared memory of an operation once, however often it runs; check the limit."""
        bits = element.bitwidth if isinstance(element, FixedBitwidthType) else 64
        self._shared[owner] = ceil_div(prod(shape) * bits, 8)
        used, most = sum(self._shared.values()), self.device.target.shared_memory_per_block
        if used > most:
            raise ResourceError(
                f"a block has {most} bytes of shared memory; with this tile it needs {used}"
            )

    def engine(self, name: str, *, in_order: bool = False) -> Engine:
        """Return the engine of a name; it starts at its first use."""
        if name not in self.engines:
            engine = Engine(f"{self.prefix}{name}", self.policy, in_order=in_order, title=name)
            engine.on_landed = lambda _, task: self.show_task(name, task)
            engine.start(self.device.scheduler)
            self.engines[name] = engine
        return self.engines[name]

    def show_task(self, engine: str, task: Task) -> None:
        """Record a completed task in the trace."""
        if (trace := self.device.trace) is None:
            return
        kind = "dot" if engine.startswith("tensor core") else "copy"
        detail = {**_detail(task.op), "issued": str(task.issued)}
        lane = Lane(self.title, engine)
        trace.add(Span(lane, task.what, task.begun, task.ended, kind, task.stage, detail))

    def processes(self) -> list[Process]:
        """Return all processes of the block."""
        served = [e.process for e in self.engines.values() if e.process is not None]
        return [*[a.process for a in self.agents if a.process is not None], *served]


def _detail(op: Operation | None) -> dict[str, str]:
    if op is None:
        return {}
    location = location_of(op)
    where = {} if location is None else {"location": str(location)}
    return {"op": name_of(op), **where}


class TileAgent(AgentInterpreter):
    """An agent of a block."""

    def __init__(
        self,
        block: Block,
        name: str,
        frame: Mapping[SSAValue, Any] | None = None,
        warps: int | None = None,
    ) -> None:
        super().__init__(
            block.device.module, block.device.code.language, name, frame, block.device.code
        )
        self.block = block
        self.warps = warps
        """Warps of the agent, None where they are not mapped."""
        self.lane = Lane(block.title, name)
        self.children: list[TileAgent] = []
        """The agents of an `agent_switch` that it waits for."""
        self.brackets: list[tuple[Any, Any]] = []
        """Stages owned by enclosing operations: the token they took, the one they hold."""
        block.agents.append(self)

    @property
    def latencies(self) -> Latencies:
        """The latencies of the target."""
        return self.block.device.latencies

    @property
    def now(self) -> int:
        """The virtual time."""
        assert self.process is not None
        return self.process.time

    @property
    def who(self) -> str:
        """The name of the agent in diagnostics."""
        return self.clock.owner

    def start(self, steps: Steps, time: int) -> Process:
        """Run as a process from `time` on."""
        process = self.block.device.scheduler.add(
            f"{self.block.prefix}{self.name}", steps, time=time
        )
        if self.block.device.trace is not None:
            process.on_wait = self._show_wait
        self.run_as(process)
        return process

    def work(self, op: Operation, cycles: int, *, stage: int | None = None) -> None:
        """Spend the cycles of an operation."""
        began = self.now
        self.spend(cycles)
        if (trace := self.block.device.trace) is not None:
            name = name_of(op).removeprefix("nv_tileas.")
            trace.add(Span(self.lane, name, began, self.now, "work", stage, _detail(op)))

    def computed(self, op: Operation, count: int) -> None:
        self.work(op, self.latencies.elementwise(count))

    def _show_wait(self, wait: Wait, began: int, ended: int) -> None:
        trace = self.block.device.trace
        assert trace is not None
        detail = {**_detail(wait.op), "for": wait.why}
        trace.add(Span(self.lane, wait.why, began, ended, "wait", wait.stage, detail))

    def issue(
        self,
        engine: Engine,
        op: Operation,
        what: str,
        land: Callable[[Actor], tuple[Any, ...]],
        *,
        latency: int,
        busy: int = 0,
        after: Sequence[AsyncToken] = (),
        stage: int | None = None,
    ) -> tuple[AsyncToken, Task]:
        """Issue a task that depends on `after`; return its token, with the results of `land`."""
        token = AsyncToken(what, done=False)

        def effect(actor: Actor) -> None:
            for earlier in after:
                actor.clock.join(earlier.snapshot)
            values = land(actor)
            token.complete(actor.clock.snapshot(), task.ended, values)

        snapshot = self.clock.snapshot()
        self.clock.tick()
        task = Task(
            what,
            effect,
            self.now,
            latency,
            busy,
            snapshot,
            self.who,
            op,
            (lambda: all(earlier.done for earlier in after)) if after else None,
            stage,
        )
        engine.issue(task)
        return token, task

    def wait_for(self, token: AsyncToken, op: Operation) -> Steps:
        """Wait until a token is done and acquire its clock."""
        if not token.done:
            why = ", ".join(dict.fromkeys(token.unfinished()))
            yield Wait(lambda: token.done, why, op, ready_time=lambda: token.ended_at)
        self.clock.join(token.snapshot)
        return ()

    def view(self, op: Operation, value: Any, element: Attribute, space: Space) -> View:
        """Return a value as a view; a tile becomes initialised memory."""
        if isinstance(value, View):
            return value
        if not is_array(value):
            raise fault(op, "expects memory or a tile")
        memory = Memory("a tile", space, np.ascontiguousarray(value), is_initialised=True)
        return View.whole(memory, element)

    def destination(self, op: Operation, value: Any) -> View:
        """Return the view that an operation writes; a fault for a tile that is a value."""
        if not isinstance(value, View):
            raise fault(op, "writes to a tile that is a value and has no memory")
        return value
