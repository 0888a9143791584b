"""Memory spaces of tile groups: those that all operations on a group accept."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import get_args

from xdsl.ir import Operation, SSAValue

from tileas_xdsl.analysis.layouts.tile_groups import TileGroup, TileGroups
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import note, op_error
from tileas_xdsl.diagnostics.report import Diagnostic
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import Kinds
from tileas_xdsl.dialects.nv_tileas.compute.dot import MatrixProduct
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.spaces import ON_CHIP
from tileas_xdsl.transforms.assign_layouts.spaces.space_requirements import (
    reads_registers,
    space_requirements,
)


def residents(root: Operation, groups: TileGroups) -> set[TileGroup]:
    """The groups that some operation needs in a memory, whoever reads their values."""
    wanted = _wanted(root, groups, _is_no_reader)
    common = {group: _common(claims) for group, claims in wanted.items()}
    return {group for group, spaces in common.items() if spaces and spaces <= frozenset(ON_CHIP)}


def in_registers(root: Operation, groups: TileGroups) -> set[TileGroup]:
    """The groups that are in registers, whichever memory products read their operands from."""
    made = (v for group in groups.groups for v in group.values if is_computed(v))
    found = {group for value in made if (group := groups.of(value)) is not None}
    for group, claims in _wanted(root, groups, _is_no_product).items():
        if _common(claims) == frozenset({Space.RMEM}):
            found.add(group)
    return found


def is_computed(value: SSAValue) -> bool:
    """Whether a tile is computed in registers."""
    return isinstance(value.owner, Operation) and reads_registers(value.owner)


def common_spaces(root: Operation, groups: TileGroups) -> Mapping[TileGroup, frozenset[Space]]:
    """Where each group that some operation restricts may be; an error if nowhere."""
    found: dict[TileGroup, frozenset[Space]] = {}
    for group, claims in _wanted(root, groups, lambda op: True).items():
        found[group] = _common(claims)
        if not found[group]:
            text = message("assign_layouts.alias_group_mem_kind")
            raise op_error(group.first_op, text, map(_described, claims))
    return found


@dataclass(frozen=True)
class _Claim:
    """An operation and the memory spaces that it accepts for a tile."""

    op: Operation
    value: SSAValue
    spaces: frozenset[Space]


_Claims = list[_Claim]


def _described(claim: _Claim) -> Diagnostic:
    hint = claim.value.name_hint
    name = f"the tile {claim.value.type}" if hint is None else f"%{hint}"
    spaces = " or ".join(sorted(space.value for space in claim.spaces))
    return note(claim.op, f"'{claim.op.name}' has {name} in {spaces}")


def _common(claims: _Claims) -> frozenset[Space]:
    first, *others = (claim.spaces for claim in claims)
    return first.intersection(*others)


def _is_no_reader(op: Operation) -> bool:
    return not reads_registers(op)


_PRODUCTS = Kinds(*get_args(MatrixProduct))


def _is_no_product(op: Operation) -> bool:
    return not _PRODUCTS[type(op)] and not reads_registers(op)


def _wanted(
    root: Operation, groups: TileGroups, counts: Callable[[Operation], bool]
) -> Mapping[TileGroup, _Claims]:
    """By group, what the operations that count demand."""
    found: dict[TileGroup, _Claims] = {}
    for op in operations_in(root):
        if not counts(op):
            continue
        for value, spaces in space_requirements(op):
            group = groups.of(groups.whole_of(value))
            if group is not None:
                found.setdefault(group, []).append(_Claim(op, value, spaces))
    return found
