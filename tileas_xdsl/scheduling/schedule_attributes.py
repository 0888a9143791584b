"""Schedules as attributes of a loop and its operations: read, written, and checked in their form.

`schedule` says what the entries mean; whether a schedule respects dependences and units is judged
by the checker of schedules (`loops/schedule_verification.py`).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import fields
from enum import StrEnum
from typing import NoReturn, TypeVar, cast

from xdsl.dialects import scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    IntegerAttr,
    IntegerType,
    StringAttr,
    i32,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.suggest import did_you_mean
from tileas_xdsl.dialects.interned import i32_attr
from tileas_xdsl.scheduling.schedule import (
    AWS_ORDER,
    AWS_STAGE,
    SCHEDULE,
    BufferPlan,
    LoopPlan,
    Pin,
    Placement,
    Role,
    RolePlan,
    Schedule,
    loads_of,
)
from tileas_xdsl.target.costs.units import Unit
from tileas_xdsl.target.isa.tables.warps import MAX_REGISTERS

_KeywordT = TypeVar("_KeywordT", bound=StrEnum)


def read_schedule(loop: scf.ForOp) -> Schedule | None:
    """Return the schedule of a loop whose attributes are complete and well formed.

    None if the loop has none; `OpError`, at the operation, where an attribute is malformed, misses
    entries or contradicts another one.
    """
    if SCHEDULE not in loop.attributes:
        return None
    plan = read_plan(loop)
    placements: dict[Operation, Placement] = {}
    for op in loop.body.block.ops:
        if SCHEDULE not in op.attributes:
            continue
        placement = read_pin(op).placement
        if placement is None:
            _refuse(op, f"has only a part of a placement: {_said(op)}; {_ALL}")
        placements[op] = placement
    schedule = Schedule(plan, placements)
    verify_schedule(loop, schedule)
    return schedule


_ALL = "an operation of a scheduled loop has stage, order, start, role and unit"


def read_pin(op: Operation) -> Pin:
    """Return what an operation's attributes say of its place; `OpError` for what they may not."""
    said = op.attributes.get(SCHEDULE)
    if said is None:
        return Pin(_aws(op, AWS_STAGE), _aws(op, AWS_ORDER))
    entries = _entries(op, said, [one.name for one in fields(Pin)])
    pin = Pin(
        stage=_integer(op, entries, "stage", 0),
        order=_integer(op, entries, "order", 0),
        start=_integer(op, entries, "start", 0),
        role=_keyword(op, entries, "role", Role),
        unit=_keyword(op, entries, "unit", Unit),
    )
    for name, value in ((AWS_STAGE, pin.stage), (AWS_ORDER, pin.order)):
        if value is not None and (other := _aws(op, name)) not in (None, value):
            what = name.rpartition(".")[2]
            found = f"has {what} = {value} in {SCHEDULE}, but {name} = {other}"
            _refuse(op, f"{found}; leave the second one out, or make both the same")
    return pin


def read_plan(loop: scf.ForOp) -> LoopPlan:
    """Return what a loop's attribute says; empty without one, `OpError` for what it may not say."""
    said = loop.attributes.get(SCHEDULE)
    if said is None:
        return LoopPlan(None)
    entries = _entries(loop, said, [one.name for one in fields(LoopPlan)])
    plan = LoopPlan(
        _integer(loop, entries, "ii", 1),
        [_role(loop, one) for one in _elements(loop, entries, "roles")],
        [_buffer(loop, one) for one in _elements(loop, entries, "buffers")],
        _turns(loop, entries),
        "ahead" in entries,
    )
    _verify_plan(loop, plan)
    return plan


def _turns(loop: scf.ForOp, entries: Mapping[str, Attribute]) -> Sequence[int]:
    value = entries.get("turns")
    if value is None:
        return ()
    if not isinstance(value, DenseArrayBase):
        _refuse(loop, f"has turns = {value} in {SCHEDULE}, which has to be an array of i32")
    return [int(number) for number in cast("DenseArrayBase[IntegerType]", value).get_values()]


def _aws(op: Operation, name: str) -> int | None:
    """Stage or order in the published spelling; what is not i32 counts as absent."""
    value = op.attributes.get(name)
    return value.value.data if isa(value, IntegerAttr) and value.type == i32 else None


def _role(loop: scf.ForOp, said: Attribute) -> RolePlan:
    entries = _entries(loop, said, [one.name for one in fields(RolePlan)])
    name = _keyword(loop, entries, "name", Role)
    warps = _integer(loop, entries, "warps", 1)
    registers = _integer(loop, entries, "registers", 24)
    if name is None or warps is None or registers is None:
        _refuse(loop, f"has a role without name, warps or registers: {said}")
    return RolePlan(name, warps, registers, _integer(loop, entries, "replicas", 1) or 1)


def _buffer(loop: scf.ForOp, said: Attribute) -> BufferPlan:
    entries = _entries(loop, said, [one.name for one in fields(BufferPlan)])
    value, stages = _integer(loop, entries, "value", 0), _integer(loop, entries, "stages", 1)
    if value is None or stages is None:
        _refuse(loop, f"has a buffer without value or stages: {said}")
    return BufferPlan(value, stages, _integer(loop, entries, "offset", 0))


def _entries(op: Operation, said: Attribute, known: Sequence[str]) -> Mapping[str, Attribute]:
    if not isinstance(said, DictionaryAttr):
        _refuse(op, f"has no dictionary as {SCHEDULE}: {said}")
    for name in said.data:
        if name not in known:
            hint = did_you_mean(name, known) or f"known are {', '.join(known)}"
            _refuse(op, f"has an unknown entry '{name}' in {SCHEDULE}; {hint}")
    return said.data


def _integer(op: Operation, entries: Mapping[str, Attribute], name: str, least: int) -> int | None:
    value = entries.get(name)
    if value is None:
        return None
    if not isa(value, IntegerAttr) or value.type != i32:
        _refuse(op, f"has {name} = {value} in {SCHEDULE}, which has to be an i32")
    if value.value.data < least:
        _refuse(op, f"has {name} = {value.value.data} in {SCHEDULE}; at least {least} is needed")
    return value.value.data


def _keyword(
    op: Operation, entries: Mapping[str, Attribute], name: str, kind: type[_KeywordT]
) -> _KeywordT | None:
    value = entries.get(name)
    if value is None:
        return None
    known = [one.value for one in kind]
    if not isinstance(value, StringAttr) or value.data not in known:
        _refuse(op, f"has {name} = {value} in {SCHEDULE}; known are {', '.join(known)}")
    return kind(value.data)


def _elements(op: Operation, entries: Mapping[str, Attribute], name: str) -> Iterator[Attribute]:
    value = entries.get(name)
    if value is not None and not isa(value, ArrayAttr[Attribute]):
        _refuse(op, f"has {name} = {value} in {SCHEDULE}, which has to be an array")
    if value is not None:
        yield from value.data


def _said(op: Operation) -> str:
    return str(op.attributes[SCHEDULE])


def write_schedule(loop: scf.ForOp, schedule: Schedule) -> None:
    """Write a schedule on a loop and its operations, in place of what was there."""
    clear_schedule(loop)
    loop.attributes[SCHEDULE] = schedule.plan.attribute
    write_placements(schedule)


def write_placements(schedule: Schedule) -> None:
    """Write the placements of a schedule on its operations."""
    for op, placement in schedule.placements.items():
        op.attributes[SCHEDULE] = placement.attribute
        op.attributes[AWS_STAGE] = i32_attr(placement.stage)
        op.attributes[AWS_ORDER] = i32_attr(placement.order)


def clear_schedule(loop: scf.ForOp) -> None:
    """Remove the schedule of a loop and of its operations, if they have one."""
    for op in (loop, *loop.body.block.ops):
        clear_placement(op)


def clear_placement(op: Operation) -> None:
    """Remove what an operation says of its place in a schedule."""
    for name in (SCHEDULE, AWS_STAGE, AWS_ORDER):
        op.attributes.pop(name, None)


def verify_schedule(loop: scf.ForOp, schedule: Schedule) -> None:
    """Raise `OpError` where the entries of a schedule contradict one another."""
    if schedule.plan.ii is None:
        _refuse(loop, f"has no ii in {SCHEDULE}")
    for op, one in schedule.placements.items():
        if schedule.plan.role(one.role) is None:
            _refuse(op, f"is scheduled in the role {one.role}, which its loop does not have")
        if one.stage != one.start // schedule.ii:
            found = f"is in stage {one.stage}, but starts at cycle {one.start}"
            _refuse(
                op, f"{found}, which with ii = {schedule.ii} is stage {one.start // schedule.ii}"
            )
    if schedule.placements and min(one.stage for one in schedule.placements.values()) > 0:
        _refuse(loop, "has no operation in stage 0 of its schedule")
    _verify_orders(schedule)


def _verify_plan(loop: scf.ForOp, plan: LoopPlan) -> None:
    names = [role.name for role in plan.roles]
    if len({*names}) < len(names):
        _refuse(loop, f"has a role twice in {SCHEDULE}: {', '.join(names)}")
    for role in plan.roles:
        if role.registers % 8 or role.registers > MAX_REGISTERS:
            _refuse(
                loop,
                f"gives {role.registers} registers to the role {role.name}; "
                f"setmaxnreg takes multiples of 8 from 24 to {MAX_REGISTERS}",
            )
    values, loads = [one.value for one in plan.buffers], len(loads_of(loop))
    if len({*values}) < len(values):
        _refuse(loop, f"has two entries for one load in buffers of {SCHEDULE}")
    if values and max(values) >= loads:
        _refuse(loop, f"has a buffer of load {max(values)}, but its body has {loads} loads")


def _verify_orders(schedule: Schedule) -> None:
    """Equal orders of a role belong to one group; other orders follow the starts in a round."""
    by_role: defaultdict[Role, dict[int, Placement]] = defaultdict(dict)
    for op, one in schedule.placements.items():
        first = by_role[one.role].setdefault(one.order, one)
        if first != one:
            found = f"has order {one.order} of the role {one.role}"
            _refuse(op, f"{found}, as has an operation that starts at cycle {first.start}")
    for op, one in schedule.placements.items():
        mine = by_role[one.role]
        before = max((order for order in mine if order < one.order), default=None)
        if before is not None and mine[before].start % schedule.ii > one.start % schedule.ii:
            at = mine[before].start % schedule.ii
            _refuse(
                op,
                f"has order {one.order}, but starts in cycle {one.start % schedule.ii} of "
                f"a round, before order {before}, which starts in cycle {at}",
            )


def _refuse(op: Operation, message: str) -> NoReturn:
    raise op_error(op, message)
