"""The pass `tileas-load-tables`: a gather from a small table loads the table once.

    %i = ... : tensor<128x64xi64>                            0 to 15, by its bits
    %p = addptr (splat %code), %i
    %m = generate { cmpi ult %i, %n }
    %v = load %p mask %m                                     8,192 addresses and comparisons

becomes

    %q = addptr (splat %code), (generate { %k })             32 addresses, in front of the loop
    %t = load %q mask (generate { cmpi ult %k, %n })         what is masked has its padding
    %v = generate { tensor.extract %t[%i] }                  a shuffle for each element

Codebooks of quantised weights are such tables (NF4 has 16 entries).  What an access does is as
before: entries inside of the array are read weakly, behind the same token.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, scf, tensor
from xdsl.dialects.builtin import IndexType, ModuleOp, TensorType, i1, i64
from xdsl.ir import Attribute, Block, BlockArgument, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint

from tileas_xdsl.analysis.values.integer_bounds import is_inside, upper_bound
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import uniform_integer
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.memoized_walks import memoized_walk
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import AddPtrOp
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.enums import MemSemantic
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of

ENTRIES = 32
"""Of a table: one for each lane of a warp."""

BELOW = (2, 6)
"""Predicates of `arith.cmpi`: slt, ult."""

MIN_ELEMENTS = 256
"""Of a gather; fewer are no gain beside the load of a table."""


@dataclass(frozen=True)
class TileasLoadTables(ModulePass):
    """Load tables of at most 32 entries once, and take elements of them from registers.

    Needs: kernels of tiles, before layouts are chosen.

    Leaves: weak gathers from one base whose indices are known to be 0 to 31, and whose mask is
    that they are inside of the array, as an extraction from a tile of 32.  Others stay.
    """

    name = "tileas-load-tables"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for load in instances_in(op, LoadOp):
            gather = _Gather.of(load)
            if gather is not None:
                gather.write()


@dataclass(frozen=True)
class _Gather:
    load: LoadOp
    base: SSAValue
    index: SSAValue
    bound: arith.CmpiOp | None
    """The comparison of an index with the extent of the array, in the body of the mask."""

    @staticmethod
    def of(load: LoadOp) -> _Gather | None:
        """Return a load by indices of a small table; None for all others."""
        pointers, shape = load.base.owner, shape_of(load.result.type)
        semantic = load.mem_semantic
        if semantic is not None and semantic.data is not MemSemantic.WEAK:
            return None
        if not shape or prod(shape) < MIN_ELEMENTS or load.coords:
            return None
        if not isinstance(pointers, AddPtrOp):
            return None
        splat = pointers.base.owner
        if not isinstance(splat, tensor.SplatOp):
            return None
        index = _without_unit_stride(pointers.offset)
        bound = upper_bound(index)
        if bound is None or bound >= ENTRIES or element_of(index.type) != i64:
            return None
        compared = None if load.mask is None else _compared(load.mask, index)
        if load.mask is not None and compared is None:
            return None
        return _Gather(load, splat.input, index, compared)

    def write(self) -> None:
        """Put the load of the table in front, and the extraction in place of the gather."""
        load = self.load
        front = Builder(InsertPoint.before(self._anchor()))
        entries = front.insert(_generated(i64, (ENTRIES,), lambda args: [_cast(args[0], i64)]))
        bases = front.insert(tensor.SplatOp(self.base, [], _tile(self.base.type, (ENTRIES,))))
        places = front.insert(AddPtrOp(bases.result, entries.result))
        operands: list[SSAValue] = [places.results[0]]
        if self.bound is not None:
            operands.append(front.insert(_mask(self.bound)).result)
        operands += load.operands[len(operands) :]
        table = LoadOp.create(
            operands=operands,
            result_types=[_tile(self._element, (ENTRIES,)), *load.result_types[1:]],
            properties=dict(load.properties),
            attributes=dict(load.attributes),
        )
        front.insert(table)
        made = Builder(InsertPoint.before(load)).insert(self._taken(table.results[0]))
        for old, new in zip(load.results, (made.result, *table.results[1:]), strict=True):
            old.replace_all_uses_with(new)
        load.detach()
        load.erase()

    def _anchor(self) -> Operation:
        """Return the outermost loop that makes nothing that the table is loaded by, or the load."""
        needed = [self.base, *self.load.operands[1 if self.load.mask is None else 2 :]]
        if self.bound is not None:
            needed.append(self.bound.rhs)
        found: Operation = self.load
        while isinstance(loop := found.parent_op(), scf.ForOp):
            if any(_is_made_in(value, loop) for value in needed):
                break
            found = loop
        return found

    @property
    def _element(self) -> Attribute:
        element = element_of(self.load.result.type)
        assert element is not None
        return element

    def _taken(self, table: SSAValue) -> GenerateOp:
        def body(args: Sequence[SSAValue]) -> list[Operation]:
            number = tensor.ExtractOp(self.index, args, i64)
            place = _cast(number.result, IndexType())
            return [number, place, tensor.ExtractOp(table, [place.result], self._element)]

        return _generated(self._element, shape_of(self.load.result.type) or (), body)


def _without_unit_stride(offset: SSAValue) -> SSAValue:
    """Return the indices of offsets that are their multiples by 1."""
    made = offset.owner
    if isinstance(made, arith.MuliOp) and uniform_integer(made.rhs) == 1:
        return made.lhs
    return offset


def _compared(mask: SSAValue, index: SSAValue) -> arith.CmpiOp | None:
    """Return the comparison of the same indices with a bound, of which a mask consists."""
    made, given = mask.owner, index.owner
    if not isinstance(made, GenerateOp) or not isinstance(given, GenerateOp):
        return None
    mine, theirs = made.body.block, given.body.block
    if mine.last_op is None or theirs.last_op is None:
        return None
    found = mine.last_op.operands[0].owner
    if not isinstance(found, arith.CmpiOp) or found.predicate.value.data not in BELOW:
        return None
    is_same = _is_same(found.lhs, mine, theirs.last_op.operands[0], theirs)
    return found if is_same and not is_inside(found.rhs, mine) else None


@memoized_walk
def _is_same(a: SSAValue, block: Block, b: SSAValue, other: Block) -> bool:
    """Whether two bodies compute the same of the same coordinates."""
    if not is_inside(a, block) or not is_inside(b, other):
        return a is b
    if isinstance(a, BlockArgument) or isinstance(b, BlockArgument):
        return isinstance(a, BlockArgument) and isinstance(b, BlockArgument) and a.index == b.index
    made, given = a.owner, b.owner
    assert isinstance(made, Operation)
    assert isinstance(given, Operation)
    return (
        type(made) is type(given)
        and made.properties == given.properties
        and made.result_types == given.result_types
        and len(made.operands) == len(given.operands)
        and all(
            _is_same(mine, block, theirs, other)
            for mine, theirs in zip(made.operands, given.operands, strict=True)
        )
    )


def _is_made_in(value: SSAValue, loop: scf.ForOp) -> bool:
    owner = value.owner
    inner = owner.parent_op() if isinstance(owner, Block) else owner
    while inner is not None and inner is not loop:
        inner = inner.parent_op()
    return inner is loop


def _mask(bound: arith.CmpiOp) -> GenerateOp:
    """The entries that are inside of the array."""

    def body(args: Sequence[SSAValue]) -> list[Operation]:
        number = _cast(args[0], i64)
        return [number, arith.CmpiOp(number.result, bound.rhs, bound.predicate.value.data)]

    return _generated(i1, (ENTRIES,), body)


def _generated(
    element: Attribute,
    shape: Sequence[int],
    body: Callable[[Sequence[SSAValue]], list[Operation]],
) -> GenerateOp:
    block = Block(arg_types=[IndexType()] * len(shape))
    block.add_ops(operations := body(block.args))
    block.add_op(YieldOp(operations[-1].results[0]))
    return GenerateOp(_tile(element, shape), block)


def _cast(value: SSAValue, type_: Attribute) -> arith.IndexCastOp:
    return arith.IndexCastOp(value, type_)


def _tile(element: Attribute, shape: Sequence[int]) -> TensorType[Attribute]:
    return TensorType(element, shape)
