"""Macro operations: groups of a loop body's operations that are scheduled as one.

Loads, stores, products, reductions and conversions are each a macro operation of their own.  The
element-wise operations that wait for the same ones of these, of this or of an earlier iteration,
are one group:

    %s = dot %q, %k            dot
    %t = mulf %s, %scale       group of {dot}
    %m = reduce max %t         reduce
    %p = maxnumf %prev, %m     group of {dot, reduce, %prev}
    %e = exp2 (%t - %p)        the same group

Scalars, tokens, constants and views of shared memory are part of none: they cost nothing, and what
needs them has them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from enum import StrEnum

from xdsl.dialects import scf
from xdsl.dialects.builtin import AnyFloat, IntegerType, TensorType
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.traits import IsTerminator, MemoryWriteEffect

from tileas_xdsl.analysis.layouts.tile_groups import FREE_TILES
from tileas_xdsl.analysis.memory.shared_memory import tile_bytes
from tileas_xdsl.analysis.values.scalar_operations import is_of_scalars
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import is_side_effect_free
from tileas_xdsl.dialects.nv_tileaa.types import PtrType
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.compute.dot import BlockScaledMmaOp, DotOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import CombiningOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import GatherLoadOp, LoadBase
from tileas_xdsl.dialects.nv_tileas.memory.structure import MemoryOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import (
    TiledAtomicRmwOp,
    TiledLoadBase,
    TiledStoreOp,
)
from tileas_xdsl.dialects.nv_tileas.shapes.layout import (
    ConvertLayoutOp,
    ExpandDimsOp,
    GenerateOp,
    ViewOp,
)
from tileas_xdsl.dialects.nv_tileas.spaces import ON_CHIP, scalar_type_of, space_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.target.costs.instruction_counts import instruction_count


class MacroKind(StrEnum):
    """The kind of a macro operation, by which costs are looked up."""

    TMA_LOAD = "tma load"
    TMA_STORE = "tma store"
    LOAD = "load"
    STORE = "store"
    DOT = "dot"
    REDUCE = "reduce"
    CONVERT = "convert"
    ELEMENTWISE = "element-wise"


@dataclass(frozen=True, eq=False)
class MacroOperation:
    """Operations of a loop body, in program order, that are scheduled as one."""

    kind: MacroKind
    operations: Sequence[Operation]
    index: int = 0
    """The place among the macro operations of the loop."""

    @property
    def name(self) -> str:
        """A name that is unique in the loop, for reports and pictures."""
        what: str = self.kind
        if self.kind is MacroKind.ELEMENTWISE:
            counts = {op.name: instruction_count(op.name) for op in self.operations}
            dearest = max(counts, key=lambda name: (counts[name].mufu, counts[name].issue))
            what = dearest.rpartition(".")[2]
        return f"{what} {self.index}"

    @property
    def inner_operands(self) -> Iterator[SSAValue]:
        """The values that its operations, or what is inside of them, use."""
        for op in self.operations:
            for inner in op.walk():
                yield from inner.operands


def is_scheduled(op: Operation) -> bool:
    """Whether an operation of a loop body is part of a macro operation."""
    if op.has_trait(IsTerminator) or isinstance(op, FREE_TILES) or is_of_scalars(op):
        return False
    if isinstance(op, ViewOp):
        viewed = op.result.type
        return as_tile(viewed) is not None and space_of(viewed) not in ON_CHIP
    tiles = (*op.operand_types, *op.result_types)
    has_tile = any(map(_is_tile, tiles))
    return has_tile or bool(op.regions) or not is_side_effect_free(op)


def kind_of(op: Operation) -> MacroKind:
    """Return what an operation does."""
    if isinstance(op, MemoryOp):
        return _memory_kind(op)
    if isinstance(op, DotOp | BlockScaledMmaOp):
        return MacroKind.DOT
    if isinstance(op, CombiningOp):
        return MacroKind.REDUCE
    return MacroKind.CONVERT if _moves(op) else MacroKind.ELEMENTWISE


def _memory_kind(op: MemoryOp) -> MacroKind:
    by_tma = isinstance(getattr(op.properties.get("atom"), "data", None), TmaAtom)
    if isinstance(op, TiledLoadBase | LoadBase | GatherLoadOp) and not op.has_trait(
        MemoryWriteEffect
    ):
        return MacroKind.TMA_LOAD if by_tma else MacroKind.LOAD
    stores = by_tma and isinstance(op, TiledStoreOp | TiledAtomicRmwOp)
    return MacroKind.TMA_STORE if stores else MacroKind.STORE


def stored_bytes(op: Operation) -> int:
    """Return the bytes of the tile, or else the number, that an operation stores."""
    stored = [t for t in op.operand_types if not isinstance(scalar_type_of(t), PtrType)]
    return next(map(tile_bytes, [*filter(_is_tile, stored), *filter(_is_number, stored)]), 0)


def _is_tile(type_: Attribute) -> bool:
    return isinstance(type_, TensorType)


def _is_number(type_: Attribute) -> bool:
    return isinstance(type_, IntegerType | AnyFloat)


def _moves(op: Operation) -> bool:
    """Whether a conversion goes through shared memory, or is no work on elements in place."""
    if isinstance(op, ConvertLayoutOp):
        return True
    plain = isinstance(op, GenerateOp | ExpandDimsOp | ViewOp)
    return not plain and not op.name.startswith(("arith.", "math.", "tensor."))


def macro_operations(loop: scf.ForOp) -> Sequence[MacroOperation]:
    """Return the macro operations of a loop body, in the order of their first operations."""
    body = loop.body.block
    scheduled = [op for op in body.ops if is_scheduled(op)]
    anchors = _Anchors(body)
    groups: dict[object, list[Operation]] = {}
    for op in scheduled:
        is_plain = kind_of(op) is MacroKind.ELEMENTWISE
        groups.setdefault(anchors.behind(op) if is_plain else op, []).append(op)
    order = {op: place for place, op in enumerate(body.ops)}
    found = [sorted(ops, key=order.__getitem__) for ops in _without_renames(groups.values())]
    found.sort(key=lambda operations: order[operations[0]])
    return [MacroOperation(kind_of(ops[0]), ops, index) for index, ops in enumerate(found)]


def _without_renames(groups: Iterable[list[Operation]]) -> Sequence[list[Operation]]:
    """Give what only renames a tile, as `expand_dims` does, to the one group that reads it."""
    found = list(groups)
    for group in [ops for ops in found if all(isinstance(op, ExpandDimsOp | ViewOp) for op in ops)]:
        readers = [other for other in found if other is not group and _reads(other, group)]
        if len(readers) == 1 and kind_of(readers[0][0]) is MacroKind.ELEMENTWISE:
            readers[0].extend(group)
            found.remove(group)
    return found


def _reads(group: Sequence[Operation], source: Sequence[Operation]) -> bool:
    made = {result for op in source for result in op.results}
    return any(v in made for op in group for inner in operations_in(op) for v in inner.operands)


class _Anchors:
    """By value: the macro operations and carried values that it waits for."""

    def __init__(self, body: Block) -> None:
        self.body = body
        self._known: dict[SSAValue, frozenset[object]] = {}

    def behind(self, op: Operation) -> frozenset[object]:
        """The anchors of what an operation, or what is inside of it, uses."""
        found: set[object] = set()
        for inner in op.walk():
            for value in inner.operands:
                found |= self._of(value)
        return frozenset(found)

    def _of(self, value: SSAValue) -> frozenset[object]:
        if value not in self._known:
            self._known[value] = self._computed(value)
        return self._known[value]

    def _computed(self, value: SSAValue) -> frozenset[object]:
        owner = value.owner
        if owner is self.body:
            is_tile = _is_tile(value.type)
            return frozenset({value}) if is_tile else frozenset()
        if not isinstance(owner, Operation) or owner.parent is not self.body:
            return frozenset()
        if is_scheduled(owner) and kind_of(owner) is not MacroKind.ELEMENTWISE:
            return frozenset({owner})
        return self.behind(owner)
