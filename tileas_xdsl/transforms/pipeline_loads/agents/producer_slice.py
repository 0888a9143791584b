"""The backward slice that the producer agent runs: control flow and coordinates of loads.

    scf.for %t = %first to %tiles step %blocks {       // loops around loads are kept,
      %i = arith.divsi %t, %n                          // what coordinates need is repeated,
      %acc = scf.for %k = ... iter_args(%acc) {
        %x = tiled_load %a[%i, %k]                     // loads become stages that are filled;
        %next = dot %x, %y, %acc                       // tiles, what they carry, and stores are not
      }                                                // the producer's
      tiled_store %acc, %c[%i, %j]
    }

What only one agent may do, as to take the number of the next tile from a counter, the producer
does, and hands the result to the consumer (`handed_values.py`):

    %t = nv_tileas.atomic_rmw add %one, %counter relaxed

What releases stores before it, the consumer does, and hands the result back.

A backward slice (Weiser) from the coordinates and pointers of loads, and from the bounds and
conditions of the control flow around them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import takewhile
from math import prod
from typing import TypeAlias

from typing_extensions import TypeIs
from xdsl.dialects import func, scf
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, OpResult, SSAValue
from xdsl.traits import MemoryReadEffect, MemoryWriteEffect

from tileas_xdsl.analysis.memory.copied_chunks import ThreadLoad, copied_bytes
from tileas_xdsl.analysis.values.scalar_operations import is_of_scalars
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import enclosing_ops, has_trait
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.control import (
    AsyncNextTileBlockOp,
    CancelNextProgramIdOp,
    YieldOp,
)
from tileas_xdsl.dialects.nv_tileas.enums import MemSemantic, Space
from tileas_xdsl.dialects.nv_tileas.memory.atomics import PointedAtomicOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import inflows
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile

MAX_ELEMENTS = 128
"""Elements of a tile that a producer may compute beside numbers: one for each of its threads."""

StageLoad: TypeAlias = TiledLoadOp | ConvertLayoutOp
"""What a stage is filled with: a tile by TMA, or one that threads load and copy."""

FROM_TILES = "where a tile of the loop lies is computed from tiles"

Carrying: TypeAlias = scf.ForOp | scf.IfOp | scf.WhileOp
"""Control flow that may stand around loads."""


Handed: TypeAlias = PointedAtomicOp | CancelNextProgramIdOp | WaitOp
"""Operations with side effects that one agent runs for both; their results are scalars."""


def is_handed(op: Operation) -> TypeIs[Handed]:
    """Whether the producer runs `op` for both agents: its effect is ordered against no access.

    The tokens that it comes after are of the slice: what a consumer does is not among them.
    """
    if isinstance(op, CancelNextProgramIdOp):
        return op.valid is None  # A stage has whole bytes; the first number says it, too.
    if isinstance(op, WaitOp):
        return isinstance(op.token.owner, AsyncNextTileBlockOp)
    if not isinstance(op, PointedAtomicOp) or isinstance(op.value.type, TensorType):
        return False
    return op.mem_semantic is None or op.mem_semantic.data in _UNORDERED


_UNORDERED = (MemSemantic.WEAK, MemSemantic.RELAXED)


def is_claimed(op: Operation) -> TypeIs[PointedAtomicOp]:
    """Whether the consumer runs `op` for both agents: an atomic ordered behind its accesses.

    It releases what the consumer has stored, so that the producer may not run ahead of it; loads
    behind it wait for the result that the consumer sends back.
    """
    if not isinstance(op, PointedAtomicOp) or isinstance(op.value.type, TensorType):
        return False
    return not is_handed(op)


@dataclass(frozen=True)
class ProducerSlice:
    """The operations that the producer agent recomputes."""

    repeated: frozenset[Operation]
    """Scalar operations, at any depth, that loads and their control flow depend on."""
    control: frozenset[Operation]
    """Loops and branches around loads, which the producer runs a copy of."""
    carried: Mapping[Operation, Sequence[int]]
    """By loop or branch of `control`, the values that go round, or out, and that it needs too."""
    passed: Mapping[Operation, Sequence[int]]
    """By `scf.while`, those that its condition passes to its body and its results."""
    handed: frozenset[Operation] = frozenset()
    """Operations of the producer whose results it sends to the consumer (`is_handed`)."""
    claimed: frozenset[Operation] = frozenset()
    """Operations of the consumer whose results it sends to the producer (`is_claimed`)."""
    streamed: Sequence[TiledLoadOp] = ()
    """Loads of loops around: the producer fills a ring of each of them, too."""

    def results(self, op: Operation) -> Sequence[int]:
        """The results of control flow that the producer needs too."""
        return (self.passed if isinstance(op, scf.WhileOp) else self.carried)[op]


def enclosing_control(op: Operation) -> Sequence[Operation]:
    """The operations around one, inside of its kernel, from the inside out."""
    return list(takewhile(lambda parent: not isinstance(parent, func.FuncOp), enclosing_ops(op)))


def copied_by(load: StageLoad) -> ThreadLoad | None:
    """The load of threads whose tile goes to shared memory, and nowhere else, by `cp.async`."""
    made = load.source.owner if isinstance(load, ConvertLayoutOp) else None
    if (
        not isinstance(made, ThreadLoad)
        or not made.result.has_one_use()
        or made.parent is not load.parent
    ):
        return None
    if space_of(load.result.type) is not Space.SMEM:
        return None
    return made if copied_bytes(made) else None


def addressing_values(load: StageLoad) -> Sequence[SSAValue]:
    """Return the operands that address a load, and the token that orders it."""
    if isinstance(load, ConvertLayoutOp):
        made = copied_by(load)
        return () if made is None else made.operands
    tokens = [] if load.token is None else [load.token]
    return [load.view, *load.coords, *load.offsets, *tokens]


def producer_slice(
    loads: Sequence[StageLoad],
    staying: Iterable[Operation],
    streamed: Sequence[TiledLoadOp] = (),
) -> ProducerSlice | str:
    """What fills stages with these loads, or why one agent cannot place them ahead.

    `staying` are the operations in front of both agents, `streamed` loads of the loops around.
    """
    gathered = [load for load in loads if isinstance(copied_by(load), LoadOp)]
    sizes = [prod(shape_of(load.result.type) or ()) for load in gathered]
    most = max(sizes, default=MAX_ELEMENTS)
    return _Slice(loads, frozenset(staying), most, streamed).run()


@dataclass
class _Slice:
    loads: Sequence[StageLoad]
    staying: frozenset[Operation]
    most_elements: int
    """Of a tile that is computed, not loaded: as many as what is loaded through pointers has."""
    streamed: Sequence[TiledLoadOp]
    repeated: set[Operation] = field(default_factory=set)
    carried: dict[Operation, set[int]] = field(default_factory=dict)
    passed: dict[Operation, set[int]] = field(default_factory=dict)
    handed: set[Operation] = field(default_factory=set)
    claimed: set[PointedAtomicOp] = field(default_factory=set["PointedAtomicOp"])
    pending: list[SSAValue] = field(default_factory=list)

    def run(self) -> ProducerSlice | str:
        control = {op: None for load in self.loads for op in enclosing_control(load)}
        for op in control:
            if not isinstance(op, scf.ForOp | scf.IfOp | scf.WhileOp):
                return f"it is inside of '{op.name}'"
            if any(_is_in_condition(load, op) for load in self.loads):
                return "it is inside of the condition of a loop"
            self.carried[op], self.passed[op] = set(), set()
            self.pending += _decided_by(op)
        for load in (*self.loads, *self.streamed):
            self.pending += addressing_values(load)
        # Backward slice over values and control: the producer repeats the loops and branches around
        # the loads, and computes addresses, bounds and conditions for itself.
        while self.pending:
            value = self.pending.pop()
            problem = (
                self._need_argument(value.owner, value)
                if isinstance(value.owner, Block)
                else self._need_result(value.owner, value)
            )
            if problem is not None:
                return problem
        carried, passed = (
            {op: sorted(positions) for op, positions in found.items()}
            for found in (self.carried, self.passed)
        )
        repeated, handed = frozenset(self.repeated), frozenset(self.handed)
        claimed = frozenset(self.claimed)
        return ProducerSlice(
            repeated, frozenset(control), carried, passed, handed, claimed, self.streamed
        )

    def _need_argument(self, block: Block, value: SSAValue) -> str | None:
        """A value that control flow hands in: of a kernel, the round, or the round before."""
        parent, index = block.parent_op(), block.args.index(value)
        if isinstance(parent, func.FuncOp):
            return None
        if isinstance(parent, scf.ForOp) and parent in self.carried:
            return None if index == 0 else self._need_flow(value, self.carried[parent], index - 1)
        if isinstance(parent, scf.WhileOp) and parent in self.carried:
            is_before = block is parent.before_region.block
            return self._need_flow(
                value, (self.carried if is_before else self.passed)[parent], index
            )
        return FROM_TILES

    def _need_result(self, op: Operation, value: SSAValue) -> str | None:
        if op in self.staying or op in self.repeated or op in self.handed or op in self.claimed:
            return None
        if op in self.carried:
            assert isinstance(value, OpResult)
            positions = (self.passed if isinstance(op, scf.WhileOp) else self.carried)[op]
            return self._need_flow(value, positions, value.index)
        if is_handed(op) and self._is_around_loads(op):
            self.handed.add(op)
            self.pending += op.operands
            return None
        if is_claimed(op) and self._is_around_loads(op):
            self.claimed.add(op)
            return None
        if any(has_trait(inner, MemoryWriteEffect) for inner in operations_in(op)):
            return "a store comes before what it loads"
        if not all(self._may_repeat(inner) for inner in operations_in(op)):
            return FROM_TILES
        self.repeated.add(op)
        self.pending += used_from_outside(op)
        return None

    def _is_around_loads(self, op: Operation) -> bool:
        """Whether an operation is in control flow that both agents have, in no loop that loads."""
        above = set(enclosing_control(op))
        return above <= set(self.carried) and not any(
            load.parent_op() in above for load in self.loads
        )

    def _need_flow(self, value: SSAValue, positions: set[int], position: int) -> str | None:
        """A value that control flow around loads carries: all that flows into it."""
        if isinstance(value.type, TensorType):
            return FROM_TILES
        if position not in positions:
            positions.add(position)
            self.pending += inflows(value) or ()
        return None

    def _may_repeat(self, op: Operation) -> bool:
        """Whether a producer may run an operation again: its threads have registers for it."""
        values = (*op.operand_types, *op.result_types)
        types = [tile for type_ in values if (tile := as_tile(type_)) is not None]
        most = MAX_ELEMENTS if has_trait(op, MemoryReadEffect) else self.most_elements
        if any(prod(type_.get_shape()) > most for type_ in types):
            return False
        if any(space_of(type_) is Space.SMEM for type_ in types) or isinstance(op, DotOp):
            return False
        return bool(types) or bool(op.regions) or is_of_scalars(op) or isinstance(op, _OF_NUMBERS)


_OF_NUMBERS = (AsyncNextTileBlockOp, LoadOp, scf.ConditionOp, scf.YieldOp, YieldOp)
"""What may have no tile: the load of one number, and the ends of regions."""


def _is_in_condition(load: StageLoad, loop: Operation) -> bool:
    return isinstance(loop, scf.WhileOp) and load in operations_in(loop.before_region)


def _decided_by(op: Carrying) -> Sequence[SSAValue]:
    """The values that say how often, or whether, control flow runs what is inside."""
    match op:
        case scf.ForOp():
            return op.lb, op.ub, op.step
        case scf.IfOp():
            return (op.cond,)
        case scf.WhileOp():
            end = op.before_region.block.last_op
            assert isinstance(end, scf.ConditionOp)
            return (end.condition,)


def used_from_outside(op: Operation) -> Iterator[SSAValue]:
    """The values that an operation and its regions use and do not define."""
    inside = set(operations_in(op))
    for inner in inside:
        for value in inner.operands:
            owner = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
            if owner not in inside:
                yield value
