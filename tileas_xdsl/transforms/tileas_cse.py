"""The pass `tileas-cse`: what is computed twice is computed once.

    %a = arith.addi %x, %y               %a = arith.addi %x, %y
    scf.if %c {                          scf.if %c {
      %b = arith.addi %x, %y       ->      use(%a)
      use(%b)                            }
    }

It merges what xDSL's `cse` merges, and finds it in a sixth of the calls: operations are looked up
by their class and operands, and only those that agree are compared by attributes, types and bodies.

Sign extensions and unsigned remainders, which xDSL does not declare free of effects, stay where
they are used in code of threads: merged, 64-bit offsets lived from the loads of a kernel to its
stores, and layer_norm of 32,768 columns spilled 40 bytes. At the level of tiles `extensions` merges
them as well, so that tiles of pointers are equal that a program computes twice, and their loads:

    %t = nv_tileas.load %p after %start               %t = nv_tileas.load %p after %start
    %u = nv_tileas.load %p after %start          ->   use(%t, %t)
    use(%t, %u)

A store between them keeps both, though no token orders it with the second one: cuTile has a token
for each array, and an array that is passed twice is one array, whose program stores to it in order.
"""

from __future__ import annotations

from collections.abc import Hashable
from collections.abc import Set as AbstractSet
from dataclasses import field
from functools import cache
from typing import TypeAlias

from xdsl.context import Context
from xdsl.dialects.arith import ExtSIOp, RemUIOp
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Block, Operation, Region
from xdsl.passes import ModulePass
from xdsl.traits import (
    EffectInstance,
    IsolatedFromAbove,
    IsTerminator,
    MemoryEffect,
    MemoryEffectKind,
    RecursiveMemoryEffect,
    get_effects,
)
from xdsl.transforms.dead_code_elimination import is_trivially_dead

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import next_of, operands_of, operations_of
from tileas_xdsl.dialects.ir_queries import DECLARED_FREE, has_trait

Effects: TypeAlias = "AbstractSet[EffectInstance] | None"

_NO_EFFECTS: frozenset[EffectInstance] = frozenset()
_SEEN = (MemoryEffectKind.WRITE, MemoryEffectKind.FREE)

Known: TypeAlias = dict[Hashable, tuple[Operation, ...]]
"""Operations in scope by class and operands, in the order of the program."""


@dataclass(frozen=True)
class TileasCse(ModulePass):
    """Merge operations that compute the same, and erase those that nothing reads."""

    name = "tileas-cse"

    extensions: bool = False
    """Whether sign extensions and unsigned remainders are merged too."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        merging = _Merging(frozenset((ExtSIOp, RemUIOp)) if self.extensions else frozenset())
        for region in op.regions:
            merging.region(region, {})
        merging.erase()


@dataclass
class _Merging:
    _also_free: frozenset[type[Operation]]
    """Operations without effects that xDSL does not declare so."""
    _unused: list[Operation] = field(default_factory=list[Operation])
    _of_regions: dict[Operation, Effects] = field(default_factory=dict[Operation, "Effects"])
    """Effects of operations with the effects of what is in their regions.

    Regions come before the operation around them and stay as they are until `erase`: else what is
    deep inside loops and branches would be asked once for each of them.
    """
    _writes: int = 0
    """How many operations so far may write."""
    _writes_before: dict[Operation, int] = field(default_factory=dict[Operation, int])
    """By operation that reads."""

    def region(self, region: Region, known: Known) -> None:
        """Merge in a region of one block what is known around it, and what it computes twice."""
        if region.first_block is not None and region.first_block is region.last_block:
            self._block(region.block, dict(known))

    def erase(self) -> None:
        """Erase what was merged, and what nothing read."""
        for op in self._unused:
            if op.parent is not None:
                op.detach()
                op.erase()

    def _block(self, block: Block, known: Known) -> None:
        op = block.first_op
        while op is not None:
            if op.regions:
                isolated = op.has_trait(IsolatedFromAbove, value_if_unregistered=True)
                for region in op.regions:
                    self.region(region, {} if isolated else known)
            self._operation(op, known)
            op = next_of(op)

    def _operation(self, op: Operation, known: Known) -> None:
        if next_of(op) is None and has_trait(op, IsTerminator):
            return
        effects = self._effects_of(op)
        if not _is_read(op) and not _may_be_seen(effects) and is_trivially_dead(op):
            self._unused.append(op)
            return
        if type(op) in self._also_free:
            effects = _NO_EFFECTS
        self._writes += _may_write(effects)
        if any(region.first_block is not region.last_block for region in op.regions):
            return
        if effects is None or any(effect.kind is not MemoryEffectKind.READ for effect in effects):
            return
        if effects:
            self._writes_before[op] = self._writes
        key = _key(op)
        if not (alike := known.get(key)):
            known[key] = (op,)
            return
        found = next((other for other in alike if _is_same(op, other)), None)
        if found is None or (effects and not self._reads_the_same(found, op)):
            known[key] = (*(other for other in alike if other is not found), op)
            return
        for old, new in zip(op.results, found.results, strict=True):
            old.replace_all_uses_with(new)
        self._unused.append(op)

    def _reads_the_same(self, first: Operation, second: Operation) -> bool:
        """Return whether no write between two reads may be of what they read."""
        return first.parent is second.parent and self._writes_before[first] == self._writes

    def _effects_of(self, op: Operation) -> Effects:
        """Return the effects of an operation on memory, None where they are not known."""
        is_free = DECLARED_FREE[type(op)]
        if is_free is not None:
            return _NO_EFFECTS if is_free else None
        if not _has_effects_of_regions(type(op)):
            return get_effects(op)
        if op not in self._of_regions:
            self._of_regions[op] = self._effects_inside(op)
        return self._of_regions[op]

    def _effects_inside(self, op: Operation) -> Effects:
        found: set[EffectInstance] = set()
        for inner in (o for region in op.regions for b in region.blocks for o in operations_of(b)):
            effects = self._effects_of(inner)
            if effects is None:
                return None
            found |= effects
        return found


@cache
def _has_effects_of_regions(kind: type[Operation]) -> bool:
    """Whether the effects of what is inside are all that an operation has."""
    return all(isinstance(t, RecursiveMemoryEffect) for t in kind.get_traits_of_type(MemoryEffect))


def _is_read(op: Operation) -> bool:
    return any([result.first_use is not None for result in op.results])


def _may_be_seen(effects: Effects) -> bool:
    """Whether an operation with such effects does something that others can see."""
    return effects is None or any(effect.kind in _SEEN for effect in effects)


def _key(op: Operation) -> Hashable:
    """What two equal operations have in common: their class and operands; of at most one, more.

    Constants are many, and a tile that is stored in parts is read by hundreds of operations: those
    differ in a value or a position, which are properties.
    """
    operands = operands_of(op)
    if len(operands) > 1:
        return type(op), *map(id, operands)
    return type(op), frozenset(op.properties.items()), *map(id, operands)


def _is_same(op: Operation, other: Operation) -> bool:
    """Whether operations of one class on the same operands compute the same."""
    return (
        op.properties == other.properties
        and op.attributes == other.attributes
        and op.result_types == other.result_types
        and len(op.regions) == len(other.regions)
        and all(
            mine.is_structurally_equivalent(theirs)
            for mine, theirs in zip(op.regions, other.regions, strict=True)
        )
    )


def _may_write(effects: Effects) -> bool:
    return effects is None or any(effect.kind is MemoryEffectKind.WRITE for effect in effects)
