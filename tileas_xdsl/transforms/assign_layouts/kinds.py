"""Memory kinds: where each operation wants its tiles, and the one kind that a group agrees on."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import cast

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, Region, SSAValue

from tileas_xdsl.analysis.layout_flow import LayoutRole, layout_role
from tileas_xdsl.analysis.tile_groups import (
    BUFFERS,
    FREE_TILES,
    TileGroup,
    TileGroups,
    payload_results,
    placed_shape,
    placed_tile,
)
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.atoms import MmaAtom, TmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr, atom_of
from tileas_xdsl.dialects.nv_tileas.compute import AsyncDotOp, DotOp, ReduceOp, ScanOp
from tileas_xdsl.dialects.nv_tileas.dot_checks import OPERAND_SPACES
from tileas_xdsl.dialects.nv_tileas.enums import Space, SpaceAttr
from tileas_xdsl.dialects.nv_tileas.layout import ConvertLayoutOp, ExpandDimsOp, GenerateOp
from tileas_xdsl.dialects.nv_tileas.memory import TiledLoadBase, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.pipeline import StageOp
from tileas_xdsl.dialects.nv_tileas.slices import InsertSliceOp
from tileas_xdsl.dialects.nv_tileas.spaces import Tile, space_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.dialects.nv_tileas.tma import TmaTransferOp
from tileas_xdsl.dialects.nv_tileas.types import IteratorType

Demand = tuple[SSAValue, frozenset[Space]]
"""A tile, and the places where an operation can work on it."""

_REGISTERS = frozenset({Space.RMEM})
_SHARED = frozenset({Space.SMEM})
_LOADED = frozenset({Space.RMEM, Space.SMEM})
"""What is loaded goes to registers, or stays in memory for those that read it there."""

UNDECIDED = AtomAttr.of("unknown_copy")
"""The atom of an access whose instruction is not chosen yet."""

_OF_VALUES = (ReduceOp, ScanOp, ExpandDimsOp, GenerateOp, tensor.ExtractOp)
"""Operations that work on tiles in registers, beside elementwise ones."""


def reads_registers(op: Operation) -> bool:
    """Whether an operation reads the values of tiles, wherever they are, into registers."""
    if isinstance(op, TiledStoreOp):
        return not isinstance(op.atom.data, TmaAtom)
    if isinstance(op, arith.SelectOp) and not isinstance(op.cond.type, TensorType):
        return False
    return isinstance(op, _OF_VALUES) or layout_role(op) is LayoutRole.ELEMENTWISE


def demands(op: Operation) -> Iterator[Demand]:
    """Where an operation wants its tiles; what it does not name may be anywhere."""
    for value in (*op.operands, *op.results):
        if (space := space_of(value.type)) is not None and placed_shape(value.type) is not None:
            yield value, frozenset({space})
    match op:
        case DotOp() | AsyncDotOp():
            yield from _of_product(op)
        case TmaTransferOp():
            yield buffer_of_transfer(op), _SHARED
        case TiledLoadBase():
            yield op.result, _LOADED if _may_stay_in_memory(op) else _REGISTERS
        case TiledStoreOp() if isinstance(op.atom.data, TmaAtom):
            yield op.value, _SHARED
        case InsertSliceOp():
            known = (space_of(tile.type) for tile in (op.source, op.destination))
            place = next((space for space in known if space is not None), Space.RMEM)
            yield from ((tile, frozenset({place})) for tile in (op.source, op.destination))
        case StageOp():
            yield from _of_stage(op)
        case _ if reads_registers(op):
            yield from ((tile, _REGISTERS) for tile in _values_of(op))
        case _:
            pass


def _values_of(op: Operation) -> Iterator[SSAValue]:
    """The tiles that an operation reads or makes as values."""
    place = op.view if isinstance(op, TiledStoreOp) else None
    tiles = (*op.operands, *op.results)
    return (v for v in tiles if v is not place and placed_tile(v.type) is not None)


def _may_stay_in_memory(op: TiledLoadBase) -> bool:
    """Whether a load may leave its tile in shared memory: by TMA, or where nothing reads it."""
    if isinstance(op.atom.data, TmaAtom):
        return True
    if op.atom != UNDECIDED:
        return False
    if space_of(op.view.type) is not Space.SMEM:
        return True
    return all(isinstance(use.operation, ConvertLayoutOp) for use in op.result.uses)


def buffer_of_transfer(op: TmaTransferOp) -> SSAValue:
    """The tile in shared memory that a bulk copy fills or empties."""
    return op.operands[1]


def _of_product(op: DotOp | AsyncDotOp) -> Iterator[Demand]:
    atom = atom_of(op.atom)
    if not isinstance(atom, MmaAtom):
        return
    a, b, c = (frozenset(spaces) for spaces in OPERAND_SPACES[atom.instruction])
    yield from ((op.a, a), (op.b, b), (op.c, c), (op.result, c))


def _of_stage(op: StageOp) -> Iterator[Demand]:
    """Tiles of a stage are where its iterator says; without a word in shared memory."""
    said = {t.space for v in op.operands if isinstance(t := v.type, IteratorType)}
    spaces = frozenset(space.data for space in said if isinstance(space, SpaceAttr))
    tiles = op.regions[0].block.args if op.regions else payload_results(op)
    yield from ((v, spaces or _SHARED) for v in tiles if placed_tile(v.type) is not None)


def put_into_stages(root: Operation) -> None:
    """Convert what the bodies of pipelines yield as the tiles of a stage and is none of them."""
    for op in root.walk():
        body = op.regions[0].block if isinstance(op, StageOp) and op.regions else None
        if body is None or body.last_op is None or payload_results(cast("StageOp", op)):
            continue
        for index, value in enumerate(body.last_op.operands):
            tile = placed_tile(value.type)
            if tile is None or value in body.args or space_of(tile) in BUFFERS:
                continue
            _convert(body.last_op, index, tile)


def separate_agents(root: Operation) -> None:
    """Convert what an agent uses of tiles that other threads have in their registers."""
    groups = TileGroups(root, apart=reads_registers)
    resident = _residents(root, groups)
    for switch in root.walk():
        if isinstance(switch, AgentSwitchOp):
            for body in switch.bodies:
                _convert_captures(body, groups, resident)


def _convert_captures(body: Region, groups: TileGroups, resident: set[TileGroup]) -> None:
    converted: dict[SSAValue, ConvertLayoutOp] = {}
    for op in list(body.walk()):
        for index, value in enumerate(op.operands):
            tile = as_tile(value.type)
            if tile is None or isinstance(value.owner, FREE_TILES) or _is_inside(value, body):
                continue
            if groups.of(groups.whole_of(value)) in resident:
                continue
            if value not in converted:
                made = ConvertLayoutOp(value, TensorType(tile.element_type, tile.get_shape()))
                made.location = op.location
                converted[value] = made
            op.operands[index] = converted[value].result
    for conversion in reversed(converted.values()):
        _put_first(body.block, conversion)


def _put_first(block: Block, op: Operation) -> None:
    if block.first_op is None:
        block.add_op(op)
    else:
        block.insert_op_before(op, block.first_op)


def _is_inside(value: SSAValue, body: Region) -> bool:
    owner = value.owner
    inner = owner.parent_region() if isinstance(owner, Operation) else owner.parent
    while inner is not None and inner is not body:
        parent = inner.parent_op()
        inner = None if parent is None else parent.parent_region()
    return inner is body


def bring_into_registers(root: Operation) -> None:
    """Convert the tiles in memory that operations read as values."""
    groups = TileGroups(root, apart=reads_registers)
    resident = _residents(root, groups)
    for op in list(root.walk()):
        if not reads_registers(op):
            continue
        read = set(_values_of(op))
        for index, value in enumerate(op.operands):
            tile = placed_tile(value.type) if value in read else None
            if tile is not None and groups.of(groups.whole_of(value)) in resident:
                _convert(op, index, TensorType(tile.element_type, tile.get_shape()))


def _convert(op: Operation, index: int, type_: Tile) -> None:
    conversion = ConvertLayoutOp(op.operands[index], type_)
    conversion.location = op.location
    assert op.parent is not None
    op.parent.insert_op_before(conversion, op)
    op.operands[index] = conversion.result


def _residents(root: Operation, groups: TileGroups) -> set[TileGroup]:
    """The groups that some operation needs in a memory, whoever reads their values."""
    wanted = _wanted(root, groups, readers=False)
    return {group for group, claims in wanted.items() if _common(claims) <= frozenset(BUFFERS)}


def common_kinds(root: Operation, groups: TileGroups) -> Mapping[TileGroup, frozenset[Space]]:
    """Where each group that some operation has a word on may be; an error if nowhere."""
    found: dict[TileGroup, frozenset[Space]] = {}
    for group, claims in _wanted(root, groups, readers=True).items():
        found[group] = _common(claims)
        if not found[group]:
            text = message("can-not-find-common-mem-kind-among-pipeline-alias-group")
            raise op_error(_first_op(group), text)
    return found


_Claims = list[frozenset[Space]]


def _common(claims: _Claims) -> frozenset[Space]:
    return frozenset(space for space in claims[0] if all(space in others for others in claims))


def _wanted(root: Operation, groups: TileGroups, *, readers: bool) -> Mapping[TileGroup, _Claims]:
    """By group, what its operations demand; without `readers`, of those that need the place."""
    found: dict[TileGroup, _Claims] = {}
    for op in root.walk():
        if not readers and reads_registers(op):
            continue
        for value, spaces in demands(op):
            group = groups.of(groups.whole_of(value))
            if group is not None:
                found.setdefault(group, []).append(spaces)
    return found


def _first_op(group: TileGroup) -> Operation:
    owner = group.values[0].owner
    parent = owner if isinstance(owner, Operation) else owner.parent_op()
    assert parent is not None
    return parent
