"""Insert the conversions that no layout choice can avoid: tiles needed in two memory spaces.

Layouts are chosen per group of tiles, and a group is in one memory space. Where users of a tile
require different spaces (`space_requirements.py`), a `convert_layout` without an encoding splits
the group; its layouts are chosen later. Four cases, in this order:

    an agent uses a register tile from outside      -> converted at the agent's start
    a pipeline body yields a register tile          -> converted to the stage's shared memory
    wgmma reads A or B that threads computed        -> converted to shared memory before the dot
    addf reads a tile that is in shared memory      -> converted to registers before the addf
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects.builtin import TensorType
from xdsl.ir import Block, Operation, Region, SSAValue

from tileas_xdsl.analysis.layouts.layout_flow import LayoutRole, layout_role
from tileas_xdsl.analysis.layouts.tile_groups import (
    FREE_TILES,
    TileGroup,
    TileGroups,
    payload_results,
    placed_tile,
)
from tileas_xdsl.diagnostics.walking import operands_of, operations_in
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, BlockScaledMmaOp, DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import StageOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, GenerateOp, ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import ON_CHIP, Tile, space_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.transforms.assign_layouts.spaces.memory_spaces import in_registers, residents
from tileas_xdsl.transforms.assign_layouts.spaces.space_requirements import (
    reads_registers,
    space_requirements,
    values_of,
)


def put_into_stages(root: Operation) -> None:
    """Convert tiles that pipeline bodies yield to a stage, unless they are the stage's own."""
    for op in instances_in(root, StageOp):
        body = op.regions[0].block if op.regions else None
        if body is None or body.last_op is None or payload_results(op):
            continue
        for index, value in enumerate(body.last_op.operands):
            tile = placed_tile(value.type)
            if tile is None or value in body.args or space_of(tile) in ON_CHIP:
                continue
            _convert(body.last_op, index, tile)


def separate_agents(root: Operation) -> None:
    """Convert register tiles of other threads that an agent uses, at the agent's start."""
    bodies = [body for switch in instances_in(root, AgentSwitchOp) for body in switch.bodies]
    captures = {body: captured for body in bodies if (captured := _captures(body))}
    if not captures:
        return
    groups = TileGroups(root, apart=reads_registers)
    resident = residents(root, groups)
    for body, captured in captures.items():
        _convert_captures(body, captured, groups, resident)


_Capture: TypeAlias = tuple[Operation, int, SSAValue, Tile]
"""An operation, and its operand with its index and type."""


def _captures(body: Region) -> list[_Capture]:
    """Return the operands in a body that are tiles from outside of it, in no memory yet."""
    return [
        (op, index, value, tile)
        for op in operations_in(body)
        for index, value in enumerate(operands_of(op))
        if (tile := as_tile(value.type)) is not None
        and space_of(tile) is None
        and not isinstance(value.owner, FREE_TILES)
        and not _is_inside(value, body)
    ]


def _convert_captures(
    body: Region, captures: Sequence[_Capture], groups: TileGroups, resident: set[TileGroup]
) -> None:
    converted: dict[SSAValue, ConvertLayoutOp] = {}
    for op, index, value, tile in captures:
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


def put_where_read(root: Operation) -> None:
    """Convert tiles to the memory that products, and then to the registers that others, read.

    Groups are built without joining across computing operations: a tile that is loaded for the MMA
    alone may stay in memory.
    """
    groups = TileGroups(root, apart=reads_registers)
    if _store_computed_operands(root, groups):
        groups = TileGroups(root, apart=reads_registers)
    _load_into_registers(root, groups)


def _store_computed_operands(root: Operation, groups: TileGroups) -> bool:
    """Convert operands of MMAs that are computed in registers, where the instruction reads memory.

    Returns whether there are any.
    """
    products = instances_in(root, AsyncDotOp, BlockScaledMmaOp, DotOp)
    if not products:
        return False
    computed, has_converted = in_registers(root, groups), False
    for op in products:
        read_from = dict(space_requirements(op))
        for index, value in enumerate((op.a, op.b)):
            tile = placed_tile(value.type)
            if tile is None or space_of(tile) is not None or value not in read_from:
                continue
            if Space.RMEM in read_from[value]:
                continue
            if isinstance(value.owner, FREE_TILES) or groups.of(value) in computed:
                _convert(op, index, TensorType(tile.element_type, tile.get_shape()))
                has_converted = True
    return has_converted


def _load_into_registers(root: Operation, groups: TileGroups) -> None:
    """Convert the tiles in memory that operations read as values.

    Elementwise operations on tiles that are in memory by their types have results there too.
    """
    resident = residents(root, groups)
    in_tensor_memory = _accumulators(root, groups)
    for op in operations_in(root):
        if isinstance(op, ViewOp):
            # A tile of another shape is none of the lanes and columns of tensor memory.
            tile = placed_tile(op.source.type)
            if tile is not None and groups.of(groups.whole_of(op.source)) in in_tensor_memory:
                _convert(op, 0, TensorType(tile.element_type, tile.get_shape()))
        if not reads_registers(op):
            continue
        elementwise = layout_role(op) is LayoutRole.ELEMENTWISE
        read = {v for v in values_of(op) if not elementwise or space_of(v.type) is None}
        for index, value in enumerate(op.operands):
            tile = placed_tile(value.type) if value in read else None
            if tile is not None and groups.of(groups.whole_of(value)) in resident:
                _convert(op, index, TensorType(tile.element_type, tile.get_shape()))


def _accumulators(root: Operation, groups: TileGroups) -> set[TileGroup | None]:
    """Return the groups of accumulators in tensor memory."""
    return {
        groups.of(value)
        for op in instances_in(root, AsyncDotOp, BlockScaledMmaOp, DotOp)
        for value, spaces in space_requirements(op)
        if spaces == frozenset({Space.TMEM})
    }


def _convert(op: Operation, index: int, type_: Tile) -> None:
    conversion = ConvertLayoutOp(op.operands[index], type_)
    conversion.location = op.location
    user = _insertion_point(op, op.operands[index])
    assert user.parent is not None
    user.parent.insert_op_before(conversion, user)
    op.operands[index] = conversion.result


def _insertion_point(op: Operation, tile: SSAValue) -> Operation:
    """Return the operation to insert a conversion before: outside of `generate` bodies.

    A body runs once per element, and a conversion is of a whole tile.
    """
    user = op
    while isinstance(parent := user.parent_op(), GenerateOp) and not parent.is_ancestor(tile.owner):
        user = parent
    return user
