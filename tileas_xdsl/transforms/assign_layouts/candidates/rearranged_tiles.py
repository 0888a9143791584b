"""Layouts of tiles made of elements of others, or that others are made of: without an exchange.

    %v = view %d : 128x64, accumulators -> 1x1x128x64      as the accumulators are
    %p = generate { extract %v[0, 0, %i, %j + 32] }        their last 32 columns

A group follows tiles whose layout is decided: those that it takes elements of (`taken_elements`),
or those that take elements of it, perhaps by way of groups that are not decided yet.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from math import prod

from xdsl.dialects import tensor
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.layouts.tile_groups import FREE_TILES, TileGroup, placed_tile
from tileas_xdsl.dialects.nv_tileas.attributes import RegisterEncoding
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.shapes.layout import (
    ConvertLayoutOp,
    ExpandDimsOp,
    GenerateOp,
    ViewOp,
)
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.layout.axes import E
from tileas_xdsl.layout.integers import is_power_of_two
from tileas_xdsl.layout.layout import Layout, make_layout
from tileas_xdsl.layout.operations.simplify import coalesce
from tileas_xdsl.layout.registers.blocked import (
    ACCESS_BYTES,
    MAX_REPLICATED_REGISTERS,
    line_layout,
)
from tileas_xdsl.layout.registers.register_layout import VALUE, RegisterLayout
from tileas_xdsl.layout.tables import Table
from tileas_xdsl.threads.index.rearrangement import (
    TakenElements,
    layout_of_result,
    layout_of_source,
    taken_elements,
)
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import (
    NOTHING,
    Choice,
    Family,
)
from tileas_xdsl.transforms.assign_layouts.request import Assignment, Decision

REARRANGING = (ExpandDimsOp, GenerateOp, ViewOp)
"""Operations that make a tile of elements of others."""


def lay_out_rearranged(a: Assignment) -> None:
    """Lay out groups of registers without a choice like what they are made of, once that has one.

    A view of a view follows it, so this goes on until nothing changes.
    """
    while any([_follow(a, group) for group in a.groups.groups]):
        pass


def _follow(a: Assignment, group: TileGroup) -> bool:
    """Lay out a group like decided ones that it is made of, or that are made of it."""
    decision = a.decisions.get(group)
    if decision is None or decision.choice is not None or decision.candidates:
        return False
    if any(_stated(value) for value in group.values):
        return False
    if a.kind(group) and Space.RMEM not in a.kind(group):
        return False
    layout = next(chain(_of_sources(a, group), _of_results(a, group, set())), None)
    layout = _with_parts_in_threads(a, group, layout)
    if layout is None:
        return False
    choice = Choice(layout.layout, _family(a, group), Space.RMEM, {}, NOTHING)
    a.decisions[group] = Decision(group, (), choice)
    return True


def _family(a: Assignment, group: TileGroup) -> Family:
    """That of a tile that has the group's extents but for dimensions of one element; else linear.

    Accumulators stay accumulators.
    """
    extents = [extent for extent in group.shape if extent != 1]
    for value in group.values:
        if isinstance(value.owner, ViewOp) and (choice := a.choice(value.owner.source)) is not None:
            shape = shape_of(value.owner.source.type) or ()
            if [extent for extent in shape if extent != 1] == extents:
                return choice.family
    return Family.LINEAR


def _with_parts_in_threads(
    a: Assignment, group: TileGroup, found: RegisterLayout | None
) -> RegisterLayout | None:
    """A layout in which threads hold the parts that a tile is cut into, if the one found does not.

    One exchange then brings the tile there, instead of one for each part.  Halves of `4x2x64`:
    the 4x64 places of a half are dealt to threads, and each has both halves in registers.
    Parts of fewer elements than there are threads are replicated, as long as these are few.
    """
    parts = list(_parts(a, group))
    if not parts or (found is not None and all(_is_held(found, *part) for part in parts)):
        return found
    extents = [*group.shape, *(extent for _, part in parts for extent in part)]
    if not all(map(is_power_of_two, extents)):
        return found
    least = tuple(min(extents) for extents in zip(*(part for _, part in parts), strict=True))
    dealt = line_layout(least, a.agent(group.first_op).warps, ACCESS_BYTES)
    modes, step = list(dealt.layout), dealt.values
    for axis, (extent, part) in enumerate(zip(group.shape, least, strict=True)):
        if part < extent:
            modes[axis] = coalesce(make_layout(modes[axis], Layout(extent // part, E(VALUE, step))))
            step *= extent // part
    if step * dealt.threads > prod(group.shape) and step > MAX_REPLICATED_REGISTERS:
        return found
    return RegisterLayout(make_layout(*modes), group.shape, dealt.threads)


def _parts(a: Assignment, group: TileGroup) -> Iterator[tuple[Table, tuple[int, ...]]]:
    """Where the parts of tiles of a group, of fewer elements, are in them, and their extents."""
    for value in group.values:
        for op in _makers_of_others(a, value, group):
            shape = shape_of(op.results[0].type) or ()
            if len(shape) == len(group.shape) and prod(shape) < prod(group.shape):
                yield from ((one.at, shape) for one in _taken(a, op) if one.source is value)


def _is_held(whole: RegisterLayout, at: Table, shape: tuple[int, ...]) -> bool:
    """Whether threads that hold a tile so hold a part of it, in equal shares."""
    return layout_of_result([(at, whole)], shape, whole.threads) is not None


def layouts_without_exchange(a: Assignment, group: TileGroup) -> Sequence[RegisterLayout]:
    """The layouts of a group in which it takes its elements, or others take them, in registers."""
    return list(dict.fromkeys(chain(_of_results(a, group, set()), _of_sources(a, group))))


def _of_sources(a: Assignment, group: TileGroup) -> Iterator[RegisterLayout]:
    """The layouts that follow from the tiles that tiles of a group are made of."""
    threads = a.agent(group.first_op).threads
    for value in group.values:
        taken = _taken_from_others(a, value.owner, group)
        layouts = [(at, _decided(a, source)) for source, at in taken]
        known = [(at, layout) for at, layout in layouts if layout is not None]
        if known and len(known) == len(layouts):
            found = layout_of_result(known, group.shape, threads)
            yield from () if found is None else (found,)


def _taken_from_others(
    a: Assignment, op: object, group: TileGroup
) -> Sequence[tuple[SSAValue, Table]]:
    """What an operation takes of tiles of other groups, each element once.

    Tiles that no registers hold are free, and those that it repeats have layouts of their own.
    """
    return [
        (one.source, one.at)
        for one in _taken(a, op)
        if one.is_injective
        and a.groups.of(one.source) is not group
        and not isinstance(one.source.owner, FREE_TILES)
    ]


def _taken(a: Assignment, op: object) -> Sequence[TakenElements]:
    """What an operation takes of other tiles; nothing where that is not known."""
    if not isinstance(op, REARRANGING):
        return ()
    if op not in a.taken:
        a.taken[op] = taken_elements(op) or ()
    return a.taken[op]


def _of_results(a: Assignment, group: TileGroup, seen: set[TileGroup]) -> Iterator[RegisterLayout]:
    """The layouts that follow from the tiles that are made of tiles of a group."""
    seen.add(group)
    repeats = _is_read_from_memory(a, group)
    for value in group.values:
        for op in _makers_of_others(a, value, group):
            made = a.groups.of(op.results[0])
            if made is None or made in seen:
                continue
            decided = _decided(a, op.results[0])
            wanted = _of_results(a, made, seen) if decided is None else [decided]
            for taken in _taken(a, op):
                if taken.source is value:
                    found = (
                        layout_of_source(taken.at, one, group.shape, repeats=repeats)
                        for one in wanted
                    )
                    yield from (layout for layout in found if layout is not None)


def _is_read_from_memory(a: Assignment, group: TileGroup) -> bool:
    """Whether a tile is read from shared memory, where each thread may read what it needs.

    What is repeated for others is read again, and nothing is computed twice.
    """
    return all(
        isinstance(value.owner, ConvertLayoutOp)
        and (source := a.groups.of(value.owner.source)) is not None
        and a.kind(source) == frozenset((Space.SMEM,))
        for value in group.values
    )


def _makers_of_others(a: Assignment, value: SSAValue, group: TileGroup) -> Iterator[Operation]:
    """The views and `generate`s that take elements of a tile for a tile of another group."""
    for use in value.uses:
        op: Operation | None = use.operation
        if isinstance(op, tensor.ExtractOp):
            op = op.parent_op()
        if isinstance(op, REARRANGING) and a.groups.of(op.results[0]) is not group:
            yield op


def _decided(a: Assignment, value: SSAValue) -> RegisterLayout | None:
    """The register layout that is decided for a tile, or that its type states."""
    choice, group, shape = a.choice(value), a.groups.of(value), shape_of(value.type)
    if group is None or shape is None:
        return None
    chosen = choice.layout if choice is not None and choice.kind is Space.RMEM else None
    layout = chosen or _stated(value)
    if not isinstance(layout, Layout):
        return None
    return RegisterLayout(layout, shape, a.agent(group.first_op).threads)


def _stated(value: SSAValue) -> Layout | None:
    """The register layout that the type of a tile states."""
    tile = placed_tile(value.type)
    encoding = None if tile is None else tile.encoding
    return encoding.data if isinstance(encoding, RegisterEncoding) else None
