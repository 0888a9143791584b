"""Dimensions of tiles that can only be cut together, and those that cannot be cut.

    %s = dot %q, %k, %zero : 256x64, 64x128, 256x128      (q, 0) ~ (zero, 0) ~ (s, 0)
    %m = reduce %s {axis = 1}                             (s, 0) ~ (m, 0); (s, 1) stays whole
    %x = mulf %s, %t                                      (s, i) ~ (t, i) ~ (x, i)

A class is all that these relations connect.  Cutting a class in N parts, and running the program
for one part after another, computes the same: what one part reads of another would be a relation
to a dimension that stays whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects import arith, func, scf, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, NoneAttr
from xdsl.ir import BlockArgument, Operation, SSAValue

from tileas_xdsl.dialects.dense_elements import is_splat
from tileas_xdsl.dialects.nv_tileas.attributes import SharedEncoding
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp, ScanOp
from tileas_xdsl.dialects.nv_tileas.control import YieldOp
from tileas_xdsl.dialects.nv_tileas.memory.atomics import AtomicRmwOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadOp, StoreOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ExpandDimsOp, GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import is_dense_transpose
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile

Dim: TypeAlias = tuple[SSAValue, int]
"""A dimension of a tile."""

SAME_SHAPE = ("arith.", "math.", "nv_tileaa.addptr", "nv_tileas.convert_layout")
"""Operations, by the beginning of their names, whose tiles all correspond element by element."""


def tile_shape(value: SSAValue) -> tuple[int, ...]:
    """Return the extents of a tile; none for anything else."""
    tile = as_tile(value.type)
    return () if tile is None else tuple(tile.get_shape())


class DimensionClasses:
    """The classes of the dimensions of all tiles inside of an operation.

    Reductions and products that `may_cross` admits keep the dimension that they combine in its
    class: their partial results have to be combined by whoever cuts it.
    """

    def __init__(
        self, root: Operation, may_cross: Callable[[ReduceOp | DotOp], bool] = lambda _: False
    ) -> None:
        self.may_cross = may_cross
        self._parent: dict[Dim, Dim] = {}
        self._whole: set[Dim] = set()
        for op in root.walk():
            _relate(self, op)

    def find(self, dim: Dim) -> Dim:
        """Return the representative of the class of a dimension."""
        while (above := self._parent.get(dim, dim)) != dim:
            dim = above
        return dim

    def join(self, one: Dim, other: Dim) -> None:
        """Let two dimensions be cut together only."""
        a, b = self.find(one), self.find(other)
        if tile_shape(one[0])[one[1]] != tile_shape(other[0])[other[1]]:
            self._whole.update((a, b))
        if a == b:
            return
        self._parent[a] = b
        if a in self._whole:
            self._whole.add(b)

    def join_all(self, values: Sequence[SSAValue]) -> None:
        """Relate tiles that correspond element by element."""
        tiles = [(value, len(shape)) for value in values if (shape := tile_shape(value))]
        for value, rank in tiles[1:]:
            first, its_rank = tiles[0]
            if rank != its_rank:
                self.keep_whole(first, value)
                continue
            for k in range(rank):
                self.join((first, k), (value, k))

    def keep_whole(self, *values: SSAValue) -> None:
        """Let no dimension of some tiles be cut."""
        for value in values:
            for k in range(len(tile_shape(value))):
                self.keep_dimension((value, k))

    def keep_dimension(self, dim: Dim) -> None:
        """Let a dimension not be cut."""
        self._whole.add(self.find(dim))

    def members(self, root: Operation) -> Mapping[Dim, Mapping[SSAValue, int]]:
        """Return by representative the tiles of each class that can be cut, with the dimension.

        A tile that two dimensions of one class belong to keeps the class whole.
        """
        found: dict[Dim, dict[SSAValue, int]] = {}
        for value in _values(root):
            for k, extent in enumerate(tile_shape(value)):
                representative = self.find((value, k))
                if extent == 1 or representative in self._whole:
                    continue
                of_class = found.setdefault(representative, {})
                if value in of_class:
                    self._whole.add(representative)
                of_class[value] = k
        return {one: tiles for one, tiles in found.items() if one not in self._whole}


def _values(root: Operation) -> Sequence[SSAValue]:
    found: list[SSAValue] = []
    for op in root.walk():
        found += op.results
        found += [arg for region in op.regions for block in region.blocks for arg in block.args]
    return found


def _relate(classes: DimensionClasses, op: Operation) -> None:
    """Add what an operation says about its tiles; unknown ones keep theirs whole."""
    tiles = [value for value in (*op.operands, *op.results) if tile_shape(value)]
    classes.keep_whole(*(tile for tile in tiles if _is_fixed(tile)))
    rule = RULES.get(type(op))
    if rule is not None:
        rule(classes, op)
    elif op.name.startswith(SAME_SHAPE) and not op.regions:
        classes.join_all(tiles)
    else:
        classes.keep_whole(*tiles)


def _is_fixed(tile: SSAValue) -> bool:
    """Whether a layout in shared memory was chosen that parts of the tile would not have."""
    type_ = as_tile(tile.type)
    encoding = NoneAttr() if type_ is None else type_.encoding
    return isinstance(encoding, SharedEncoding) and not is_dense_transpose(tile.type)


def _relate_nothing(classes: DimensionClasses, op: Operation) -> None:
    """Any dimension of what it makes may be cut, or operations around it say which."""


def _relate_constant(classes: DimensionClasses, op: arith.ConstantOp) -> None:
    if not isinstance(op.value, DenseIntOrFPElementsAttr) or not is_splat(op.value):
        classes.keep_whole(op.result)


def _relate_access(classes: DimensionClasses, op: TiledLoadOp | TiledStoreOp) -> None:
    tile = op.value if isinstance(op, TiledStoreOp) else op.result
    if not _is_simple(op):
        classes.keep_whole(tile)


def _relate_elements(classes: DimensionClasses, op: Operation) -> None:
    classes.join_all([*op.operands, *op.results])


def _relate_extracted(classes: DimensionClasses, op: tensor.ExtractOp) -> None:
    """In the body of a generated tile its rule says what is taken where."""
    if not isinstance(op.parent_op(), GenerateOp):
        classes.keep_whole(op.tensor)


def _relate_carried(classes: DimensionClasses, op: scf.ForOp) -> None:
    last = op.body.block.last_op
    assert last is not None
    groups = (op.iter_args, op.body.block.args[1:], last.operands, op.results)
    for group in zip(*groups, strict=True):
        classes.join_all(group)


def _relate_while(classes: DimensionClasses, op: scf.WhileOp) -> None:
    """Both regions pass on tiles: what is carried to the test, and what the test passes on."""
    before, after = op.before_region.block, op.after_region.block
    condition, last = before.last_op, after.last_op
    assert condition is not None
    assert last is not None
    for group in zip(op.arguments, before.args, last.operands, strict=True):
        classes.join_all(group)
    for group in zip(condition.operands[1:], after.args, op.results, strict=True):
        classes.join_all(group)


def _relate_branches(classes: DimensionClasses, op: scf.IfOp) -> None:
    for region in op.regions:
        if region.blocks and (last := region.block.last_op) is not None:
            for pair in zip(last.operands, op.results, strict=False):
                classes.join_all(pair)


def _is_simple(op: TiledLoadOp | TiledStoreOp) -> bool:
    """Whether a tile is counted in tiles of its own shape from the beginning of an array."""
    view = op.view.owner
    is_plain = isinstance(view, ViewOp) and not view.indices and view.offset is None
    tile = op.value if isinstance(op, TiledStoreOp) else op.result
    masked = isinstance(op, TiledLoadOp) and op.mask is not None
    return (
        is_plain
        and (not op.offsets or op.rotated is not None)
        and not masked
        and len(op.coords) == len(tile_shape(tile))
    )


def _relate_generated(classes: DimensionClasses, op: GenerateOp) -> None:
    """Elements are taken at coordinates of the generated one, or anywhere."""
    for inner in op.body.walk():
        if not isinstance(inner, tensor.ExtractOp):
            continue
        for k, index in enumerate(inner.indices):
            if isinstance(index, BlockArgument) and index.owner is op.body.block:
                classes.join((inner.tensor, k), (op.result, index.index))
            else:
                classes.keep_dimension((inner.tensor, k))


def _relate_combined(classes: DimensionClasses, op: ReduceOp | ScanOp) -> None:
    """All tiles correspond but for the dimension that is combined."""
    axis = op.axis.value.data
    classes.join_all(op.sources)
    if not isinstance(op, ReduceOp) or not classes.may_cross(op):
        for source in op.sources:
            classes.keep_dimension((source, axis))
    for source, output in zip(op.sources, op.outputs, strict=True):
        if len(tile_shape(output)) == len(tile_shape(source)):
            classes.join_all((source, output))
            continue
        kept = [k for k in range(len(tile_shape(source))) if k != axis]
        for index, k in enumerate(kept):
            classes.join((source, k), (output, index))


def _relate_view(classes: DimensionClasses, op: ViewOp) -> None:
    """The dimensions of a transpose correspond in reverse."""
    if not is_dense_transpose(op.result.type):
        _relate_unit_dimensions(classes, op)
    elif op.is_whole and tile_shape(op.source) == tile_shape(op.result)[::-1]:
        classes.join((op.source, 0), (op.result, 1))
        classes.join((op.source, 1), (op.result, 0))
    else:
        classes.keep_whole(op.source, op.result)


def _relate_unit_dimensions(classes: DimensionClasses, op: ExpandDimsOp | ViewOp) -> None:
    """Dimensions of one come or go, and the others keep their order; else nothing is cut."""
    source, result = op.source, op.results[0]
    sides = [[k for k, extent in enumerate(tile_shape(v)) if extent > 1] for v in (source, result)]
    extents = [
        [tile_shape(v)[k] for k in side] for v, side in zip((source, result), sides, strict=True)
    ]
    is_part = isinstance(op, ViewOp) and not op.is_whole
    if is_part or extents[0] != extents[1] or not extents[0]:
        classes.keep_whole(source, result)
        return
    for k, number in zip(*sides, strict=True):
        classes.join((source, k), (result, number))


def _relate_product(classes: DimensionClasses, op: DotOp) -> None:
    """Rows are of A and C, columns of B and C; K is of A and B where it may be crossed."""
    a, b, c, d = (*op.operands[:3], op.results[0])
    classes.join_all((c, d))
    rank = len(tile_shape(c))
    if len(op.operands) > 3 or len(tile_shape(a)) != rank or len(tile_shape(b)) != rank:
        classes.keep_whole(*op.operands)
        return
    for k in range(rank - 2):
        classes.keep_dimension((c, k))
        classes.keep_dimension((a, k))
        classes.keep_dimension((b, k))
    classes.join((a, rank - 2), (c, rank - 2))
    classes.join((b, rank - 1), (c, rank - 1))
    if classes.may_cross(op):
        classes.join((a, rank - 1), (b, rank - 2))
        return
    classes.keep_dimension((a, rank - 1))
    classes.keep_dimension((b, rank - 2))


RULES: Mapping[type[Operation], Callable[[DimensionClasses, Any], None]] = {
    **dict.fromkeys(
        (func.FuncOp, scf.YieldOp, scf.ConditionOp, YieldOp, tensor.SplatOp), _relate_nothing
    ),
    **dict.fromkeys((TiledLoadOp, TiledStoreOp), _relate_access),
    **dict.fromkeys((AtomicRmwOp, LoadOp, StoreOp), _relate_elements),
    **dict.fromkeys((ReduceOp, ScanOp), _relate_combined),
    arith.ConstantOp: _relate_constant,
    DotOp: _relate_product,
    ExpandDimsOp: _relate_unit_dimensions,
    GenerateOp: _relate_generated,
    ViewOp: _relate_view,
    scf.ForOp: _relate_carried,
    scf.IfOp: _relate_branches,
    scf.WhileOp: _relate_while,
    tensor.ExtractOp: _relate_extracted,
}
"""What operations say about their tiles."""
