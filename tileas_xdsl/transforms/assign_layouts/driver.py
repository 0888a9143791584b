"""The three layers, one function at a time: groups, candidates, the choice by cost."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import func
from xdsl.dialects.builtin import UnregisteredOp
from xdsl.ir import Block, Operation

from tileas_xdsl.analysis.layouts.tile_groups import TileGroup, TileGroups, placed_tile
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.pipelines.create import CreatePipelineOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ViewOp
from tileas_xdsl.dialects.nv_tileas.spaces import ON_CHIP, shape_of
from tileas_xdsl.target.arch import Target
from tileas_xdsl.threads.pipeline.kernel_plan import KernelPlan
from tileas_xdsl.transforms.assign_layouts.candidates.broadcast_lines import is_broadcast_line
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import (
    Candidate,
    choices,
    prune_families,
)
from tileas_xdsl.transforms.assign_layouts.candidates.dot.instructions import choose_instructions
from tileas_xdsl.transforms.assign_layouts.candidates.dot.register_accumulators import (
    add_register_accumulators,
)
from tileas_xdsl.transforms.assign_layouts.candidates.memory.buffers import memory_candidates
from tileas_xdsl.transforms.assign_layouts.candidates.memory.other_side import memory_of
from tileas_xdsl.transforms.assign_layouts.candidates.memory.tensor_memory import tensor_candidates
from tileas_xdsl.transforms.assign_layouts.candidates.rearranged_tiles import lay_out_rearranged
from tileas_xdsl.transforms.assign_layouts.candidates.registers import register_candidates
from tileas_xdsl.transforms.assign_layouts.candidates.stored_views import is_stored_view
from tileas_xdsl.transforms.assign_layouts.request import Assignment, Decision, Preferences
from tileas_xdsl.transforms.assign_layouts.spaces.memory_spaces import common_spaces
from tileas_xdsl.transforms.assign_layouts.spaces.required_conversions import (
    put_into_stages,
    put_where_read,
    separate_agents,
)
from tileas_xdsl.transforms.assign_layouts.tma_preference import prefer_tma
from tileas_xdsl.transforms.assign_layouts.writing.operations import write


def assign_layouts(
    function: func.FuncOp, target: Target, preferences: Preferences
) -> Sequence[Decision]:
    """Lay out the tiles of a function; what was compared and chosen for each group."""
    plan = KernelPlan.of(function, target)
    choose_instructions(function, plan)
    add_register_accumulators(function)
    if preferences.prefer_tma:
        prefer_tma(function)
    separate_agents(function)
    put_into_stages(function)
    put_where_read(function)
    groups = TileGroups(function)
    a = Assignment(plan, groups, common_spaces(function, groups), preferences)
    # Memory is laid out last: what threads pay for it depends on their registers.
    # What rows are reduced to is laid out after the rows, what is broadcast over tiles after those,
    # what is only stored after what it shows, and what shows a loaded tile after that.
    by_size = sorted(
        groups.groups,
        key=lambda group: (
            *(is_stored_view(a, group), is_broadcast_line(group)),
            *(-_rank(a, group), -prod(group.shape)),
        ),
    )
    for is_memory in (False, True):
        for group in by_size:
            if is_stored_view(a, group):
                lay_out_rearranged(a)
            if group not in a.decisions and _is_memory(a, group) is is_memory:
                a.decisions[group] = _decide(a, group)
        lay_out_rearranged(a)
    write(a, function)
    return list(a.decisions.values())


_FLEXIBLE = (
    *("arith.", "math.", "nv_tileas.", "scf."),
    *("nv_tileaa.addptr", "tensor.extract", "tensor.splat"),
)
"""Operations whose tiles may be laid out anew, beside those that nobody has registered."""


def _is_pinned(group: TileGroup) -> bool:
    """Whether a tile comes from, or goes to, where the layout of its type is relied on.

    Functions, their callers and branches between blocks are such places.
    """
    for value in group.values:
        if placed_tile(value.type) is None:
            continue
        owner = value.owner if isinstance(value.owner, Operation) else value.owner.parent_op()
        users = (use.operation for use in value.uses)
        if any(not _is_flexible(op) for op in (owner, *users)):
            return True
        if isinstance(value.owner, Block) and value.owner.prev_block is not None:
            return True
    return False


def _is_flexible(op: Operation | None) -> bool:
    return isinstance(op, UnregisteredOp) or (op is not None and op.name.startswith(_FLEXIBLE))


def _rank(a: Assignment, group: TileGroup) -> int:
    """The dimensions of a group; more than of what shows it, where it is loaded.

    Rows of 128 as pairs to be added up, 64x2, are loaded by 16 bytes: the pairs are where they are.
    """
    loads = [op for value in group.values if isinstance(op := value.owner, TiledLoadOp)]
    if not any(memory_of(a, op, group) is Space.GMEM for op in loads):
        return len(group.shape)
    users = [use.operation for value in group.values for use in value.uses]
    shown = [len(shape_of(op.results[0].type) or ()) for op in users if isinstance(op, ViewOp)]
    return max([len(group.shape), *(rank + 1 for rank in shown if rank > len(group.shape))])


def _is_memory(a: Assignment, group: TileGroup) -> bool | None:
    """Whether a group lies in memory; None for one that is not laid out here.

    Those are parts of others, the slots of pipelines, and what other places rely on.
    """
    kinds = a.kind(group)
    if _holds_stages(group) or _is_pinned(group):
        return None
    # Nothing says where views and their views are: in registers, if what they are of is.
    if not kinds or Space.RMEM in kinds:
        return False
    return None if all(value in a.groups.parts for value in group.values) else True


def _holds_stages(group: TileGroup) -> bool:
    """Whether a buffer is the memory of a pipeline, which lays out its stages itself."""
    return any(
        isinstance(use.operation, CreatePipelineOp) for value in group.values for use in value.uses
    )


def _decide(a: Assignment, group: TileGroup) -> Decision:
    kinds, found = a.kind(group) - _moved_to(a, group), list[Candidate]()
    if Space.RMEM in kinds:
        found += register_candidates(a, group)
    if Space.SMEM in kinds:
        found += memory_candidates(a, group)
    if Space.TMEM in kinds:
        found += tensor_candidates(group)
    pruned = prune_families(found)
    ranked = choices(pruned, a.preferences.weights)
    return Decision(group, tuple(pruned), ranked[0] if ranked else None)


def _moved_to(a: Assignment, group: TileGroup) -> frozenset[Space]:
    """Memories of a group that a view would have to move its source to, and a view moves no data.

    Tiles of more dimensions are laid out first, so that a view that drops some finds its source.
    """
    views = [value.owner for value in group.values if isinstance(value.owner, ViewOp)]
    choices = [choice for op in views if (choice := a.choice(op.source)) is not None]
    is_in_registers = any(choice.kind is Space.RMEM for choice in choices)
    return frozenset(ON_CHIP if is_in_registers and Space.RMEM in a.kind(group) else ())
