"""The verifier of `agent_switch`: bodies, budgets, warps, isolation, in this order."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import cast

from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType
from xdsl.ir import Block, Operation, Region, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import note, op_error
from tileas_xdsl.diagnostics.verification.dominance import OPEN_BOUNDARY
from tileas_xdsl.diagnostics.walking import operands_of, operations_in
from tileas_xdsl.dialects.nv_tileaa.attributes import KERNEL_SPEC, KernelSpecAttr
from tileas_xdsl.dialects.nv_tileas.pipelines.checks import check_terminator, note_at
from tileas_xdsl.dialects.nv_tileas.pipelines.family import AGENT_SWITCH
from tileas_xdsl.target.isa.tables.warps import MAX_REGISTERS


@dataclass(frozen=True)
class WarpRange:
    """The warps of an agent; `start` is None before execution units are mapped."""

    start: int | None
    count: int

    def overlaps(self, other: WarpRange) -> bool:
        """Whether a warp is in both."""
        if self.start is None or other.start is None:
            return False
        return self.start < other.start + other.count and other.start < self.start + self.count


def check_agents(op: Operation) -> None:
    """All checks of an `agent_switch`, in order."""
    _check_bodies(op)
    _check_budgets(op)
    ranges = _warp_ranges(op)
    _check_ranges(op, ranges)
    _check_launch(op, ranges)
    _check_isolation(op)


def _check_bodies(op: Operation) -> None:
    for index, region in enumerate(op.regions):
        block = region.block
        if block.args:
            raise op_error(op, f"gives its agents no arguments, but agent {index} takes some")
        check_terminator(op, block)
        if block.last_op is not None and block.last_op.operands:
            raise op_error(op, f"has no results, but agent {index} yields some")


def _check_budgets(op: Operation) -> None:
    size = op.properties["num_agents_per_group"]
    if not isinstance(size, IntegerAttr) or size.value.data < 1:
        raise op_error(op, "num_agents_per_group is at least 1")
    bodies = len(op.regions)
    for name in ("max_regs", "num_warps", "warp_id", "agent_strides"):
        values = int_values(op, name)
        if values is not None and len(values) not in (bodies, bodies * size.value.data):
            raise op_error(op, f"{name} has one entry for each agent, {bodies}, not {len(values)}")
    for registers in int_values(op, "max_regs") or ():
        if not 0 <= registers <= MAX_REGISTERS:
            raise op_error(op, f"max_regs are 0 to {MAX_REGISTERS}, not {registers}")


def int_values(op: Operation, name: str) -> Sequence[int] | None:
    """The numbers of an array attribute, None if it is not there."""
    values = op.properties.get(name)
    if values is None or not isinstance(values, DenseArrayBase):
        return None
    return cast("DenseArrayBase[IntegerType]", values).get_values()


def _warp_ranges(op: Operation) -> Sequence[WarpRange]:
    counts, starts = int_values(op, "num_warps"), int_values(op, "warp_id")
    if counts is None:
        if starts is not None:
            raise op_error(op, "has warp_id, but no num_warps")
        return ()
    if any(count < 1 for count in counts):
        raise op_error(op, f"an agent has at least one warp, but num_warps is {list(counts)}")
    if starts is None:
        return [WarpRange(None, count) for count in counts]
    if any(start < 0 for start in starts):
        raise op_error(op, f"warps are numbered from 0, but warp_id is {list(starts)}")
    if len(starts) != len(counts):
        raise op_error(op, f"has {len(counts)} num_warps, but {len(starts)} warp_id")
    return [WarpRange(start, count) for start, count in zip(starts, counts, strict=True)]


def _check_ranges(op: Operation, ranges: Sequence[WarpRange]) -> None:
    """Agents share all of their warps, then with one count, or none."""
    for index, one in enumerate(ranges):
        for other_index, other in enumerate(ranges[:index]):
            if one == other or not one.overlaps(other):
                continue
            if one.start == other.start:
                raise op_error(op, message("nv_tileas.agent_switch.warp_counts_differ"))
            raise op_error(op, f"gives agents {other_index} and {index} some of the same warps")


def _check_launch(op: Operation, ranges: Sequence[WarpRange]) -> None:
    budget = _warp_budget(op)
    if budget is not None and _warps_used(ranges) > budget:
        raise op_error(op, message("nv_tileas.agent_switch.warp_budget"))


def _warps_used(ranges: Sequence[WarpRange]) -> int:
    """Warps that a launch needs, holes included."""
    if any(warps.start is None for warps in ranges):
        return sum(warps.count for warps in ranges)
    return max(((warps.start or 0) + warps.count for warps in ranges), default=0)


def _warp_budget(op: Operation) -> int | None:
    """Return the warp count of the enclosing agent, else of the launch; None if unknown."""
    inner, parent = op, op.parent_op()
    while parent is not None:
        if parent.name == AGENT_SWITCH.op_name and (counts := int_values(parent, "num_warps")):
            index = next(i for i, r in enumerate(parent.regions) if r is inner.parent_region())
            agents = max(len(counts) // len(parent.regions), 1)
            return sum(counts[index * agents : (index + 1) * agents])
        if isinstance(spec := parent.attributes.get(KERNEL_SPEC), KernelSpecAttr):
            return spec.data.num_warps
        inner, parent = parent, parent.parent_op()
    return None


def _check_isolation(op: Operation) -> None:
    isolated = op.properties["isolated"]
    if not isinstance(isolated, IntegerAttr) or not isolated.value.data:
        return
    if OPEN_BOUNDARY in op.attributes:
        return
    for index, region in enumerate(op.regions):
        for user, value in captures(region):
            text = f"uses {_name(value)} from outside of the isolated agent {index}"
            notes = [note_at(value, "defined here"), note(op, "isolated here")]
            raise op_error(user, text, notes)


def captures(region: Region) -> Iterator[tuple[Operation, SSAValue]]:
    """The uses in `region` of values that are defined outside of it."""
    inside: set[Block] = set()
    for op in operations_in(region):
        inside.update(block for inner in op.regions for block in inner.blocks)
    inside.update(region.blocks)
    for op in operations_in(region):
        for operand in operands_of(op):
            owner = operand.owner
            block = owner if type(owner) is Block else owner.parent
            if block not in inside:
                yield op, operand


def _name(value: SSAValue) -> str:
    return "a value" if value.name_hint is None else f"%{value.name_hint}"
