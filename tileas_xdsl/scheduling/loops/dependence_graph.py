"""The dependences between the macro operations of a loop: values, carried values, memory.

    %x = load            load -> dot     a value, distance 0
    %n = dot %x, %acc    dot -> dot      %acc, carried: distance 1
    yield %n

Loads and stores that tokens order depend on one another by these; where one has no token, program
order holds between it and each access that may touch the same memory: all, if one of both writes.
Loads by TMA are ordered by tokens alone, as those of a producer that runs ahead are.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from enum import StrEnum

from xdsl.dialects import scf
from xdsl.ir import Operation, SSAValue
from xdsl.traits import MemoryWriteEffect

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.dialects.nv_tileaa.types import AAMemTokenType
from tileas_xdsl.dialects.nv_tileas.tma.store_order import writes_unordered
from tileas_xdsl.dialects.nv_tileas.types import MemTokenType
from tileas_xdsl.scheduling.loops.macro_operations import (
    MacroKind,
    MacroOperation,
    is_scheduled,
    macro_operations,
)


class DependenceKind(StrEnum):
    """Why one macro operation depends on another."""

    VALUE = "value"
    MEMORY = "memory"


@dataclass(frozen=True)
class MacroDependence:
    """`target` of an iteration waits for `source` of `distance` iterations before."""

    source: MacroOperation
    target: MacroOperation
    distance: int
    order: DependenceKind
    value: SSAValue | None = None
    """The value of the source that is used."""


@dataclass(frozen=True)
class DependenceGraph:
    """The macro operations of a loop in program order, and what orders them."""

    loop: scf.ForOp
    nodes: Sequence[MacroOperation]
    edges: Sequence[MacroDependence]

    def sources(self, node: MacroOperation) -> Sequence[MacroOperation]:
        """The macro operations that a node waits for, of any iteration."""
        return list(dict.fromkeys(edge.source for edge in self.edges if edge.target is node))


def dependence_graph(loop: scf.ForOp) -> DependenceGraph:
    """Return the dependence graph of a loop's body."""
    nodes = macro_operations(loop)
    builder = _Builder(loop, nodes)
    edges = dict.fromkeys((*builder.of_values(), *builder.of_memory()))
    return DependenceGraph(loop, nodes, list(edges))


class _Builder:
    def __init__(self, loop: scf.ForOp, nodes: Sequence[MacroOperation]) -> None:
        self.loop, self.nodes, self.body = loop, nodes, loop.body.block
        self.owner = {op: node for node in nodes for op in node.operations}
        end = self.body.last_op
        self.yielded = () if end is None else end.operands

    def of_values(self) -> Iterator[MacroDependence]:
        """The dependences by what the operations of a node use."""
        for node in self.nodes:
            for value in node.inner_operands:
                yield from self._to(node, value, 0, frozenset())

    def _to(
        self, node: MacroOperation, value: SSAValue, distance: int, seen: frozenset[SSAValue]
    ) -> Iterator[MacroDependence]:
        """Follow a value to the nodes that make it, through what costs nothing and iterations."""
        if value in seen:
            return
        seen |= {value}
        owner = value.owner
        # An argument of the body is what the previous iteration yielded: one iteration further
        # away. The counter (argument 0) and values from outside depend on nothing.
        if owner is self.body:
            place = self.body.args.index(value) - 1
            if place >= 0:
                yield from self._to(node, self.yielded[place], distance + 1, seen)
            return
        if not isinstance(owner, Operation) or owner.parent is not self.body:
            return
        if is_scheduled(owner):
            source = self.owner[owner]
            order = DependenceKind.MEMORY if _is_token(value) else DependenceKind.VALUE
            if source is not node or distance:
                yield MacroDependence(source, node, distance, order, value)
            return
        for inner in owner.walk():
            for used in inner.operands:
                yield from self._to(node, used, distance, seen)

    def of_memory(self) -> Iterator[MacroDependence]:
        """The dependences of accesses that no token orders, in this iteration and the next."""
        accesses = [node for node in self.nodes if _touches_memory(node)]
        for place, first in enumerate(accesses):
            for second in accesses[place:]:
                if _may_be_exchanged(first, second):
                    continue
                if first is not second:
                    yield MacroDependence(first, second, 0, DependenceKind.MEMORY)
                yield MacroDependence(second, first, 1, DependenceKind.MEMORY)


def _is_token(value: SSAValue) -> bool:
    return isinstance(value.type, AAMemTokenType | MemTokenType)


def _touches_memory(node: MacroOperation) -> bool:
    kinds = (MacroKind.TMA_LOAD, MacroKind.TMA_STORE, MacroKind.LOAD, MacroKind.STORE)
    return node.kind in kinds or (
        node.kind is MacroKind.CONVERT and not all(map(is_side_effect_free, node.operations))
    )


def _writes(node: MacroOperation) -> bool:
    return any(op.has_trait(MemoryWriteEffect) for op in node.operations) or (
        node.kind in (MacroKind.STORE, MacroKind.TMA_STORE)
    )


def _may_be_exchanged(first: MacroOperation, second: MacroOperation) -> bool:
    """Whether tokens alone say which access comes first, if one has to; both may be the same."""
    pair = (first, second)
    if any(node.kind is MacroKind.TMA_LOAD for node in pair):
        return not any(writes_unordered(op) for node in pair for op in node.operations)
    return all(map(_has_tokens, pair)) or not any(map(_writes, pair))


def _has_tokens(node: MacroOperation) -> bool:
    return all(any(map(_is_token, op.operands)) for op in node.operations)
