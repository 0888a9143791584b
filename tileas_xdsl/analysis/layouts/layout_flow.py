"""Roles of operations in layout propagation: which fix, forward or may change a layout.

The tables are facts about operations, by name; every pass that assigns, moves or removes layouts
reads them. An operation that no table names fixes the layouts of its tiles.

    %a = tensor.splat %c                 PRODUCER         can make any layout: retype it
    %b = arith.addf %a, %a               ELEMENTWISE      any layout, the same for all: pass it on
    %c = convert_layout %b               CONVERSION       may be removed or moved
    %d = nv_tileas.dot %x, %y, %c        FIXING           the accumulator layout of the MMA

A conversion must not move across an operation that orders memory, since a tile may be the name of a
buffer that is overwritten later (`may_be_storage`): `pins_layouts` and the functions it calls
decide what lies between two operations.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from enum import Enum

from xdsl.dialects import func
from xdsl.ir import Attribute, Operation, OpResult, SSAValue
from xdsl.traits import MemoryEffectKind, get_effects

from tileas_xdsl.dialects.ir_queries import ELEMENTWISE_DIALECTS, enclosing_ops
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.interfaces import is_memory_consistency
from tileas_xdsl.dialects.nv_tileas.pipelines.family import CONSUME_ONE, PRODUCE_ONE
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import inflows, stages_of
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile

CONVERT_LAYOUT = "nv_tileas.convert_layout"
EXPAND_DIMS = "nv_tileas.expand_dims"
PRAGMA = "nv_tileas.pragma"


class LayoutRole(Enum):
    """The role of an operation in layout propagation."""

    CONVERSION = "gives the same tile in another layout"
    ELEMENTWISE = "operands and results are tiles of one shape in one layout, whichever it is"
    RESHAPING = "the layout of the result follows from that of the operand"
    REGION_BOUNDARY = "hands tiles over between a region and the code around it, in one layout"
    PRODUCER = "could make its tile in another layout of the same memory just as well"
    FIXING = "needs its tiles as they are laid out"


_BUFFERS = frozenset({Space.SMEM, Space.TMEM})
_ANYWHERE = _BUFFERS | {Space.RMEM}

RETYPABLE: Mapping[str, frozenset[Space]] = {
    "arith.constant": _ANYWHERE,
    "nv_tileas.alloc_tensor": _BUFFERS,
    "nv_tileas.gather_load": _BUFFERS,
    "nv_tileas.generate": _ANYWHERE,
    "nv_tileas.load": _BUFFERS,
    "nv_tileas.tiled_load": _BUFFERS,
    "tensor.splat": _ANYWHERE,
}
"""Producers, and the memory spaces in which the layout of their result is free.

A load into registers is not free: its layout decides how wide accesses are.
"""

ROLES: Mapping[str, LayoutRole] = {
    **dict.fromkeys(RETYPABLE, LayoutRole.PRODUCER),
    **dict.fromkeys(("scf.for", "scf.if", "scf.while"), LayoutRole.REGION_BOUNDARY),
    CONSUME_ONE.op_name: LayoutRole.REGION_BOUNDARY,
    CONVERT_LAYOUT: LayoutRole.CONVERSION,
    "nv_tileaa.addptr": LayoutRole.ELEMENTWISE,
    EXPAND_DIMS: LayoutRole.RESHAPING,
    PRAGMA: LayoutRole.REGION_BOUNDARY,
}
"""By name; what is element-wise is not listed, what fixes its layouts need not be."""

ASSIGNED_LAYOUT = "nv_tileas.layout"
"""The attribute by which layout assignment fixes the layout of a load or a store."""

ATOM_PLAN = "atom_plan"
"""The attribute of a conversion whose plan is fixed."""

_PLANNED = frozenset({ATOM_PLAN, "plancta.direction", "reinterpret_byte"})
"""Attributes of a conversion that another pass has planned with."""

VALUE_MAKERS = frozenset(
    {
        *(name for name in RETYPABLE if name != "nv_tileas.alloc_tensor"),
        CONVERT_LAYOUT,
        "nv_tileas.async.wait",
        "nv_tileas.block_scaled_mma",
        "nv_tileas.dot",
        "nv_tileas.reduce",
        "nv_tileas.scan",
        "nv_tileas.shuffle",
    }
)
"""Operations whose result is a value of its own, which no later write can change."""

_SELECT = "arith.select"
"""A select of two buffers is one of them, no copy, though `arith` is elementwise."""

_CONSUMES = CONSUME_ONE.op_name
_STAGES = frozenset({PRODUCE_ONE.op_name, CONSUME_ONE.op_name})
_BRANCHES = frozenset({"scf.if", PRAGMA})
_LOOPS = frozenset({"scf.for", "scf.while"})


def layout_role(op: Operation) -> LayoutRole:
    """Return the role of an operation: by table, unless attributes say that it is fixed."""
    role = ROLES.get(op.name)
    if role is None:
        is_elementwise = op.name.startswith(ELEMENTWISE_DIALECTS)
        return LayoutRole.ELEMENTWISE if is_elementwise else LayoutRole.FIXING
    if role is LayoutRole.PRODUCER and ASSIGNED_LAYOUT in op.attributes:
        return LayoutRole.FIXING
    if role is LayoutRole.CONVERSION and _PLANNED & {*op.attributes, *op.properties}:
        return LayoutRole.FIXING
    if role is LayoutRole.REGION_BOUNDARY and op.name == _CONSUMES and not has_single_stage(op):
        return LayoutRole.FIXING
    return role


def is_retypable(op: Operation, space: Space | None) -> bool:
    """Whether `op` could make its tile, which is in `space`, in another layout there."""
    return layout_role(op) is LayoutRole.PRODUCER and space in RETYPABLE[op.name]


def has_single_stage(op: Operation) -> bool:
    """Whether a pipeline operation works on a pipeline of one stage: no work in flight there."""
    return stages_of(op.operands[0]) == 1


def encoding_of(type_: Attribute) -> Attribute | None:
    """The encoding of a tile type; None for what is no tile."""
    tile = as_tile(type_)
    return None if tile is None else tile.encoding


def loop_depth(op: Operation) -> int:
    """How many loops are around `op`."""
    return sum(parent.name in _LOOPS for parent in enclosing_ops(op))


def pins_layouts(op: Operation) -> bool:
    """Whether conversions must not move across `op`, since it orders memory or may do so.

    That holds for operations that write or have unknown effects, for `produce_one` and
    `consume_one` of a pipeline of several stages, and for regions that contain one of these.
    """
    if op.name in _STAGES:
        return not has_single_stage(op) or _pins_inside(op)
    if op.name == PRAGMA:
        return _pins_inside(op)
    if op.regions:
        return is_memory_consistency(op) or op.name not in _TRANSPARENT or _pins_inside(op)
    if is_memory_consistency(op):
        return True
    effects = get_effects(op)
    return effects is None or any(effect.kind is MemoryEffectKind.WRITE for effect in effects)


_TRANSPARENT = _BRANCHES | _LOOPS | {"nv_tileas.generate"}


def _pins_inside(op: Operation) -> bool:
    return any(
        not inner.name.endswith("yield") and pins_layouts(inner)
        for region in op.regions
        for block in region.blocks
        for inner in block.ops
    )


def is_pinned_between(first: Operation, last: Operation) -> bool:
    """Return whether an operation between `first` and `last` pins layouts, or `last` is not after.

    The path is followed into branches; a loop runs more than once, so that its whole body is
    between; the body of any other operation, such as an agent, is unrelated.
    """
    target = last
    while target.parent is not first.parent:
        parent = target.parent_op()
        if parent is None or _is_pinned_at_entry(parent, target):
            return True
        target = parent
    op = first.next_op
    while op is not None and op is not target:
        if pins_layouts(op):
            return True
        op = op.next_op
    return op is None


def unpinned_before(op: Operation) -> Iterator[Operation]:
    """Yield the operations before `op`, nearest first, up to one that pins layouts."""
    current: Operation | None = op
    while current is not None:
        before = current.prev_op
        while before is not None:
            if pins_layouts(before):
                return
            yield before
            before = before.prev_op
        parent = current.parent_op()
        current = None if parent is None or _is_pinned_at_entry(parent, current) else parent


def _is_pinned_at_entry(parent: Operation, target: Operation) -> bool:
    """Whether an operation between the start of `parent` and `target` pins layouts."""
    if parent.name in _LOOPS:
        return _pins_inside(parent)
    if parent.name not in _BRANCHES or target.parent is None:
        return True
    for op in target.parent.ops:
        if op is target:
            return False
        if pins_layouts(op):
            return True
    return True


def may_be_storage(value: SSAValue) -> bool:
    """Whether `value` may name storage, which later writes change, rather than be a tile by itself.

    In registers that is only what leads back to an `alloc_tensor`.
    """
    seen = {value}
    pending = [value]
    while pending:
        before = _aliases(pending.pop())
        if before is None:
            return True
        new = [v for v in before if v not in seen and as_tile(v.type) is not None]
        seen.update(new)
        pending += new
    return False


def _aliases(value: SSAValue) -> list[SSAValue] | None:
    """Return the values whose storage `value` may be; None if it may be storage of its own."""
    carried = inflows(value)
    if carried is not None:
        return list(carried)
    in_registers = space_of(value.type) in (None, Space.RMEM)
    if not isinstance(value, OpResult):
        parent = value.owner.parent_op()
        return [] if in_registers and isinstance(parent, func.FuncOp) else None
    op = value.op
    if op.name in VALUE_MAKERS:
        return []
    if layout_role(op) is LayoutRole.ELEMENTWISE and op.name != _SELECT:
        return []
    if op.name == "nv_tileas.alloc_tensor" or not in_registers:
        return None
    return [*op.operands, *_yielded(op)]


def _yielded(op: Operation) -> Iterator[SSAValue]:
    """What the bodies of `op` end with."""
    for region in op.regions:
        for block in region.blocks:
            if block.last_op is not None:
                yield from block.last_op.operands
