"""The state of lowering one agent to threads, and how an operation is lowered.

`ThreadBuilder` knows where code is inserted, what each value has become (`lowered_values.py`), and
which agent runs the code. A handler reads lowered operands, inserts thread-level operations and
returns a lowered value per result; `lower_tiles/` and `lower_tl/` are tables of handlers. One in
outline:

    def negf(e: ThreadBuilder, op: arith.NegfOp) -> Sequence[Lowered]:
        tile = in_registers(e, op, op.operand)              RegisterTile: vectors and a layout
        parts = [e.insert(arith.NegfOp(part)).result for part in tile.parts]
        return [RegisterTile(tile.layout, tile.element, tuple(parts))]

Everything inserted gets the location of the operation that is being lowered. Code is written by
free functions, by job: `integer_ops`, `known_integers`, `pointer_ops`, `structured_control_flow`,
`thread_ids`, `barriers`.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from typing import Any, TypeAlias, TypeVar

from xdsl.builder import Builder
from xdsl.dialects.builtin import IndexType, IntegerType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.analysis.values.rows.neighbours import Neighbours
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.locations import name_of
from tileas_xdsl.dialects.cute import SliceFragmentOp
from tileas_xdsl.dialects.cute_nvgpu import BarrierOp
from tileas_xdsl.dialects.interned import integer_attr
from tileas_xdsl.dialects.xdsl_ops import constant_op
from tileas_xdsl.threads.codegen.lowered_values import (
    KeptTile,
    Lowered,
    OrderToken,
    Scalar,
    StageIndex,
    Stages,
)
from tileas_xdsl.threads.codegen.shared_allocations import KeptLine, OwnLine, ScratchAllocation
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan
from tileas_xdsl.threads.pipeline.tile_properties import TileFacts
from tileas_xdsl.threads.pipeline.warp_allocation import Agent
from tileas_xdsl.threads.tmem.tmem_layout import AccumulatorRing, TensorMemory

Handler: TypeAlias = "Callable[[ThreadBuilder, Any], Sequence[Lowered]]"
"""Lowers one operation; returns a lowered value for each of its results."""

Handlers: TypeAlias = Mapping[type[Operation], Handler]
"""The handlers of a family of operations."""

T = TypeVar("T", bound=Operation)


@dataclass(frozen=True)
class LateOperand:
    """A double-buffered operand: threads write one copy while the previous dot reads the other."""

    wait: Callable[[], None]
    """Emits the wait for the previous dot."""
    places: int
    """Copies of the operand in shared memory."""
    place: SSAValue
    """Index of the copy that this iteration writes."""


@dataclass(frozen=True, eq=False)
class AgentBarrier:
    """A barrier of all threads of an agent, and what it was inserted for."""

    op: BarrierOp
    owner: Operation | None
    """The operation that was being lowered."""
    is_between_rounds: bool
    """Whether it orders the owner against its own accesses of the previous iteration."""
    guarded: ScratchAllocation | None
    """The scratch buffer that it protects: read in the previous iteration, written after it."""

    @property
    def only_separates_rounds(self) -> bool:
        """Whether it orders iterations and nothing else, so that another barrier can replace it."""
        return self.is_between_rounds and not (self.guarded and self.guarded.is_shared)

    def is_implied_by(self, other: AgentBarrier) -> bool:
        """Whether another operation's barrier already separates two iterations of the owner."""
        owner = self.owner
        if owner is None or other.owner is None or other.owner is owner:
            return False
        together = other.op.parent is self.op.parent and other.owner.parent is owner.parent
        return together and other.op.properties == self.op.properties


@dataclass(frozen=True, eq=False)
class HandedOut:
    """A value that one thread stores to shared memory for all others, between two barriers."""

    value: SSAValue
    before: BarrierOp
    """After the loads of the previous iteration."""
    store: Operation
    behind: BarrierOp
    """Before the loads of this one."""


@dataclass
class ThreadBuilder:
    """The state of lowering one agent: insertion point, value mapping, agent and kernel plan."""

    plan: KernelPlan
    agent: Agent
    builder: Builder
    handlers: Mapping[type[Operation], Handler]
    tiles: TileFacts
    """Facts about all tiles of the kernel that decide about register layouts."""
    before: Callable[[ThreadBuilder, Operation], None] = lambda e, op: None
    after: Callable[[ThreadBuilder, Operation], None] = lambda e, op: None
    """Called before and after every operation."""
    values: dict[SSAValue, Lowered] = field(default_factory=dict[SSAValue, Lowered])
    source: Operation | None = None
    """The operation that is being lowered; what is inserted gets its location."""
    by_one_thread: bool = False
    """Whether the code at the insertion point runs in the elected thread of the agent alone."""
    by_one_warp: bool = False
    """Whether it runs in the warp that issues tcgen05 MMAs alone."""
    issues: bool = True
    """Whether this agent issues tcgen05 MMAs."""
    reads: bool = True
    """Whether this agent reads tensor memory."""
    kept: frozenset[Operation] | None = None
    """The operations to lower, where this builder lowers a part of an agent; None for all."""
    in_turn: bool = False
    """Whether warpgroups run the code one after another (`nv_tileas.async.turn`)."""
    stage: tuple[Stages, StageIndex] | None = None
    """The pipeline stage whose body is being lowered."""
    copied_in_chunks: frozenset[Operation] = frozenset()
    """Loads through pointers, and the copies of their tiles, that `cp.async` does."""
    touched: set[SSAValue] = field(default_factory=set[SSAValue])
    """Arrays in global memory that earlier code accesses and some operation stores to."""
    neighbours: Neighbours = field(default_factory=Neighbours)
    """Loads whose elements lie beside those of others."""
    promised: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """Divisors of values that the program guarantees."""
    barriers: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """Shared-memory offsets of the mbarriers of bulk loads outside of pipeline stages."""
    kept_tiles: dict[Attribute, int] = field(default_factory=dict[Attribute, int])
    """Shared-memory offsets of tiles that loads keep there, by id: loads of one id share one."""
    kept_lines: dict[Attribute, KeptLine | OwnLine] = field(
        default_factory=dict[Attribute, KeptLine | OwnLine]
    )
    """Lines that loads keep in shared memory, by the id that loads of rows refer to."""
    kept_rows: dict[Attribute, KeptTile] = field(default_factory=dict[Attribute, KeptTile])
    """Rotated rows that loads keep there, by the id that loads of their parts refer to."""
    parities: dict[Operation, SSAValue] = field(default_factory=dict[Operation, SSAValue])
    """By bulk load: the phase parity that it completes next; 0 before the first."""
    arguments: Block | None = None
    """The entry block of the kernel, to which hidden arguments are added."""
    tabulated: dict[tuple[object, ...], SSAValue] = field(
        default_factory=dict[tuple[object, ...], SSAValue]
    )
    """Per-thread values that a block has already, by block and the table of their numbers."""
    scratch_buffers: dict[int, list[ScratchAllocation]] = field(
        default_factory=dict[int, "list[ScratchAllocation]"]
    )
    """Scratch buffers in shared memory by agent."""
    agent_barriers: list[AgentBarrier] = field(default_factory=list[AgentBarrier])
    """Barriers of all agents, in program order."""
    handed_out: list[HandedOut] = field(default_factory=list[HandedOut])
    tensor: TensorMemory | None = None
    """The tensor memory of the kernel."""
    accumulator_stages: dict[AccumulatorRing, StageIndex] = field(
        default_factory=dict[AccumulatorRing, StageIndex]
    )
    """For each accumulator in tensor memory the copy in use and the parity of its phase."""
    late_operands: dict[SSAValue, LateOperand] = field(
        default_factory=dict[SSAValue, "LateOperand"]
    )
    """Double-buffered operands, by the value that threads write."""
    late_waits: dict[Operation, Callable[[], None]] = field(
        default_factory=dict[Operation, Callable[[], None]]
    )
    """Waits for the dot of the previous iteration, by the operation that they precede."""
    wgmma_groups: list[Block] = field(default_factory=list[Block])
    """The block of code of each wgmma group so far, in order of issue."""
    wgmma_complete: tuple[Block, int] | None = None
    """A block, and the last wgmma group that a wait in it has waited for."""
    at_entry: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    """Per-thread values that are computed at the entry of the agent, by name."""
    _constants: dict[tuple[Block, int, Attribute], SSAValue] = field(
        default_factory=dict[tuple[Block, int, Attribute], SSAValue]
    )
    _slices: dict[tuple[Block, SSAValue, int, int], SSAValue] = field(
        default_factory=dict[tuple[Block, SSAValue, int, int], SSAValue]
    )

    def insert(self, op: T) -> T:
        """Insert an operation, at the location of the one that is being lowered."""
        if self.source is not None:
            op.location = self.source.location
        point = self.builder.insertion_point
        if point.insert_before is None:
            point.block.add_op(op)
        else:
            point.block.insert_op_before(op, point.insert_before)
        return op

    def constant(self, number: int, type_: IntegerType | IndexType) -> SSAValue:
        """Return an integer constant, one for each block."""
        key = (self.builder.insertion_point.block, number, type_)
        if key not in self._constants:
            self._constants[key] = self.insert(constant_op(integer_attr(number, type_))).result
        return self._constants[key]

    def slice(self, vector: SSAValue, first: int, count: int) -> SSAValue:
        """Return elements `first` to `first + count` of a vector, cut out once in each block."""
        key = (self.builder.insertion_point.block, vector, first, count)
        if key not in self._slices:
            self._slices[key] = self.insert(SliceFragmentOp(vector, first, count)).result
        return self._slices[key]

    def once(self, name: str, make: Callable[[], SSAValue]) -> SSAValue:
        """Return a per-thread value of the agent, which the first call emits.

        The first call must be where the value dominates all later ones: at the start of the agent.
        """
        if name not in self.at_entry:
            self.at_entry[name] = make()
        return self.at_entry[name]

    def get(self, value: SSAValue) -> Lowered:
        """Return what a value has become."""
        return self.values[value]

    def scalar(self, value: SSAValue) -> SSAValue:
        """Return what a value has become, which has to be a scalar."""
        found = self.values[value]
        assert isinstance(found, Scalar), found
        return found.value

    def run(self, block: Block) -> Sequence[Lowered]:
        """Lower the operations of a block; return the operands of its terminator."""
        for op in block.ops:
            if op is block.last_op and not op.results and op.name.endswith("yield"):
                return [self.values.get(value, OrderToken()) for value in op.operands]
            self.lower(op)
        return []

    def lower(self, op: Operation) -> None:
        """Lower one operation by its handler; raise a located error where there is none."""
        outer, self.source = self.source, op
        if (wait := self.late_waits.pop(op, None)) is not None:
            wait()
        self.before(self, op)
        if self.kept is None or op in self.kept:
            handler = self.handlers.get(type(op))
            if handler is None:
                raise op_error(op, f"'{name_of(op)}' is not lowered to threads yet")
            self.values.update(zip(op.results, handler(self, op), strict=True))
        self.after(self, op)
        self.source = outer

    @contextmanager
    def within(self, block: Block) -> Generator[None]:
        """Insert at the end of another block for a while."""
        outer, self.builder = self.builder, Builder(InsertPoint.at_end(block))
        try:
            yield
        finally:
            self.builder = outer
