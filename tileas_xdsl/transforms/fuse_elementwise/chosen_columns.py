"""One column of a row that is computed on its own, where a program has a mask for it.

    %m = generate { cmpi eq, %j, %k }                     %v1 = view %a : 1x1
    %x = tiled_load %v[%i, 0] : 1x4096                    %x1 = tiled_load %v1[%i, %k] : 1x1
    %e = exp %x                                           %e = exp %x     %e1 = exp %x1
    %c = generate { select %m, %e, 0.0 }            ->
    %r = reduce %c { addf }                               %r = select (%k <u 4096), %e1, 0.0
    %g = subf %e, generate { select %m, 1.0, 0.0 }        %g1 = subf %e1, 1.0
    tiled_store %g, %w[%i, 0]                             %t = tiled_store %e, %w[%i, 0]
                                                          tiled_store %g1, %w1[%i, %k] after %t

A program without subscripts takes the logit of a label so, and subtracts 1 from the weight of one:
a comparison, a selection and a sum for each of thousands of columns, of which one counts.  All that
the column is made of is loaded, or known for the row.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from math import prod

from xdsl.builder import Builder
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import FloatAttr, IndexType, IntegerAttr, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern
from xdsl.rewriter import InsertPoint
from xdsl.utils.hints import isa

from tileas_xdsl.analysis.values.one_hot import EQUAL, keeps
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import constant_integer, enclosing_function, uniform_constant
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType
from tileas_xdsl.dialects.xdsl_ops import on_types
from tileas_xdsl.threads.gmem.pointers.base_arrays import origins, touches
from tileas_xdsl.transforms.fuse_elementwise.profitability import is_elementwise

FEWEST = 128
"""Columns of a row from which on one of them is worth instructions of its own."""


class UnknownColumnError(Exception):
    """A tile is made of more than what is loaded of one column, or known for the row."""


@dataclass(frozen=True)
class ChosenColumn:
    """A selection between two values of a row, of which the first counts in one column."""

    made: GenerateOp
    choice: arith.SelectOp
    position: SSAValue
    """The number of the column, of the body or outside of it."""

    @staticmethod
    def of(tile: SSAValue) -> ChosenColumn | None:
        """The selection that a tile of one row is, or None."""
        made, shape = tile.owner, shape_of(tile.type) or (0,)
        if not isinstance(made, GenerateOp) or prod(shape) != shape[-1] or shape[-1] < FEWEST:
            return None
        end = made.body.block.last_op
        choice = end.operands[0].owner if isinstance(end, YieldOp) else None
        if not isinstance(choice, arith.SelectOp):
            return None
        position = _position(choice.cond, made.body.block)
        return None if position is None else ChosenColumn(made, choice, position)

    @property
    def rank(self) -> int:
        """Dimensions of the tile."""
        return len(self.made.body.block.args)

    @property
    def width(self) -> int:
        """Columns of the row."""
        return (shape_of(self.made.result.type) or (1,))[-1]

    def index(self, build: Builder) -> SSAValue:
        """Compute the number of the column where it is the same for all elements."""
        value, made = self.position, self.position.owner
        if isinstance(made, tensor.ExtractOp) and made.parent is self.made.body.block:
            zeros = [_index(build, 0)] * len(made.indices)
            value = build.insert(tensor.ExtractOp(made.tensor, zeros, value.type)).result
        if isinstance(value.type, IndexType):
            return value
        return build.insert(arith.IndexCastOp(value, IndexType())).result


def _position(condition: SSAValue, block: Block) -> SSAValue | None:
    """What the last coordinate is compared with: one number for all elements."""
    compared = condition.owner
    if not isinstance(compared, arith.CmpiOp) or compared.predicate.value.data != EQUAL:
        return None
    sides = [_uncast(side, block) for side in compared.operands]
    if block.args[-1] not in sides:
        return None
    other = sides[1 - sides.index(block.args[-1])]
    made = other.owner
    if isinstance(made, tensor.ExtractOp) and made.parent is block:
        return other if prod(shape_of(made.tensor.type) or ()) == 1 else None
    return None if (made if isinstance(made, Block) else made.parent) is block else other


def _uncast(value: SSAValue, block: Block) -> SSAValue:
    while isinstance(made := value.owner, arith.IndexCastOp) and made.parent is block:
        value = made.input
    return value


class _Column:
    """Computes one column of tiles of a row, each of which becomes a tile of one element."""

    def __init__(self, build: Builder, column: SSAValue, width: int) -> None:
        self.build, self.column, self.width = build, column, width
        self.known: dict[SSAValue, SSAValue] = {}

    def of(self, tile: SSAValue) -> SSAValue:
        """The element of a tile in the column; `UnknownColumnError` if it takes others, too."""
        if tile not in self.known:
            self.known[tile] = self._made(tile)
        return self.known[tile]

    def of_side(self, op: GenerateOp, side: SSAValue) -> SSAValue:
        """The element of a tile that would have one value of a body."""
        block, made = op.body.block, Block(arg_types=[IndexType()] * len(op.body.block.args))
        values: dict[SSAValue, SSAValue] = dict(zip(block.args, made.args, strict=True))
        for inner in _behind(side, block):
            if isinstance(inner, tensor.ExtractOp) and (*inner.indices,) == (*block.args,):
                values[inner.tensor] = self.of(inner.tensor)
            elif block.args[-1] in inner.operands:
                raise UnknownColumnError
            made.add_op(inner.clone(values))
        made.add_op(YieldOp(values.get(side, side)))
        type_ = self._type(op.result)
        return self.build.insert(GenerateOp(type_, Region(made))).result

    def place(self, tile: SSAValue) -> SSAValue:
        """Where the column is, counted in elements, of a tile that is counted in tiles."""
        first = self.build.insert(arith.MuliOp(tile, _index(self.build, self.width))).result
        return self.build.insert(arith.AddiOp(first, self.column)).result

    def view(self, op: TiledLoadOp | TiledStoreOp) -> SSAValue:
        """A view of the array of an access, by elements."""
        view, ones = op.view.owner, [1] * len(op.coords)
        if not isinstance(view, ViewOp) or not view.is_whole or op.offsets:
            raise UnknownColumnError
        kind = view.result.type
        if not isinstance(kind, TiledViewType) or shape_of(kind) != (*ones[1:], self.width):
            raise UnknownColumnError
        if op.mem_semantic is not None:
            raise UnknownColumnError
        single = TiledViewType(ones, kind.element_type, kind.residency)
        return self.build.insert(ViewOp(view.source, single)).result

    def _made(self, tile: SSAValue) -> SSAValue:
        build, made, shape = self.build, tile.owner, shape_of(tile.type) or (0,)
        if prod(shape) != self.width or shape[-1] != self.width:
            raise UnknownColumnError
        match made:
            case arith.ConstantOp() if (number := uniform_constant(tile)) is not None:
                return constant(build, number.value.data, self._type(tile))
            case GenerateOp():
                end = made.body.block.last_op
                assert isinstance(end, YieldOp)
                return self.of_side(made, end.operands[0])
            case TiledLoadOp() if made.mask is None:
                return self._loaded(made)
            case Operation() if is_elementwise(made):
                operands = [self.of(value) for value in made.operands]
                return build.insert(on_types(made, operands, [self._type(tile)])).results[0]
            case _:
                raise UnknownColumnError

    def _type(self, tile: SSAValue) -> TensorType[Attribute]:
        element, shape = element_of(tile.type), shape_of(tile.type) or ()
        assert element is not None
        return TensorType(element, [1] * len(shape))

    def _loaded(self, op: TiledLoadOp) -> SSAValue:
        arrays, function = origins(op.view), enclosing_function(op)
        assert function is not None
        accesses = touches(operations_in(function))
        if any(one.writes and one.arrays & arrays for one in accesses):
            raise UnknownColumnError
        coords = [*op.coords[:-1], self.place(op.coords[-1])]
        view = self.view(op)
        made = TiledLoadOp(view, coords, atom=op.atom, token=op.token, padding=op.padding_value)
        made.location = op.location
        return self.build.insert(made).result


def _behind(value: SSAValue, block: Block) -> Iterator[Operation]:
    """The operations of a block that a value of it is made by, in their order."""
    wanted = {value}
    found = list[Operation]()
    for op in reversed([*block.ops]):
        if wanted & set(op.results):
            wanted |= set(op.operands)
            found.append(op)
    yield from reversed(found)


def _index(build: Builder, value: int) -> SSAValue:
    return build.insert(arith.ConstantOp(IntegerAttr(value, IndexType()))).result


class ReduceChosenColumn(RewritePattern):
    """Load the column that a reduction takes of a row, in the place of all others."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ReduceOp, rewriter: PatternRewriter) -> None:
        chosen = ChosenColumn.of(op.source) if len(op.sources) == 1 else None
        if chosen is None or op.axis.value.data != chosen.rank - 1:
            return
        other, scratch = uniform_constant(chosen.choice.rhs), Block()
        if other is None or not keeps(op, other):
            return
        build = Builder(InsertPoint.at_end(scratch))
        index = chosen.index(build)
        try:
            found = _Column(build, index, chosen.width).of_side(chosen.made, chosen.choice.lhs)
        except UnknownColumnError:
            scratch.erase()
            return
        is_inside = build.insert(arith.CmpiOp(index, _index(build, chosen.width), "ult")).result
        block = Block(arg_types=[IndexType()] * (chosen.rank - 1))
        inner = Builder(InsertPoint.at_end(block))
        zeros = [_index(inner, 0)] * chosen.rank
        value = inner.insert(tensor.ExtractOp(found, zeros, other.type)).result
        number = inner.insert(arith.ConstantOp(other)).result
        value = inner.insert(arith.SelectOp(is_inside, value, number)).result
        # What the others are counts, too: the sum of -0.0 and 0.0 is 0.0.
        given: dict[SSAValue, SSAValue] = dict(
            zip(op.body.block.args, (value, number), strict=True)
        )
        for one in op.body.block.ops:
            inner.insert(one.clone(given))
        result_type = op.results[0].type
        assert isa(result_type, TensorType[Attribute])
        rewriter.insert(_detached(scratch))
        rewriter.replace(op, GenerateOp(result_type, Region(block)))


class StoreChosenColumn(RewritePattern):
    """Store the column in which a row differs behind the row, which is computed as elsewhere."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: TiledStoreOp, rewriter: PatternRewriter) -> None:
        chosen = next(_choices_behind(op.value), None)
        if chosen is None or op.out_token is None or not _is_zero(op.coords[-1]):
            return
        scratch = Block()
        build = Builder(InsertPoint.at_end(scratch))
        index, tile = chosen.index(build), chosen.made.result
        column = _Column(build, index, chosen.width)
        try:
            column.known[tile] = column.of_side(chosen.made, chosen.choice.lhs)
            value, view = column.of(op.value), column.view(op)
        except UnknownColumnError:
            scratch.erase()
            return
        is_inside = build.insert(arith.CmpiOp(index, _index(build, chosen.width), "ult")).result
        place = build.insert(arith.SelectOp(is_inside, index, _index(build, -1))).result
        rewriter.insert(_detached(scratch))
        _take_other(chosen, rewriter)
        store = TiledStoreOp(
            value, view, [*op.coords[:-1], place], atom=op.atom, token=op.out_token
        )
        store.location = op.location
        rewriter.insert(store, InsertPoint.after(op))
        assert store.out_token is not None
        op.out_token.replace_uses_with_if(store.out_token, lambda use: use.operation is not store)


def _choices_behind(tile: SSAValue) -> Iterator[ChosenColumn]:
    """The choices that nothing reads but what a tile is computed of, element by element."""
    if len([*tile.uses]) != 1:
        return
    if (chosen := ChosenColumn.of(tile)) is not None:
        yield chosen
    elif isinstance(made := tile.owner, Operation) and is_elementwise(made):
        for value in dict.fromkeys(made.operands):
            yield from _choices_behind(value)


def _take_other(chosen: ChosenColumn, rewriter: PatternRewriter) -> None:
    """Compute a row as it is in all other columns: `x - 0.0` is `x`."""
    tile, other = chosen.made.result, chosen.choice.rhs
    (use,) = tile.uses
    number, reader = uniform_constant(other), use.operation
    is_zero = isinstance(number, FloatAttr) and str(number.value.data) == "0.0"
    if is_zero and isinstance(reader, arith.SubfOp) and reader.rhs is tile:
        rewriter.replace(reader, [], [reader.lhs])
        return
    end = chosen.made.body.block.last_op
    assert end is not None
    end.operands[0] = other
    rewriter.notify_op_modified(chosen.made)


def _is_zero(index: SSAValue) -> bool:
    made = index.owner
    return constant_integer(made.input if isinstance(made, arith.IndexCastOp) else index) == 0


def _detached(block: Block) -> Sequence[Operation]:
    """Take the operations out of a block."""
    found = [*block.ops]
    for op in found:
        op.detach()
    return found
