"""Accumulators in tensor memory: aliasing values, and live ranges between MMAs and reads.

    %zero = arith.constant ...                   opens: the loop that carries the accumulator
    %acc = scf.for ... iter_args(%c = %zero) {
      %d = dot %a, %b, %c {atom tcgen05}         products: all values here are one accumulator
      scf.yield %d
    }
    %r = ... %acc (read into registers)          ready_at: all products come before
    tiled_store %r, ...                          closes_at is the last such read

An accumulator begins where a constant becomes the C operand of an MMA, is added to, is read into
registers, and is free again.  Different threads issue MMAs and reads, so the synchronisation points
between them are determined here.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import get_args

from xdsl.dialects import func, scf, tensor
from xdsl.dialects.arith import ConstantOp
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tileas_xdsl.analysis.layouts.tile_groups import placed_tile
from tileas_xdsl.analysis.values.loop_carried_values import carried_in
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import Kinds
from tileas_xdsl.dialects.nv_tileas.atoms import MmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import atom_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import BlockScaledMmaOp, MatrixProduct
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import PipelineYieldOp
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import FutureWaitOp, WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp, ExtractSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import Tile, space_of
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.target.mma.matrix_units import PAIR
from tileas_xdsl.target.tensor_memory import ACCUMULATORS, accumulator

CONSTANTS = (ConstantOp, tensor.SplatOp)
"""What gives tiles that are nowhere yet."""


@dataclass(eq=False)
class TmemAccumulator:
    """One accumulator in tensor memory and its lifetime."""

    type: Tile
    opens: Operation
    """The MMA, or the loop that carries the accumulator, which begins it."""
    ready_at: Operation
    """The first operation that reads it, or in which it is read: all products come before."""
    closes_at: Operation
    """The last one; `opens`, `ready_at` and `closes_at` are in one block, or `opens` in its ops."""
    final: SSAValue
    """What is read, as a whole or in slices."""
    products: Sequence[MatrixProduct]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        rows, columns = self.type.get_shape()
        return rows, columns

    @property
    def halves(self) -> int:
        """Ranges of columns that stand below one another in its lanes."""
        return column_halves(self.shape, is_of_pair=any(map(is_of_two_blocks, self.products)))

    @property
    def columns(self) -> int:
        """Columns of tensor memory."""
        return self.shape[1] // self.halves


@dataclass
class TmemAccumulators:
    """All accumulators of a kernel, also by the values that they are."""

    accumulators: Sequence[TmemAccumulator] = ()
    of_value: dict[SSAValue, TmemAccumulator] = field(
        default_factory=dict[SSAValue, TmemAccumulator]
    )


_PRODUCTS = Kinds(*get_args(MatrixProduct))


def is_tensor_product(op: Operation) -> bool:
    """Whether an operation multiplies into tensor memory."""
    if not _PRODUCTS[type(op)]:
        return False
    atom = atom_of(op.atom) if isinstance(op, MatrixProduct) else None
    return isinstance(atom, MmaAtom) and atom.instruction == "tcgen05"


def is_of_two_blocks(op: Operation) -> bool:
    """Whether two blocks of a cluster multiply together into the tensor memory of both."""
    if isinstance(op, BlockScaledMmaOp):
        return op.ctas == PAIR
    atom = atom_of(op.atom) if isinstance(op, MatrixProduct) else None
    return isinstance(atom, MmaAtom) and atom.cta_group == PAIR


def column_halves(shape: Sequence[int], *, is_of_pair: bool) -> int:
    """Return how many ranges of its columns an accumulator has in lanes of their own.

    `shape` is that of one CTA's part: a pair that multiplies 128 rows has 64 of 128 lanes in each
    for the first half of the columns, and the others for the second.
    """
    known = ACCUMULATORS.get((PAIR, PAIR * shape[0])) if is_of_pair else None
    return 1 if known is None else known.splits


def accumulator_layout(shape: Sequence[int], *, is_of_pair: bool) -> Layout:
    """Return the tensor-memory layout of one CTA's part; raises `TargetError` if there is none."""
    rows, columns = shape
    ctas = PAIR if is_of_pair else 1
    return accumulator(ctas * rows, columns, ctas)


def is_divided_b(tile: SSAValue) -> bool:
    """Whether products of two CTAs read a tile as B, of which each CTA then needs half."""
    return any(
        is_divided_b(op.result)
        if isinstance(op := use.operation, ConvertLayoutOp | ViewOp)
        else use.index == 1 and is_of_two_blocks(op)
        for use in tile.uses
    )


def in_tensor_memory(type_: Attribute) -> bool:
    """Whether a tile, or what a token delivers, is in tensor memory."""
    tile = placed_tile(type_)
    return tile is not None and space_of(tile) is Space.TMEM


def tmem_accumulators(kernel: func.FuncOp) -> TmemAccumulators:
    """Return the accumulators of a kernel; raise where MMAs and reads are not totally ordered.

    Requires tiles with assigned layouts.
    """
    if not any(map(is_tensor_product, operations_in(kernel))):
        return TmemAccumulators()
    groups = _Groups()
    for op in operations_in(kernel):
        groups.note(op)
    for carried in carried_in(kernel):
        for one in (*carried.heads, *(feed.value for feed in carried.feeds)):
            groups.join(carried.heads[0], one)
    found = TmemAccumulators([])
    accumulators: list[TmemAccumulator] = []
    for values in groups.all():
        products = [v.owner for v in values if isinstance(v.owner, MatrixProduct)]
        if not products:
            continue
        accumulator = _tmem_accumulator(values, products)
        accumulators.append(accumulator)
        found.of_value.update(dict.fromkeys(values, accumulator))
    found.accumulators = accumulators
    return found


class _Groups:
    """Equivalence classes (union-find) of values that share one accumulator."""

    def __init__(self) -> None:
        self._parent: dict[SSAValue, SSAValue] = {}

    def note(self, op: Operation) -> None:
        """Join the operands and results that an operation updates in place."""
        match op:
            case op if isinstance(op, MatrixProduct) and is_tensor_product(op):
                self.join(op.result, op.c)
            case WaitOp() | FutureWaitOp():
                for value in op.values:
                    self.join(value, op.token)
            case _:
                return

    def join(self, one: SSAValue, other: SSAValue) -> None:
        """Make two values one, where both are in tensor memory and not constants."""
        if any(not in_tensor_memory(v.type) or is_constant(v) for v in (one, other)):
            if in_tensor_memory(one.type) and not is_constant(one):
                self._root(one)
            return
        self._parent[self._root(one)] = self._root(other)

    def all(self) -> Sequence[Sequence[SSAValue]]:
        """The groups, in the order in which the program first has them."""
        by_root: dict[SSAValue, list[SSAValue]] = {}
        for value in self._parent:
            by_root.setdefault(self._root(value), []).append(value)
        return list(by_root.values())

    def _root(self, value: SSAValue) -> SSAValue:
        parent = self._parent.setdefault(value, value)
        while parent != value:
            value, parent = parent, self._parent[parent]
        return value


def is_constant(value: SSAValue) -> bool:
    """Whether a tile is made of one number, and is nowhere yet."""
    return isinstance(value.owner, CONSTANTS)


def _tmem_accumulator(
    values: Sequence[SSAValue], products: Sequence[MatrixProduct]
) -> TmemAccumulator:
    """Return the tensor memory accumulator of a web of values, with its first and last access."""
    own = set(values)
    first = products[0]
    opens = _opening(first, own)
    reads = [use for value in values for use in _reads(value)]
    if not reads:
        raise op_error(first, "multiplies into tensor memory, and nobody reads what it gives")
    # The columns are overwritten in place, so only the last value is there to be read; and the
    # reads have to stand after all products in one block, where the order is known.
    finals = {root for root, _ in reads}
    if len(finals) > 1:
        raise op_error(reads[-1][1], "reads sums in tensor memory that were read before they end")
    block = common_block([opens, *(op for _, op in reads)])
    if block is None or _repeats_inside(opens, block):
        raise op_error(opens, "begins sums in tensor memory again before the last ones are read")
    order = {op: k for k, op in enumerate(block.ops)}
    readers = sorted({order[_ancestor(op, block)] for _, op in reads})
    last_product = max(order[_ancestor(op, block)] for op in (*products, opens))
    if readers[0] <= last_product:
        raise op_error(
            reads[0][1], "reads sums in tensor memory that products of the same agent go on with"
        )
    at = list(block.ops)
    tile = placed_tile(first.result.type)
    assert tile is not None
    return TmemAccumulator(tile, opens, at[readers[0]], at[readers[-1]], finals.pop(), products)


def _opening(first: Operation, own: set[SSAValue]) -> Operation:
    """Return the single operation where a constant becomes the accumulator; else raise."""
    found: dict[Operation, None] = {}
    for value in own:
        if isinstance(value.owner, AllocTensorOp):
            raise op_error(first, "begins sums in tensor memory with a tile from elsewhere")
        for op, operand in _inputs(value):
            if operand not in own:
                if not is_constant(operand):
                    raise op_error(op, "begins sums in tensor memory with a tile from elsewhere")
                found[op] = None
    if len(found) != 1:
        raise op_error(first, f"adds to sums in tensor memory that begin at {len(found)} places")
    return next(iter(found))


def _inputs(value: SSAValue) -> Iterator[tuple[Operation, SSAValue]]:
    """What comes in where a value is: C of a product, or the first value of a loop."""
    owner = value.owner
    if isinstance(owner, MatrixProduct):
        yield owner, owner.c
    elif isinstance(owner, scf.ForOp):
        yield owner, owner.iter_args[owner.results.index(value)]


def _reads(value: SSAValue) -> Iterator[tuple[SSAValue, Operation]]:
    """The operations that read a value, and the whole that they read a part of."""
    for use in value.uses:
        op = use.operation
        match op:
            case ConvertLayoutOp() | CopyOp():
                yield value, op
            case ExtractSliceOp():
                yield from ((value, reader) for _, reader in _reads(op.result))
            case op if isinstance(op, MatrixProduct) and use.index == 2:
                continue
            case WaitOp() | FutureWaitOp() | scf.ForOp() | scf.YieldOp() | PipelineYieldOp():
                continue
            case _:
                raise op_error(op, "uses sums in tensor memory; they are read into registers first")


def _ancestor(op: Operation, block: Block) -> Operation:
    """The operation of a block that an operation is in."""
    found = block.find_ancestor_op_in_block(op)
    assert found is not None
    return found


def common_block(ops: Sequence[Operation]) -> Block | None:
    """The innermost block that all operations are in."""
    block = ops[0].parent
    while block is not None:
        if all(block.find_ancestor_op_in_block(op) is not None for op in ops):
            return block
        parent = block.parent_op()
        block = None if parent is None else parent.parent
    return None


def _repeats_inside(op: Operation, block: Block) -> bool:
    """Whether control flow between a block and an operation in it may run it more or less often."""
    parent = op.parent_op()
    while parent is not None and parent is not block.parent_op():
        if isinstance(parent, scf.ForOp | scf.IfOp | scf.WhileOp):
            return True
        parent = parent.parent_op()
    return False
