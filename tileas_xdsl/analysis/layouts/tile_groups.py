"""Equivalence classes of tiles that must share one layout (union-find).

Tiles are joined where they have the same registers or memory: operands and results of elementwise
operations, values that loops and branches carry, an accumulator and the result of its MMA. Layout
assignment then chooses one layout per class. Conversions, loads, stores and MMAs end a class; so do
constants and splats, which are cloned for each class that uses them:

    %x = tiled_load ...            { %x, %e, %acc, %s, %r }       one class
    %e = math.exp %x               { %d }                         the other side of the conversion
    %r = scf.for ... iter_args(%acc = %e) { %s = addf %acc, %e; yield %s }
    %d = convert_layout %r

A pipeline is followed from where its stages are filled to where they are read: the tile at one
position of the stages is one node (`StagePart`), whichever operation names it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import field
from functools import cached_property
from itertools import pairwise
from typing import TypeAlias

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import MemRefType, TensorType
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue
from xdsl.utils.disjoint_set import DisjointSet

from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, layout_role
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import owning_op
from tileas_xdsl.dialects.kinds import Kinds
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, BlockScaledMmaOp, DotOp
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.compute.scale_tiles import is_rearranged
from tileas_xdsl.dialects.nv_tileas.control import PragmaOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.atomics import PointedAtomicOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import LoadBase, StoreBase
from tileas_xdsl.dialects.nv_tileas.pipelines.checks import stage_types
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import StageOp
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import TokenFault, inflows, pipelines_of
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import FutureWaitOp, WaitOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.shapes.same_rows import keeps_rows
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp, InsertSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import ON_CHIP, Tile, shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType, TiledViewType

FREE_TILES = (arith.ConstantOp, tensor.SplatOp)
"""Operations that can be cloned for each class that uses their tile."""

_FREE = Kinds(*FREE_TILES)
_VIEWS = Kinds(TiledViewType, MemRefType)
_PLACED = Kinds(AsyncTokenType, TensorType, *_VIEWS.classes)
"""Types of values that a group may contain."""

_BY_FORM = Kinds(
    *(StageOp, DotOp, AsyncDotOp, BlockScaledMmaOp, WaitOp, FutureWaitOp, InsertSliceOp, ViewOp),
    PragmaOp,
)
"""Operations that join some of their tiles; others join those of equal coordinates."""

_BY_COORDINATES = Kinds(ReduceOp, GenerateOp, PointedAtomicOp, LoadBase, StoreBase)


@dataclass(frozen=True)
class StagePart:
    """The tile at a position of the stages of a pipeline."""

    pipeline: CreatePipelineOp
    position: int


Node: TypeAlias = SSAValue | StagePart


@dataclass(eq=False)
class TileGroup:
    """Nodes that have one layout."""

    nodes: list[Node] = field(default_factory=list[Node])

    @cached_property
    def values(self) -> list[SSAValue]:
        """The values among the nodes, in the order of the program; no node is added later."""
        return [node for node in self.nodes if not isinstance(node, StagePart)]

    @property
    def shape(self) -> tuple[int, ...]:
        """The extents that all tiles of the group have."""
        return placed_shape(self.values[0].type) or ()

    @property
    def first_op(self) -> Operation:
        """The operation that owns the first tile."""
        op = owning_op(self.values[0])
        assert op is not None
        return op


class TileGroups:
    """The groups of everything inside an operation, and which tiles are parts of others."""

    groups: Sequence[TileGroup]

    def __init__(
        self, root: Operation, apart: Callable[[Operation], bool] = lambda op: False
    ) -> None:
        """Operations that are `apart` join nothing."""
        self._nodes: dict[Node, TileGroup | None] = {}
        self.parts: dict[SSAValue, ExtractSliceOp | ViewOp] = {}
        """Slices, transposes, scales and renamed rows, by the operation that cuts them out."""
        joins: list[tuple[Node, Node]] = []
        for op in operations_in(root):
            tiles = _tiles_with_layouts(op)
            self._nodes.update(dict.fromkeys(tiles))
            joins += () if apart(op) else _joins(op, tiles)
            if (part := _part(op)) is not None:
                self.parts[part.result] = part
        for first, second in joins:
            self._nodes.update({first: None, second: None})
        self.groups = self._grouped(joins)

    def of(self, node: Node) -> TileGroup | None:
        """Return the group of a tile; None for other values, and for constants."""
        return self._nodes.get(node)

    def whole_of(self, value: SSAValue) -> SSAValue:
        """Return the tile that a value is a slice or view of, or the value itself."""
        while (cut := self.parts.get(value)) is not None:
            value = cut.source
        return value

    def _grouped(self, joins: Iterable[tuple[Node, Node]]) -> Sequence[TileGroup]:
        sets: DisjointSet[Node] = DisjointSet(list(self._nodes))
        for first, second in joins:
            sets.union_left(first, second)
        by_root: dict[Node, TileGroup] = {}
        for node in self._nodes:
            group = by_root.setdefault(sets.find(node), TileGroup())
            group.nodes.append(node)
            self._nodes[node] = group
        return [group for group in by_root.values() if group.values]


def placed_tile(type_: Attribute) -> Tile | None:
    """Return the tile type of a value, or of what its token delivers."""
    return as_tile(type_.delivered if type(type_) is AsyncTokenType else type_)


def is_placed(type_: Attribute) -> bool:
    """Return whether a group may contain values of a type: tiles, and views on the chip."""
    if not _PLACED[type(type_)]:
        return False
    return placed_tile(type_) is not None or (is_view(type_) and space_of(type_) in ON_CHIP)


def placed_shape(type_: Attribute) -> tuple[int, ...] | None:
    """The extents of what a group may contain."""
    if not is_placed(type_):
        return None
    tile = placed_tile(type_)
    return shape_of(type_) if tile is None else tile.get_shape()


def is_view(type_: Attribute) -> bool:
    """Whether values of a type name memory, and are no tiles."""
    return _VIEWS[type(type_)]


def stage_parts(op: StageOp) -> Sequence[Sequence[StagePart]]:
    """Return for each position of an operation's stages the nodes that it may be, by pipeline."""
    pipelines = pipelines_of(op.operands[0])
    known = () if isinstance(pipelines, TokenFault) else pipelines
    return [[StagePart(p, k) for p in known] for k in range(len(stage_types(op)))]


def payload_results(op: StageOp) -> Sequence[SSAValue]:
    """The results that are values of a stage, or what a body yields."""
    return op.results[len(op.ENTRY.gives) :]


def _tiles_with_layouts(op: Operation) -> list[SSAValue]:
    """Return the tiles that an operation defines and that need a layout."""
    values: list[SSAValue] = [] if _FREE[type(op)] else [*op.results]
    for region in op.regions:
        for block in region.blocks:
            values += block.args
    return [value for value in values if is_placed(value.type)]


def _part(op: Operation) -> ExtractSliceOp | ViewOp | None:
    if type(op) is ExtractSliceOp:
        return op
    if type(op) is ViewOp and (is_rearranged(op.result.type) or _is_renamed(op)):
        return op
    return None


def _is_renamed(op: ViewOp) -> bool:
    """Whether a view shows the rows of a tile in shared memory under another shape."""
    is_shared = space_of(op.result.type) is Space.SMEM and as_tile(op.result.type) is not None
    return is_shared and keeps_rows(op) and shape_of(op.source.type) != shape_of(op.result.type)


def _joins(op: Operation, tiles: Iterable[SSAValue]) -> Iterator[tuple[Node, Node]]:
    """Yield the pairs of nodes that an operation, which defines `tiles`, joins."""
    for value in tiles:
        yield from ((value, v) for v in inflows(value) or () if _is_grouped(v))
    if not _BY_FORM[type(op)]:
        for alike in _tiles_of_equal_coordinates(op):
            yield from _pairs(alike)
        return
    match op:
        case StageOp():
            yield from _of_stage(op)
        case DotOp() | AsyncDotOp() | BlockScaledMmaOp():
            yield from _pairs([op.c, op.result])
        case WaitOp() | FutureWaitOp():
            yield from _pairs([op.token, *op.values])
        case InsertSliceOp():
            yield from _pairs([op.destination, op.result])
        case ViewOp():
            yield from _of_view(op)
        case PragmaOp(body=Region() as body):
            yield from _of_body(op.results, body.block)
        case _:
            pass


def _tiles_of_equal_coordinates(op: Operation) -> Sequence[Sequence[SSAValue]]:
    """Return the tiles whose elements at equal coordinates an operation combines."""
    if not _BY_COORDINATES[type(op)]:
        is_elementwise = layout_role(op) is LayoutRole.ELEMENTWISE
        return ([*op.operands, *op.results],) if is_elementwise else ()
    if isinstance(op, ReduceOp):
        return (op.sources, op.outputs)
    if isinstance(op, GenerateOp):
        return ([*taken_in_place(op), op.result],)
    if isinstance(op, PointedAtomicOp):
        return ([*op.operands, *op.results],)
    if isinstance(op, LoadBase | StoreBase) and shape_of(op.base.type) and not op.coords:
        return ([*op.operands, *op.results],)  # A tile of pointers, each to an element.
    if layout_role(op) is LayoutRole.ELEMENTWISE:
        return ([*op.operands, *op.results],)
    return ()


def _pairs(values: Sequence[SSAValue]) -> Iterator[tuple[Node, Node]]:
    return pairwise(value for value in values if _is_grouped(value))


def _is_grouped(value: SSAValue) -> bool:
    return is_placed(value.type) and not _FREE[type(value.owner)]


def _of_stage(op: StageOp) -> Iterator[tuple[Node, Node]]:
    """Arguments of the body are the tiles of the stage; results are what it yields.

    Without results it yields the stage.
    """
    results, body = payload_results(op), op.regions[0].block if op.regions else None
    staged = [results if body is None else body.args]
    if body is not None and body.last_op is not None and not results:
        staged.append(body.last_op.operands)
    of_stage = stage_parts(op)
    for tiles in staged:
        for tile, parts in zip(tiles, of_stage, strict=False):
            yield from pairwise((*(v for v in (tile,) if _is_grouped(v)), *parts))
    if body is not None:
        yield from _of_body(results, body)


def _of_body(results: Sequence[SSAValue], body: Block) -> Iterator[tuple[Node, Node]]:
    """Join the results of an operation with what its body yields."""
    last = body.last_op
    for result, given in zip(results, () if last is None else last.operands, strict=False):
        yield from _pairs([given, result])


def taken_in_place(op: GenerateOp) -> Sequence[SSAValue]:
    """Return the tiles of which a `generate` reads the element at its own coordinates only."""
    indices, shape = tuple(op.body.block.args), placed_shape(op.result.type)
    return [
        inner.tensor
        for inner in op.body.block.ops
        if isinstance(inner, tensor.ExtractOp)
        and tuple(inner.indices) == indices
        and placed_shape(inner.tensor.type) == shape
    ]


def _of_view(op: ViewOp) -> Iterator[tuple[Node, Node]]:
    """A view of the whole of a buffer is the buffer."""
    whole = op.is_whole and placed_shape(op.source.type) == placed_shape(op.result.type)
    if whole and not is_rearranged(op.result.type):
        yield from _pairs([op.source, op.result])
