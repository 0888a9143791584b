"""Attributes by which a program constrains the schedule of a loop.

    tileas.schedule.constraint.gid = 3 : i32           member of group 3
    tileas.schedule.constraint.leader_gid = 1 : i32    whose root is that of group 1
    tileas.schedule.constraint.max_depth = 0 : i32     start div II is at most 0
    tileas.schedule.constraint.force_serial_execution  one operation after another, no overlap

Operations of one leader's groups run at one depth (`start div II`).  A missing integer is absent,
not 0, and two groups that name each other as leader are one.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence

from xdsl.dialects.builtin import IntegerAttr
from xdsl.ir import Attribute, Operation
from xdsl.utils.disjoint_set import DisjointSet
from xdsl.utils.hints import isa

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error

PREFIX = "tileas.schedule.constraint"
GID, LEADER_GID = f"{PREFIX}.gid", f"{PREFIX}.leader_gid"
MAX_DEPTH, FORCE_SERIAL = f"{PREFIX}.max_depth", f"{PREFIX}.force_serial_execution"


@dataclass(frozen=True)
class Constraints:
    """What an operation's attributes ask of its schedule; None for what they do not say."""

    gid: int | None = None
    leader_gid: int | None = None
    max_depth: int | None = None
    serial: bool = False


def constraints_of(op: Operation) -> Constraints:
    """Return the constraints of an operation; an inherent attribute goes before another one."""
    return Constraints(
        _integer(op, GID),
        _integer(op, LEADER_GID),
        _integer(op, MAX_DEPTH),
        _attribute(op, FORCE_SERIAL) is not None,
    )


def groups_of(constraints: Iterable[Constraints]) -> Sequence[Sequence[int]]:
    """Return the positions of those that are in one leader's groups, for two members or more."""
    found = list(constraints)
    ids = {gid for one in found for gid in (one.gid, one.leader_gid) if gid is not None}
    sets: DisjointSet[int] = DisjointSet(sorted(ids))
    for one in found:
        if one.gid is not None and one.leader_gid is not None:
            sets.union_left(one.leader_gid, one.gid)
    members: defaultdict[int, list[int]] = defaultdict(list)
    for place, one in enumerate(found):
        if one.gid is not None:
            members[sets.find(one.gid)].append(place)
    return [group for group in members.values() if len(group) > 1]


def _attribute(op: Operation, name: str) -> Attribute | None:
    return op.properties.get(name) or op.attributes.get(name)


def _integer(op: Operation, name: str) -> int | None:
    value = _attribute(op, name)
    if value is None:
        return None
    if not isa(value, IntegerAttr):
        raise op_error(op, f"has {name} = {value}, which has to be an integer")
    return value.value.data
