"""Is every value defined before it is used, on every path?  xDSL does not check it.

The rules and the wording are MLIR's (`Verifier.cpp`, `Dominance.cpp`): order matters inside a
block unless it is the only block of a graph region; a definition in another block of the region
must dominate; uses in unreachable blocks are tolerated; a value of an enclosing region is visible
unless an `IsolatedFromAbove` operation lies between.  One rule is our own: the regions of an
operation with the attribute `OPEN_BOUNDARY` see one another's values.  Time is linear in operations
and operands, times the nesting between a use and its definition.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple, cast

from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Block, BlockArgument, Operation, OpResult, Region, SSAValue
from xdsl.traits import IsolatedFromAbove

from tileas_xdsl.diagnostics.emission import note, op_error
from tileas_xdsl.diagnostics.report import Diagnostic
from tileas_xdsl.diagnostics.verification.dominator_tree import DominatorTree
from tileas_xdsl.diagnostics.walking import operands_of, operations_in, operations_of

GRAPH_REGION_OPS = frozenset({"builtin.module"})
"""Operations whose single-block regions have no order; unregistered ones are treated so too."""

OPEN_BOUNDARY = "nv_tileas.open_boundary"
"""The attribute of an operation whose regions run at the same time, and whose values are still to
be handed from one to another: what one region defines may be used in the others."""


def dominance_errors(root: Operation) -> list[Diagnostic]:
    """A located error for each operation inside `root` that uses a value it cannot see.

    Values from outside `root` are visible only in so far as `root` is part of a larger module.
    """
    return list(_Dominance(root).errors())


class _LiftedUse(NamedTuple):
    """The operation of a region that contains a use, and the innermost isolation on the way."""

    op: Operation | None
    barrier: Operation | None


class _Dominance:
    """Most values are of the same block, and were seen; positions and dominator trees on demand."""

    _root: Operation
    _operations: list[Operation]
    _positions: dict[Block, dict[Operation, int]]
    _trees: dict[Region, DominatorTree]
    _unreachable: set[Block]
    _lifted: dict[tuple[Block, Region], _LiftedUse]

    def __init__(self, root: Operation) -> None:
        self._root = root
        self._operations = operations_in(root)
        self._positions = {}
        self._trees = {}
        self._unreachable = set()
        self._lifted = {}
        for region in [region for op in self._operations for region in op.regions]:
            if region.first_block is not region.last_block:
                is_reachable = self._tree(region).is_reachable
                self._unreachable.update(b for b in region.blocks if not is_reachable(b))

    def errors(self) -> Iterator[Diagnostic]:
        seen: set[Operation | Block] = set()
        for op in self._operations:
            block = op.parent
            if op is self._root or block is None or block in self._unreachable:
                continue
            for index, value in enumerate(operands_of(op)):
                owner = value.owner
                if owner is block or (owner in seen and owner.parent is block):
                    continue
                if (error := self._use_error(op, index, value, block)) is not None:
                    yield error
                    break
            seen.add(op)

    def _use_error(
        self, op: Operation, index: int, value: SSAValue, block: Block
    ) -> Diagnostic | None:
        owner = value.owner
        # Classes are compared: `isinstance` asks an abstract one.
        defining_block = value.op.parent if type(value) is OpResult else cast("Block", owner)
        if defining_block is block:
            return None if self._precedes(owner, op) else _does_not_dominate(op, index, value)
        if defining_block is None or defining_block.parent is None:
            return op_error(op, f"operand #{index} is not defined in the module").diagnostics[0]
        use = self._lift(op, block, defining_block.parent)
        if use.barrier is not None and not use.barrier.is_ancestor(defining_block):
            return _crosses_isolation(op, use.barrier)
        if use.op is not None and self._visible(owner, defining_block, use.op):
            return None
        if use.op is None and _crosses_open_boundary(block, defining_block):
            return None
        return _does_not_dominate(op, index, value)

    def _lift(self, op: Operation, block: Block, region: Region) -> _LiftedUse:
        if block.parent is region:
            return _LiftedUse(op, None)
        if (found := self._lifted.get((block, region))) is None:
            found = self._lifted[block, region] = _lift(block, region)
        return found

    def _visible(self, owner: Operation | Block, defining_block: Block, user: Operation) -> bool:
        """Whether what `owner` defines dominates `user`, an operation of the same region."""
        if user.parent is defining_block:
            return self._precedes(owner, user)
        region, block = defining_block.parent, user.parent
        assert region is not None
        assert block is not None
        return self._tree(region).dominates(defining_block, block)

    def _precedes(self, owner: Operation | Block, user: Operation) -> bool:
        """In one block: block arguments come first, then operations in order, if order matters."""
        if isinstance(owner, Block):
            return True
        block = owner.parent
        if block is None:
            return False
        if (positions := self._positions.get(block)) is None:
            inside = operations_of(block) if self._root.is_ancestor(block) else ()
            positions = self._positions[block] = {op: index for index, op in enumerate(inside)}
        if owner in positions and positions[owner] < positions[user]:
            return True
        return _has_no_order(block)

    def _tree(self, region: Region) -> DominatorTree:
        if (tree := self._trees.get(region)) is None:
            tree = self._trees[region] = DominatorTree(region)
        return tree


def _lift(block: Block, region: Region) -> _LiftedUse:
    op, barrier = None, None
    while block.parent is not region:
        op = block.parent_op()
        barrier = barrier or _isolated(op)
        if op is None or op.parent is None:
            return _LiftedUse(None, barrier)
        block = op.parent
    return _LiftedUse(op, barrier)


def _crosses_open_boundary(block: Block, defining_block: Block) -> bool:
    """Whether both blocks are in different regions of an operation that leaves its boundary open.

    It is the innermost operation around both.
    """
    around = dict(_around(defining_block))
    for op, region in _around(block):
        if op in around:
            return OPEN_BOUNDARY in op.attributes and around[op] is not region
    return False


def _around(block: Block) -> Iterator[tuple[Operation, Region | None]]:
    """The operations around a block as far as values may be seen, and in which of their regions."""
    region = block.parent
    while region is not None and (op := region.parent) is not None:
        yield op, region
        region = None if _isolated(op) is not None else op.parent_region()


def _isolated(op: Operation | None) -> Operation | None:
    if op is None or not op.has_trait(IsolatedFromAbove, value_if_unregistered=False):
        return None
    return op


def _has_no_order(block: Block) -> bool:
    region, op = block.parent, block.parent_op()
    if region is None or op is None or region.blocks.first is not region.blocks.last:
        return False
    return isinstance(op, UnregisteredOp) or op.name in GRAPH_REGION_OPS


def _crosses_isolation(op: Operation, barrier: Operation) -> Diagnostic:
    reason = note(barrier, "required by region isolation constraints")
    return op_error(op, "using value defined outside the region", [reason]).diagnostics[0]


def _does_not_dominate(op: Operation, index: int, value: SSAValue) -> Diagnostic:
    message = f"operand #{index} does not dominate this use"
    return op_error(op, message, [_definition_note(op, value)], prefix=False).diagnostics[0]


def _definition_note(op: Operation, value: SSAValue) -> Diagnostic:
    owner, block = value.owner, op.parent
    defining_block = owner if isinstance(owner, Block) else owner.parent
    assert defining_block is not None
    assert block is not None
    relation = _relation(block, defining_block)
    if isinstance(value, BlockArgument):
        region = defining_block.parent
        assert region is not None
        position = next(
            index for index, block in enumerate(region.blocks) if block is defining_block
        )
        where = f"operand defined as a block argument (block #{position} {relation})"
        return note(defining_block.parent_op(), where)
    assert isinstance(owner, Operation)
    return note(owner, f"operand defined here (op {relation})")


def _relation(block: Block, defining_block: Block) -> str:
    region, defining_region = block.parent, defining_block.parent
    assert region is not None
    assert defining_region is not None
    if block is defining_block:
        return "in the same block"
    if region is defining_region:
        return "in the same region"
    if defining_region.is_ancestor(block):
        return "in a parent region"
    if region.is_ancestor(defining_block):
        return "in a child region"
    return "is neither in a parent nor in a child region"
