"""Writing choices into the IR: encodings of types, layouts and atoms of operations.

Constants and splats that a group uses are made anew in its layout, so that several groups may use
one.  The tiles of a stage are named in types of lists, of iterators and of bodies; all change.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import cast

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    ArrayAttr,
    DenseIntOrFPElementsAttr,
    TensorType,
    TupleType,
)
from xdsl.ir import Attribute, Operation, SSAValue, TypeAttribute
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.layout_flow import LayoutRole, layout_role
from tileas_xdsl.analysis.tile_groups import (
    FREE_TILES,
    StagePart,
    TileGroup,
    payload_results,
    placed_tile,
    stage_parts,
)
from tileas_xdsl.dialects.nv_tileas.attributes import (
    AtomAttr,
    BlockedEncoding,
    DotOperandEncoding,
    LayoutAttr,
    LinearEncoding,
    SharedEncoding,
)
from tileas_xdsl.dialects.nv_tileas.compute import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.create_pipeline import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory import TiledLoadBase, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.pipeline import (
    CreateIteratorOp,
    IncIterOp,
    PipelineYieldOp,
    StageOp,
)
from tileas_xdsl.dialects.nv_tileas.slices import ExtractSliceOp, InsertSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.tma import TmaTransferOp
from tileas_xdsl.dialects.nv_tileas.token_chain import TokenFault, carried_values, pipelines_of
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType, IteratorType, TiledViewType
from tileas_xdsl.layout.int_tuple import product_each
from tileas_xdsl.layout.layout import Layout, make_layout
from tileas_xdsl.layout.memory import MemoryLayout
from tileas_xdsl.transforms.assign_layouts.candidates import Choice, Family
from tileas_xdsl.transforms.assign_layouts.demands import UNDECIDED
from tileas_xdsl.transforms.assign_layouts.request import Assignment

LAYOUT = "nv_tileas.layout"

SWIZZLE_ROWS = 8
"""Rows after which every swizzle of panels repeats."""

_ENCODINGS = {
    Family.BLOCKED: BlockedEncoding,
    Family.DOT_OPERAND: DotOperandEncoding,
    Family.LINEAR: LinearEncoding,
}

BULK_ATOMS: Mapping[str, str] = {"cp.async.bulk.tensor": "tma_load"}


def write(a: Assignment, root: Operation) -> None:
    """Write every choice of an assignment."""
    chosen = {
        group: decision.choice
        for group, decision in a.decisions.items()
        if decision.choice is not None
    }
    for group, choice in chosen.items():
        _retype_group(a, group, choice)
    _retype_pipelines(root, chosen, a)
    _remake_free_tiles(root)
    for group, choice in chosen.items():
        _write_operations(a, group, choice)


def encoding_of(choice: Choice) -> Attribute:
    """The encoding of tiles that are laid out so."""
    if isinstance(choice.layout, MemoryLayout):
        return SharedEncoding(choice.layout)
    return _ENCODINGS[choice.family](choice.layout)


def _retype_group(a: Assignment, group: TileGroup, choice: Choice) -> None:
    encoding = encoding_of(choice)
    for value in group.values:
        if not _is_left_in_memory(value, choice):
            _retype(value, encoding)
    if isinstance(choice.layout, MemoryLayout):
        for value in group.values:
            _retype_parts(a, value, choice.layout)


def _is_left_in_memory(value: SSAValue, choice: Choice) -> bool:
    """Whether a tile that nothing reads is loaded from the memory that it would best stay in."""
    is_shared = isinstance(choice.layout, MemoryLayout)
    owner = value.owner
    return (
        is_shared and isinstance(owner, TiledLoadBase) and space_of(owner.view.type) is Space.SMEM
    )


def _retype_parts(a: Assignment, value: SSAValue, layout: MemoryLayout) -> None:
    """Rows of a tile in memory lie as it does, its transpose the other way round.

    Parts that begin where the swizzle has not come round say nothing of how they lie.
    """
    for use in value.uses:
        part = next((r for r in use.operation.results if r in a.groups.parts), None)
        if part is None:
            continue
        cut = a.groups.parts[part]
        mine = _rows_of(layout, cut) if isinstance(cut, ExtractSliceOp) else _turned(layout)
        if mine is not None:
            _retype(part, SharedEncoding(mine))
            _retype_parts(a, part, mine)


def _turned(layout: MemoryLayout) -> MemoryLayout | None:
    """The layout of the transpose."""
    if layout.layout.rank != 2:
        return None
    rows, columns = layout.layout
    return MemoryLayout(make_layout(columns, rows), layout.swizzle, layout.elem)


def _rows_of(layout: MemoryLayout, cut: ExtractSliceOp) -> MemoryLayout | None:
    """The layout of some whole rows, a multiple of those after which swizzles repeat."""
    offsets, sizes = cut.static_offsets.get_values(), cut.static_sizes.get_values()
    whole = product_each(layout.shape)
    known = [offset for offset in offsets if offset != DYNAMIC_INDEX]
    steps = {*cut.static_strides.get_values()}
    if len(whole) != 2 or sizes[1:] != whole[1:] or offsets[1:] != (0,) or steps != {1}:
        return None
    if any(offset % SWIZZLE_ROWS for offset in known):
        return None
    (_, step), *more = layout.layout[0].leaves()
    if more:
        return None
    made = Layout((sizes[0], layout.layout[1].shape), (step, layout.layout[1].stride))
    return MemoryLayout(made, layout.swizzle, layout.elem)


def _retype(value: SSAValue, encoding: Attribute) -> None:
    _set_type(value, _typed(value.type, encoding))


def _typed(type_: Attribute, encoding: Attribute) -> Attribute:
    """The type of the same tile or view, laid out."""
    if isinstance(type_, AsyncTokenType) and type_.delivered is not None:
        return AsyncTokenType(_typed(type_.delivered, encoding))
    if isinstance(type_, TiledViewType) and isinstance(encoding, SharedEncoding):
        layout = LayoutAttr(encoding.data)
        return TiledViewType(type_.shape, type_.element_type, type_.residency, layout)
    if (tile := placed_tile(type_)) is not None:
        return TensorType(tile.element_type, tile.get_shape(), encoding)
    return type_


def _set_type(value: SSAValue, type_: Attribute) -> None:
    value._type = type_  # pyright: ignore[reportPrivateUsage]


# pipelines


def _retype_pipelines(root: Operation, chosen: Mapping[TileGroup, Choice], a: Assignment) -> None:
    """The tiles of stages in lists of types and in types of iterators."""
    for op in root.walk():
        if isinstance(op, StageOp):
            _retype_lists(op, chosen, a)
        for value in (*op.results, *(v for r in op.regions for b in r.blocks for v in b.args)):
            if isinstance(value.type, IteratorType):
                _retype_iterator(value, value.type, chosen, a)


def _retype_lists(op: StageOp, chosen: Mapping[TileGroup, Choice], a: Assignment) -> None:
    parts = stage_parts(op)
    for name in op.ENTRY.type_lists:
        if (listed := op.properties.get(name)) is not None:
            types = cast("ArrayAttr[Attribute]", listed).data
            op.properties[name] = ArrayAttr(_laid_out(types, parts, chosen, a))


def _retype_iterator(
    value: SSAValue, type_: IteratorType, chosen: Mapping[TileGroup, Choice], a: Assignment
) -> None:
    pipelines = _pipelines_of_iterator(value)
    parts = [[StagePart(p, k) for p in pipelines] for k in range(len(type_.payload_types))]
    types = _laid_out(type_.payload_types, parts, chosen, a)
    is_tuple = isinstance(type_.payload, TupleType)
    payload = (
        TupleType(cast("ArrayAttr[TypeAttribute]", ArrayAttr(types))) if is_tuple else types[0]
    )
    _set_type(value, IteratorType.new([payload, type_.count, type_.space]))


def _laid_out(
    types: Sequence[Attribute],
    parts: Sequence[Sequence[StagePart]],
    chosen: Mapping[TileGroup, Choice],
    a: Assignment,
) -> Sequence[Attribute]:
    made: list[Attribute] = []
    for type_, mine in zip(types, parts, strict=True):
        groups = (a.groups.of(part) for part in mine)
        choice = next((chosen[g] for g in groups if g is not None and g in chosen), None)
        made.append(type_ if choice is None else _typed(type_, encoding_of(choice)))
    return made


def _pipelines_of_iterator(iterator: SSAValue) -> Sequence[CreatePipelineOp]:
    """The pipelines whose stages an iterator may count."""
    pending, seen = [iterator], {iterator}
    found: dict[CreatePipelineOp, None] = {}
    while pending:
        for value in carried_values(pending.pop()):
            owner = value.owner
            if isinstance(owner, IncIterOp) and owner.iterator not in seen:
                seen.add(owner.iterator)
                pending.append(owner.iterator)
            elif isinstance(owner, CreateIteratorOp):
                pipelines = pipelines_of(owner.operands[0])
                found.update(dict.fromkeys(() if isinstance(pipelines, TokenFault) else pipelines))
    return list(found)


# constants and splats


def _remake_free_tiles(root: Operation) -> None:
    """Constants and splats in the layouts of the tiles that they meet."""
    for op in list(root.walk()):
        if isinstance(op, FREE_TILES) and placed_tile(op.results[0].type) is not None:
            _remake(op)


def _remake(op: Operation) -> None:
    made: dict[Attribute, SSAValue] = {}
    for use in list(op.results[0].uses):
        wanted = _wanted_type(use.operation, use.index)
        tile = None if wanted is None else placed_tile(wanted)
        if tile is None or tile.encoding == _encoding(op.results[0]):
            continue
        if tile.encoding not in made:
            made[tile.encoding] = _made_anew(op, tile.encoding)
        use.operation.operands[use.index] = made[tile.encoding]
    if made and not any(op.results[0].uses):
        Rewriter.erase_op(op)


def _encoding(value: SSAValue) -> Attribute | None:
    tile = placed_tile(value.type)
    return None if tile is None else tile.encoding


def _made_anew(op: Operation, encoding: Attribute) -> SSAValue:
    new = op.clone()
    new.location = op.location
    result = new.results[0]
    result.name_hint = op.results[0].name_hint
    _retype(result, encoding)
    if isinstance(new, arith.ConstantOp) and isinstance(new.value, DenseIntOrFPElementsAttr):
        dense = DenseIntOrFPElementsAttr(result.type, new.value.data)  # pyright: ignore
        new.properties["value"] = dense
    Rewriter.insert_op(new, InsertPoint.after(op))
    return result


def _wanted_type(op: Operation, index: int) -> Attribute | None:
    """The type of the tile that an operand becomes one with."""
    if layout_role(op) is LayoutRole.ELEMENTWISE:
        others = (*op.results, *op.operands)
        laid_out = (v.type for v in others if _is_laid_out(v) and not _is_free(v))
        return next(laid_out, None)
    return next((value.type for value in _flows(op, index)), None)


def _is_free(value: SSAValue) -> bool:
    return isinstance(value.owner, FREE_TILES)


def _is_laid_out(value: SSAValue) -> bool:
    tile = placed_tile(value.type)
    return tile is not None and (space_of(tile) is not None)


def _flows(op: Operation, index: int) -> Iterator[SSAValue]:
    """Where control flow or an operation carries an operand."""
    parent = op.parent_op()
    match op:
        case DotOp() | AsyncDotOp() if index == 2:
            yield op.result
        case InsertSliceOp() if index == 1:
            yield op.result
        case scf.ForOp() if index >= 3:
            yield op.body.block.args[index - 2]
        case scf.WhileOp():
            yield op.before_region.block.args[index]
        case scf.ConditionOp() if index >= 1 and isinstance(parent, scf.WhileOp):
            yield parent.after_region.block.args[index - 1]
        case scf.YieldOp() if isinstance(parent, scf.ForOp | scf.IfOp):
            yield parent.results[index]
        case scf.YieldOp() if isinstance(parent, scf.WhileOp):
            yield parent.before_region.block.args[index]
        case PipelineYieldOp() if isinstance(parent, StageOp):
            yield from payload_results(parent)[index : index + 1]
        case _:
            return


# operations


def _write_operations(a: Assignment, group: TileGroup, choice: Choice) -> None:
    """The layouts that loads and stores work with, and the atoms that were chosen for them."""
    for op, candidate in choice.atoms.items():
        if not isinstance(op, TiledLoadBase | TiledStoreOp | TmaTransferOp):
            continue
        if isinstance(choice.layout, MemoryLayout):
            op.attributes[LAYOUT] = LayoutAttr(choice.layout)
        elif space_of(op.operands[0].type) in (None, Space.GMEM):
            op.attributes.setdefault(LAYOUT, LayoutAttr(_row_major(group.shape)))
        if op.atom == UNDECIDED and (word := _atom(op, candidate.atom)) is not None:
            op.atom = AtomAttr.of(word)


def _atom(op: Operation, chosen: str) -> str | None:
    """The atom that an operation can have for what was chosen; None to leave it open."""
    if chosen in ("ldg", "stg"):
        return chosen
    if chosen in BULK_ATOMS and isinstance(op, TiledLoadBase):
        shape = shape_of(op.view.type)
        is_global = space_of(op.view.type) in (None, Space.GMEM)
        return f"{BULK_ATOMS[chosen]}_{len(shape)}d" if shape and is_global else None
    return None


def _row_major(shape: tuple[int, ...]) -> MemoryLayout:
    strides = [1] * len(shape)
    for axis in reversed(range(len(shape) - 1)):
        strides[axis] = strides[axis + 1] * shape[axis + 1]
    return MemoryLayout(Layout(shape, tuple(strides)))
