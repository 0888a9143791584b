"""Load a line that all rows of a tile are combined with once for each, rotated as the row is.

    %w = tiled_load %line[0]    : 1024xf16       %w = tiled_load %lines[0, 0] : 4x1024xf16
    %e = extf %w                : 1024xf32       %e = extf %w                 : 4x1024xf32
    %g = generate : 4x1024xf32 {             ->  %g = generate : 4x1024xf32 {
    ^bb0(%i, %j): yield extract %e[%j] }         ^bb0(%i, %j): yield extract %e[%i, %j] }

`%lines` is the array of the line with a stride of 0 from row to row.  Threads of a warp that has
one row hold no more of it than they did.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from xdsl.builder import Builder
from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import IndexType, IntegerAttr, TensorType
from xdsl.ir import Attribute, OpResult, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter
from xdsl.utils.hints import isa

from tileas_xdsl.analysis.values.launches.pointer_base_arrays import without_promises
from tileas_xdsl.dialects.ir_queries import uniform_constant
from tileas_xdsl.dialects.nv_tileaa.memory.views import MakeMemrefOp, array_type, strides_of
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.types import TiledViewType
from tileas_xdsl.transforms.assign_layouts.writing.tile_encodings import set_type


def is_repeatable(op: TiledLoadOp | TiledStoreOp) -> bool:
    """Whether an access is the load of a line of an array of one dimension."""
    return isinstance(op, TiledLoadOp) and len(op.coords) == 1


def repeat_lines(
    lines: Iterable[SSAValue], reads: Iterable[tensor.ExtractOp], extents: Sequence[int]
) -> dict[TiledLoadOp, TiledLoadOp]:
    """Have lines as many rows as tiles of `extents`, where `reads` take elements of them.

    Returns what is loaded instead, by the loads that are gone.
    """
    replaced: dict[TiledLoadOp, TiledLoadOp] = {}
    for read in reads:
        block = read.parent
        assert block is not None
        Rewriter.replace_op(read, tensor.ExtractOp(read.tensor, block.args, read.result.type))
    for line in lines:
        assert isinstance(line, OpResult)
        match line.op:
            case TiledLoadOp() as op:
                replaced[op] = _load_rows(op, extents)
            case ExpandDimsOp() | ViewOp() as op:
                Rewriter.replace_op(op, [], [op.source])
            case arith.ConstantOp() as op:
                number = uniform_constant(line)
                assert number is not None, "only uniform constants are followed"
                build = Builder(InsertPoint.before(op))
                made = constant(build, number.value.data, _repeated(line.type, extents))
                Rewriter.replace_op(op, [], [made])
            case _:
                set_type(line, _repeated(line.type, extents))
    return replaced


def _repeated(type_: Attribute, extents: Sequence[int]) -> TensorType[Attribute]:
    assert isa(type_, TensorType[Attribute])
    return TensorType(type_.element_type, extents)


def _load_rows(op: TiledLoadOp, extents: Sequence[int]) -> TiledLoadOp:
    """Load a line of each row."""
    view = op.view.owner
    assert isinstance(view, ViewOp)
    line = without_promises(view.source).owner
    assert isinstance(line, MakeMemrefOp)
    array, rows = line.array, extents[:-1]
    type_ = array_type(
        array.element_type,
        [*rows, *array.get_shape()],
        [*(0 for _ in rows), *strides_of(array)],
    )
    build = Builder(InsertPoint.before(op))
    lines = build.insert(
        MakeMemrefOp(
            line.pointer,
            line.sizes,
            line.strides,
            offset=line.offset,
            alias_scope=None if line.alias_scope is None else line.alias_scope.value.data,
            result_type=type_,
        )
    )
    assert isinstance(view.result.type, TiledViewType)
    kind = TiledViewType(extents, array.element_type, view.result.type.residency)
    window = build.insert(ViewOp(lines.result, kind))
    zero = build.insert(arith.ConstantOp(IntegerAttr(0, IndexType()))).result
    made = TiledLoadOp(
        window.result,
        [*(zero for _ in rows), *op.coords],
        token=op.token,
        atom=op.atom,
        padding=op.padding_value,
        result_type=_repeated(op.result.type, extents),
    )
    made.attributes.update(op.attributes)
    made.location, made.result.name_hint = op.location, op.result.name_hint
    Rewriter.replace_op(op, made)
    return made
