"""Memory spaces of tile groups: those that all operations on a group accept."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation

from tileas_xdsl.analysis.tile_groups import (
    BUFFERS,
    TileGroup,
    TileGroups,
)
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.transforms.assign_layouts.space_requirements import (
    reads_registers,
    space_requirements,
)


def residents(root: Operation, groups: TileGroups) -> set[TileGroup]:
    """The groups that some operation needs in a memory, whoever reads their values."""
    wanted = _wanted(root, groups, readers=False)
    common = {group: _common(claims) for group, claims in wanted.items()}
    return {group for group, spaces in common.items() if spaces and spaces <= frozenset(BUFFERS)}


def common_spaces(root: Operation, groups: TileGroups) -> Mapping[TileGroup, frozenset[Space]]:
    """Where each group that some operation has a word on may be; an error if nowhere."""
    found: dict[TileGroup, frozenset[Space]] = {}
    for group, claims in _wanted(root, groups, readers=True).items():
        found[group] = _common(claims)
        if not found[group]:
            text = message("assign_layouts.alias_group_mem_kind")
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
        for value, spaces in space_requirements(op):
            group = groups.of(groups.whole_of(value))
            if group is not None:
                found.setdefault(group, []).append(spaces)
    return found


def _first_op(group: TileGroup) -> Operation:
    owner = group.values[0].owner
    parent = owner if isinstance(owner, Operation) else owner.parent_op()
    assert parent is not None
    return parent
