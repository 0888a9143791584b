"""Gather and scatter rows by TMA: accesses through pointers to rows of an array, by their numbers.

    %p = addptr %base, %rows[%r] * %stride + %first + %c
    %m = %rows[%r] < %height && %first + %c < %width
    %t = nv_tileas.load %p mask %m {padding_value = 0.0}

becomes, for TMA fills with zeros what the array does not have,

    %a = make_memref %base, sizes [%height, %width], strides [%stride]
    %t = nv_tileas.gather_load (view %a)[%rows, %first + %c] {atom = tma_load_2d<mode = gather4>}

and a store a `scatter_store` with `tma_store_2d<mode = scatter4>`, where `%first` is a multiple of
the columns of the tile.  The mask says the extents of the array: without one nobody knows them.  In
a loop, threads copy rows ahead (cp.async), and TMA would not.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import arith, func, tensor
from xdsl.dialects.builtin import DYNAMIC_INDEX, IndexType, IntegerAttr, TensorType, i32, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import enclosing, is_side_effect_free
from tileas_xdsl.dialects.nv_tileaa.memory.pointers import AddPtrOp
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp, array_type
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.element_access import (
    GatherLoadOp,
    LoadOp,
    ScatterStoreOp,
    StoreOp,
)
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType
from tileas_xdsl.transforms.choose_tma.element_expressions import (
    COLUMN,
    Expression,
    matrix_element,
)

UNSIGNED_LESS = 6
"""The predicate `ult` of `arith.cmpi`."""

GATHER = AtomAttr.of("tma_load_2d", mode="gather4")
SCATTER = AtomAttr.of("tma_store_2d", mode="scatter4")


@dataclass(frozen=True)
class MovedRows:
    """Rows of an array: its pointer, extents and row stride, which rows, and the first column."""

    pointer: SSAValue
    height: SSAValue
    width: SSAValue
    stride: SSAValue | int
    rows: SSAValue
    """A vector of i32."""
    first: Expression | None
    """None is 0."""


def tile_moved(op: LoadOp | StoreOp) -> Attribute:
    """Return the type of the tile that an access moves."""
    return op.result.type if isinstance(op, LoadOp) else op.value.type


def rows_moved(op: LoadOp | StoreOp) -> MovedRows | None:
    """Return what an access through pointers moves; None where that is not known to be rows."""
    moved, shape = op.base.owner, shape_of(tile_moved(op))
    if not isinstance(moved, AddPtrOp) or op.mask is None or shape is None or op.coords:
        return None
    splat = moved.base.owner
    offset, mask = matrix_element(moved.offset), matrix_element(op.mask)
    if not isinstance(splat, tensor.SplatOp) or offset is None or mask is None:
        return None
    return _gather(splat.operands[0], offset, mask, shape)


def _gather(
    pointer: SSAValue, offset: Expression, mask: Expression, shape: Sequence[int]
) -> MovedRows | None:
    # The offset has to read `rows[i] * stride + column`: sorted by length, the column is the
    # product of one factor and comes first.
    terms = [_product(term) for term in offset.operands_of(arith.AddiOp.name)]
    if offset.type != i64 or len(terms) != 2:
        return None
    terms.sort(key=len)
    (column, *others), scaled = terms
    rows = [part for part in scaled if part.without_casts().name == "entry"]
    steps = [part for part in scaled if part not in rows]
    if others or len(rows) != 1 or len(steps) != 1:
        return None
    row, stride = rows[0].without_casts(), _uniform(steps[0])
    bounds = _bounds(mask, row, column.without_casts())
    first = _first_column(column.without_casts(), shape[-1])
    if bounds is None or stride is None or first is None or row.type != i32:
        return None
    if row.value is None or shape_of(row.value.type) != tuple(shape[:1]):
        return None
    height, width = bounds
    return MovedRows(pointer, height, width, stride, row.value, first[0])


def _product(term: Expression) -> list[Expression]:
    """Return the factors of a term without those that are the constant 1."""
    return [part for part in term.operands_of(arith.MuliOp.name) if part.constant != 1] or [term]


def _uniform(part: Expression) -> SSAValue | int | None:
    found = part.without_casts()
    return found.constant if found.name == "constant" else found.value


def _bounds(mask: Expression, row: Expression, column: Expression) -> list[SSAValue] | None:
    """Return height and width, if a mask says that rows and columns are below them."""
    tests = list(mask.operands_of(arith.AndIOp.name))
    found: list[SSAValue] = []
    for wanted in (row, column):
        limits = [
            limit
            for test in tests
            if (limit := _limit(test, wanted)) is not None
        ]  # fmt: skip
        if len(limits) != 1:
            return None
        found.append(limits[0])
    return found if len(tests) == len(found) else None


def _limit(test: Expression, wanted: Expression) -> SSAValue | None:
    """Return the number that something is compared with, as unsigned and to be less."""
    if test.name != arith.CmpiOp.name or test.constant != UNSIGNED_LESS:
        return None
    left, right = test.parts
    limit = right.without_casts()
    return limit.value if left.without_casts() == wanted and limit.name == "number" else None


def _first_column(column: Expression, width: int) -> tuple[Expression | None] | None:
    """Return where columns of i32 begin, at a multiple of `width`; None if they do not.

    As i32, sums wrap around as the coordinates of TMA do; a run from a multiple on does not.
    """
    if column == COLUMN:
        return (None,)
    if column.name != arith.AddiOp.name or column.type != i32:
        return None
    others = [part for part in column.parts if part.without_casts() != COLUMN]
    if len(others) != 1:
        return None
    (first,) = others
    return (first,) if _tiles(first, width) is not None else None


def _tiles(first: Expression, width: int) -> SSAValue | int | None:
    """Return a number divided by the width, if it is a product with the width or a constant."""
    if first.name == "constant" and first.constant is not None:
        return None if first.constant % width else first.constant // width
    made = None if first.value is None else first.value.owner
    if not isinstance(made, arith.MuliOp):
        return None
    for factor, other in ((made.lhs, made.rhs), (made.rhs, made.lhs)):
        constant = other.owner
        if isinstance(constant, arith.ConstantOp) and constant.value == IntegerAttr(width, i32):
            return factor
    return None


class RowWriter:
    """Writes the gather or scatter of rows in front of the access that it replaces."""

    def __init__(self, op: LoadOp | StoreOp, found: MovedRows, rewriter: PatternRewriter) -> None:
        self.op = op
        self.found = found
        self.rewriter = rewriter
        self.shape: Sequence[int] = shape_of(tile_moved(op)) or ()

    def view(self) -> ViewOp:
        """Make the array and its view, where everything that they are made of is known."""
        found, element = self.found, element_of(tile_moved(self.op))
        assert element is not None
        strides = [] if isinstance(found.stride, int) else [found.stride]
        known = found.stride if isinstance(found.stride, int) else DYNAMIC_INDEX
        type_ = array_type(element, [DYNAMIC_INDEX] * 2, [known, 1])
        array = MakeMemrefOp(found.pointer, [found.height, found.width], strides, type_)
        array.location = self.op.location
        values = [found.pointer, found.height, found.width, *strides]
        self.rewriter.insert(array, _behind(values, self.op))
        view = ViewOp(array.result, TiledViewType(self.shape, element, Space.GMEM))
        return self.rewriter.insert(view)

    def access(self, view: ViewOp) -> GatherLoadOp | ScatterStoreOp:
        """Make the gather or scatter."""
        op, coords = self.op, [self._rows(), self._columns()]
        if isinstance(op, StoreOp):
            return ScatterStoreOp(
                op.value,
                view.result,
                coords,
                atom=SCATTER,
                token=op.token,
                in_bounds=[False, False],
            )
        return GatherLoadOp(
            view.result,
            coords,
            op.result.type,
            atom=GATHER,
            token=op.token,
            in_bounds=[False, False],
            padding=op.padding_value,
        )

    def _rows(self) -> SSAValue:
        body = self._body()
        row = tensor.ExtractOp(self.found.rows, [body.args[0]], i32)
        number = arith.IndexCastOp(row.result, IndexType())
        return self._generate(body, [row, number], number.result)

    def _columns(self) -> SSAValue:
        body = self._body()
        if self.found.first is None:
            return self._generate(body, [], body.args[1])
        total = arith.AddiOp(self._first(self.found.first), body.args[1])
        return self._generate(body, [total], total.result)

    def _first(self, first: Expression) -> SSAValue:
        width = self.shape[-1]
        tiles = _tiles(first, width)
        assert tiles is not None
        if isinstance(tiles, int):
            number = IntegerAttr(tiles * width, IndexType())
            return self.rewriter.insert(arith.ConstantOp(number)).result
        tile = self.rewriter.insert(arith.IndexCastOp(tiles, IndexType())).result
        columns = self.rewriter.insert(arith.ConstantOp(IntegerAttr(width, IndexType()))).result
        return self.rewriter.insert(arith.MuliOp(tile, columns)).result

    def _body(self) -> Block:
        return Block(arg_types=[IndexType(), IndexType()])

    def _generate(self, body: Block, ops: Sequence[Operation], value: SSAValue) -> SSAValue:
        body.add_ops([*ops, YieldOp(value)])
        return self.rewriter.insert(GenerateOp(TensorType(IndexType(), self.shape), body)).result


def _behind(values: Sequence[SSAValue], op: Operation) -> InsertPoint:
    """Return the place behind all of some values if a function has them, else in front of `op`."""
    function = enclosing(op, func.FuncOp)
    assert function is not None
    entry = function.body.block
    makers = [value.owner for value in values]
    if any(maker is not entry and getattr(maker, "parent", None) is not entry for maker in makers):
        return InsertPoint.before(op)
    last = [made for made in entry.ops if made in makers]
    return InsertPoint.after(last[-1]) if last else InsertPoint.at_start(entry)


def erase_unused(values: Sequence[SSAValue], rewriter: PatternRewriter) -> None:
    """Erase what computes values that nothing uses any more."""
    waiting = list(values)
    while waiting:
        made = waiting.pop().owner
        if isinstance(made, Block) or made.parent is None:
            continue
        if not isinstance(made, GenerateOp) and not is_side_effect_free(made):
            continue
        if any(result.uses for result in made.results):
            continue
        waiting += [*made.operands, *(value for op in operations_in(made) for value in op.operands)]
        rewriter.erase(made)
