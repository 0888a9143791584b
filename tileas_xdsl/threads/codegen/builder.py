"""Writing the code of one agent: values by name, constants, thread numbers, control flow.

A family of operations registers what each of them becomes in a table; the emitter walks blocks and
looks operations up.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from math import gcd
from typing import Any, TypeAlias, TypeVar

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    FixedBitwidthType,
    IndexType,
    IntegerAttr,
    IntegerType,
    i1,
    i8,
    i16,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.locations import name_of
from tileas_xdsl.dialects.cute import PtrAddOp, RecastPtrOp
from tileas_xdsl.dialects.cute_nvgpu import (
    BarrierOp,
    ClusterRankOp,
    ElectOneOp,
    GetDynSmemOp,
    LaneIdxOp,
    SyncWarpOp,
    ThreadIdxOp,
    WarpIdxOp,
)
from tileas_xdsl.layout.swizzle import BYTE_SWIZZLES
from tileas_xdsl.threads.codegen.lowered_values import (
    Carried,
    DotToken,
    ExchangeRoom,
    Ghost,
    LoadToken,
    Lowered,
    PendingTile,
    RegisterTile,
    Scalar,
    SharedTile,
    StageIndex,
    Stages,
    TensorTile,
)
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan
from tileas_xdsl.threads.pipeline.tile_properties import TileFacts
from tileas_xdsl.threads.pipeline.warp_allocation import Agent
from tileas_xdsl.threads.smem.smem_layout import ALIGNMENT
from tileas_xdsl.threads.tmem.tmem_layout import TensorMemory, Turns

Handler: TypeAlias = "Callable[[Emitter, Any], Sequence[Lowered]]"
"""What an operation becomes; a lowered value for each of its results."""

Ended: TypeAlias = Sequence[Lowered]
"""What the terminator of a block gives."""

T = TypeVar("T", bound=Operation)

_INDEX = IndexType()


@dataclass
class Emitter:
    """The code of one agent, at the end of a block."""

    plan: KernelPlan
    agent: Agent
    builder: Builder
    handlers: Mapping[type[Operation], Handler]
    tiles: TileFacts
    """What the tiles of the kernel say about registers."""
    before: Callable[[Emitter, Operation], None] = lambda e, op: None
    after: Callable[[Emitter, Operation], None] = lambda e, op: None
    """What surrounds every operation."""
    values: dict[SSAValue, Lowered] = field(default_factory=dict[SSAValue, Lowered])
    by_one_thread: bool = False
    """Whether only the elected thread of the agent is here."""
    source: Operation | None = None
    """The operation that is being lowered."""
    stage: tuple[Stages, StageIndex] | None = None
    """The stage whose body is written."""
    touched: set[SSAValue] = field(default_factory=set[SSAValue])
    """Arrays in global memory that some code before this accesses, and some stores to."""
    promised: dict[SSAValue, int] = field(default_factory=dict[SSAValue, int])
    """Numbers that divide values, since the program says so."""
    barriers: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """Where in shared memory the barriers of loads are that are in no stage."""
    parities: dict[Operation, SSAValue] = field(default_factory=dict[Operation, SSAValue])
    """Of the phases that those loads complete next; 0 before the first."""
    arguments: Block | None = None
    """The first block of the kernel, which takes hidden arguments."""
    tabulated: dict[tuple[object, ...], SSAValue] = field(
        default_factory=dict[tuple[object, ...], SSAValue]
    )
    """Numbers of the thread by a block and what they are, as tables of them are written."""
    rooms: dict[int, list[ExchangeRoom]] = field(default_factory=dict[int, "list[ExchangeRoom]"])
    """By agent, the rooms through which its threads exchange tiles."""
    tensor: TensorMemory | None = None
    """The tensor memory of the kernel."""
    turns: dict[Turns, StageIndex] = field(default_factory=dict[Turns, StageIndex])
    """For all sums of the agent, the copy that is in use, and the parity of its lap."""
    issues: bool = True
    """Whether products into tensor memory are issued here."""
    reads: bool = True
    """Whether tensor memory is read here."""
    kept: frozenset[Operation] | None = None
    """The operations that are written; None for all."""
    by_one_warp: bool = False
    """Whether only the warp is here that issues products."""
    _facts: dict[str, SSAValue] = field(default_factory=dict[str, SSAValue])
    """Numbers of the thread that were computed where all code of the agent sees them."""
    _constants: dict[tuple[Block, int, Attribute], SSAValue] = field(
        default_factory=dict[tuple[Block, int, Attribute], SSAValue]
    )

    def insert(self, op: T) -> T:
        """Add an operation, which is where the one is that it comes from."""
        if self.source is not None:
            op.location = self.source.location
        return self.builder.insert(op)

    def get(self, value: SSAValue) -> Lowered:
        """What a value has become."""
        return self.values[value]

    def scalar(self, value: SSAValue) -> SSAValue:
        """A value that is a scalar."""
        found = self.values[value]
        assert isinstance(found, Scalar), found
        return found.value

    # constants and arithmetic

    def index(self, number: int) -> SSAValue:
        """An `index` constant."""
        return self._constant(number, _INDEX)

    def int32(self, number: int) -> SSAValue:
        """An `i32` constant."""
        return self._constant(number, i32)

    def int64(self, number: int) -> SSAValue:
        """An `i64` constant."""
        return self._constant(number, i64)

    def mask(self, bits: int) -> SSAValue:
        """Which blocks of a cluster, as an `i16` constant."""
        return self._constant(bits, i16)

    def boolean(self, value: bool) -> SSAValue:
        """An `i1` constant."""
        return self._constant(int(value), i1)

    def _constant(self, number: int, type_: IntegerType | IndexType) -> SSAValue:
        """A number; the one of this block if it has it already."""
        key = (self.builder.insertion_point.block, number, type_)
        if key not in self._constants:
            self._constants[key] = self.insert(arith.ConstantOp(IntegerAttr(number, type_))).result
        return self._constants[key]

    def add(self, a: SSAValue, b: SSAValue | int) -> SSAValue:
        """A sum; nothing is added for 0."""
        if isinstance(b, int):
            return a if b == 0 else self.insert(arith.AddiOp(a, self._like(a, b))).result
        return self.insert(arith.AddiOp(a, b)).result

    def multiply(self, a: SSAValue, b: SSAValue | int) -> SSAValue:
        """A product; by 1 it is the factor."""
        if isinstance(b, int):
            return a if b == 1 else self.insert(arith.MuliOp(a, self._like(a, b))).result
        return self.insert(arith.MuliOp(a, b)).result

    def is_less(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Whether `a < b`, signed."""
        return self.insert(arith.CmpiOp(a, b, "slt")).result

    def is_equal(self, a: SSAValue, number: int) -> SSAValue:
        """Whether a value is a number."""
        return self.insert(arith.CmpiOp(a, self._like(a, number), "eq")).result

    def divide(self, a: SSAValue, number: int) -> SSAValue:
        """A quotient of numbers that are not negative; of a power of two, what a shift leaves."""
        if number == 1:
            return a
        if number & (number - 1):
            return self.insert(arith.DivUIOp(a, self._like(a, number))).result
        return self.insert(arith.ShRUIOp(a, self._like(a, number.bit_length() - 1))).result

    def remainder(self, a: SSAValue, number: int) -> SSAValue:
        """The remainder of numbers that are not negative; of a power of two, the lowest bits."""
        if number & (number - 1):
            return self.insert(arith.RemUIOp(a, self._like(a, number))).result
        return self.insert(arith.AndIOp(a, self._like(a, number - 1))).result

    def subtract(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """A difference."""
        return self.insert(arith.SubiOp(a, b)).result

    def exclusive_or(self, a: SSAValue, b: SSAValue | None) -> SSAValue:
        """Bits that differ; None is 0."""
        return a if b is None else self.insert(arith.XOrIOp(a, b)).result

    def widen(self, value: SSAValue) -> SSAValue:
        """An `i32` as `i64`, for addresses in global memory."""
        return self.insert(arith.ExtSIOp(value, i64)).result

    def swizzle_of_row(self, row: SSAValue, mode: str) -> SSAValue | None:
        """What the swizzle flips in the bytes of a row; None where it flips none.

        A swizzle <B, 4, 3> flips bits 4 to 4 + B by bits 7 to 7 + B of the address.
        """
        bits = BYTE_SWIZZLES[mode].bits
        if bits == 0:
            return None
        rows_of_span = 128 // (16 << bits)
        group = row if rows_of_span == 1 else self.divide(row, rows_of_span)
        return self.multiply(self.remainder(group, 1 << bits), 16)

    def known(self, value: SSAValue) -> int | None:
        """The number that a value always has; None where it is not a constant."""
        owner = value.owner
        if isinstance(owner, arith.ConstantOp) and isinstance(owner.value, IntegerAttr):
            return owner.value.value.data
        if isinstance(owner, arith.MuliOp | arith.AddiOp):
            a, b = (self.known(v) for v in owner.operands)
            if a is not None and b is not None:
                return a * b if isinstance(owner, arith.MuliOp) else a + b
        return None

    def factor(self, value: SSAValue) -> int:
        """A number that divides a value whatever it is."""
        if (number := self.known(value)) is not None:
            return number
        if (promised := self.promised.get(value)) is not None:
            return promised
        owner = value.owner
        if isinstance(owner, arith.IndexCastOp):
            return self.factor(owner.input)
        if isinstance(owner, arith.MuliOp):
            return self.factor(owner.lhs) * self.factor(owner.rhs)
        if isinstance(owner, arith.AddiOp):
            return gcd(self.factor(owner.lhs), self.factor(owner.rhs))
        return 1

    def both(self, a: SSAValue | None, b: SSAValue | None) -> SSAValue | None:
        """Whether both hold; None always holds."""
        if a is None or b is None:
            return b if a is None else a
        return self.insert(arith.AndIOp(a, b)).result

    def as_type(self, value: SSAValue, type_: Attribute) -> SSAValue:
        """An integer as `index` or `i32`."""
        if value.type == type_:
            return value
        return self.insert(arith.IndexCastOp(value, type_)).result

    def _like(self, value: SSAValue, number: int) -> SSAValue:
        if isinstance(value.type, IndexType):
            return self.index(number)
        width = width_of(value.type)
        return self._constant(number, IntegerType(width))

    # pointers

    def advance(
        self, pointer: SSAValue, offset: SSAValue | int, alignment: int | None = None
    ) -> SSAValue:
        """A pointer some elements further on; `alignment` in bytes where it is known."""
        if isinstance(offset, int):
            if offset == 0:
                return pointer
            offset = self.int32(offset)
        return self.insert(PtrAddOp(pointer, offset, alignment)).result

    def recast(self, pointer: SSAValue, element: Attribute) -> SSAValue:
        """A pointer to other elements at the same place."""
        return self.insert(RecastPtrOp(pointer, element)).result

    def tile_pointer(self, tile: SharedTile) -> SSAValue:
        """Where the bytes of a tile begin."""
        return tile.pointer

    def shared_tile(self, value: SSAValue) -> SharedTile:
        """A tile in shared memory; one that was only asked for gets its place now."""
        found = self.values[value]
        if isinstance(found, SharedTile):
            return found
        op = value.owner if isinstance(value.owner, Operation) else self.plan.kernel
        if not isinstance(found, PendingTile):
            raise op_error(op, "is used as a tile in shared memory, but lives elsewhere")
        layout = found.layout
        if found.place is None:
            found.place = self.plan.shared.allocate(op, found.name, layout.bytes, layout.describe())
        pointer = self.insert(GetDynSmemOp(found.place, i8, ALIGNMENT)).result
        return SharedTile(pointer, layout, found.element)

    def when(self, condition: SSAValue, block: Block) -> None:
        """Run a block, which is complete but for its end, where a condition holds."""
        with self.within(block):
            self.insert(scf.YieldOp())
        self.insert(scf.IfOp(condition, [], Region(block)))

    @contextmanager
    def only(self, condition: SSAValue | None) -> Generator[None]:
        """Write what runs where a condition holds; None always holds."""
        if condition is None:
            yield
            return
        block = Block()
        with self.within(block):
            yield
        self.when(condition, block)

    def add_argument(self, type_: Attribute) -> SSAValue:
        """A hidden argument of the kernel."""
        assert self.arguments is not None
        return self.arguments.insert_arg(type_, len(self.arguments.args))

    def meet(self) -> None:
        """All threads of the agent wait for one another."""
        if self.agent.number == 0:
            self.insert(BarrierOp(0))
        else:
            self.insert(BarrierOp(self.agent.number, self.agent.threads))

    def meet_of_warp(self) -> None:
        """The threads of each warp wait for one another."""
        self.insert(SyncWarpOp())

    # threads

    def fact(self, name: str, make: Callable[[], SSAValue]) -> SSAValue:
        """A number of the thread, computed once where the agent begins."""
        if name not in self._facts:
            self._facts[name] = make()
        return self._facts[name]

    def begin(self) -> None:
        """Compute the numbers of the thread, before any control flow."""
        thread = self.fact("thread", lambda: self.insert(ThreadIdxOp("x")).result)
        del thread
        self.fact("lane", lambda: self.insert(LaneIdxOp()).result)
        self.fact("warp", self._warp)

    def _warp(self) -> SSAValue:
        """The warp within the agent."""
        warp = self.insert(WarpIdxOp()).result
        first = self.agent.first_warp
        return self.add(warp, -first) if first else warp

    @property
    def thread(self) -> SSAValue:
        """The number of the thread in the block."""
        return self._facts["thread"]

    @property
    def lane(self) -> SSAValue:
        """The number of the thread in its warp."""
        return self._facts["lane"]

    @property
    def warp(self) -> SSAValue:
        """The number of the warp in the agent, the same in all its threads."""
        return self._facts["warp"]

    def elected(self) -> SSAValue | None:
        """Whether this is the one thread that acts for the agent; None if only it is here."""
        if self.by_one_thread:
            return None
        first = self.is_equal(self.warp, 0)
        return self.both(first, self.elected_of_warp())

    def elected_of_warp(self) -> SSAValue | None:
        """Whether this is the one thread that acts for its warp."""
        if self.by_one_thread:
            return None
        return self.insert(ElectOneOp()).result

    def elect(self) -> SSAValue:
        """Whether this is the one thread of its warp that issues products; elected once."""
        return self.fact("elected", lambda: self.insert(ElectOneOp()).result)

    def leads(self) -> SSAValue | None:
        """Whether this is the block that issues products for two of them; None if each does."""
        if not self.plan.is_of_pair:
            return None
        return self.fact("leads", lambda: self.is_equal(self.insert(ClusterRankOp()).result, 0))

    def issuing_warp(self) -> SSAValue | None:
        """Whether this is the warp that issues products; None if only it is here."""
        if self.by_one_warp:
            return None
        return self.both(self.leads(), self.is_equal(self.warp, 0))

    def issuer(self) -> SSAValue:
        """Whether this is the one thread that issues products."""
        found = self.both(self.issuing_warp(), self.elect())
        assert found is not None
        return found

    # walking

    def run(self, block: Block) -> Ended:
        """Lower the operations of a block; what its terminator gives."""
        for op in block.ops:
            if op is block.last_op and not op.results and op.name.endswith("yield"):
                return [self.values.get(value, Ghost()) for value in op.operands]
            self.lower(op)
        return []

    def lower(self, op: Operation) -> None:
        """Lower one operation."""
        outer, self.source = self.source, op
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
        """Write to the end of another block for a while."""
        outer, self.builder = self.builder, Builder(InsertPoint.at_end(block))
        try:
            yield
        finally:
            self.builder = outer


def width_of(type_: Attribute) -> int:
    """The bits of an integer."""
    assert isinstance(type_, FixedBitwidthType)
    return type_.bitwidth


def parts_of(values: Sequence[Lowered]) -> list[SSAValue]:
    """The SSA values that lowered values are made of, in order."""
    return [part for value in values for part in _carried(value).parts]


def rebuilt(like: Sequence[Lowered], parts: Sequence[SSAValue]) -> list[Lowered]:
    """Lowered values of the same kinds from other parts."""
    result: list[Lowered] = []
    position = 0
    for value in like:
        carried = _carried(value)
        count = len(carried.parts)
        result.append(carried.of(parts[position : position + count]))
        position += count
    return result


def _carried(value: Lowered) -> Carried:
    assert isinstance(
        value, Scalar | RegisterTile | StageIndex | Ghost | DotToken | LoadToken | TensorTile
    ), value
    return value
