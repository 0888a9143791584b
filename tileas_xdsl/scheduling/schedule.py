"""The attribute `tileas.schedule`: when, by whom and on which unit a loop's operations run.

A loop is *scheduled* when it and the operations on tiles of its body carry the attribute:

    %sum = scf.for %k = ... iter_args(%acc) {
      %x = nv_tileas.tiled_load %a[%i, %k] {tileas.schedule = {stage = 0 : i32, order = 0 : i32,
                                            start = 0 : i32, role = "producer", unit = "tma"}}
      %n = nv_tileas.dot %x, %y, %acc {tileas.schedule = {stage = 1 : i32, order = 0 : i32,
                                       start = 1024 : i32, role = "consumer", unit = "tensor_core"}}
      scf.yield %n
    } {tileas.schedule = {ii = 1024 : i32,
         roles = [{name = "producer", warps = 4 : i32, registers = 40 : i32, replicas = 1 : i32},
                  {name = "consumer", warps = 4 : i32, registers = 232 : i32, replicas = 2 : i32}],
         buffers = [{value = 0 : i32, stages = 4 : i32}]}}

* `ii`: the initiation interval, cycles from the start of one iteration to the start of the next.
* `start`: cycles from the beginning of the operation's own iteration; the least of a loop is below
  `ii`.
* `stage`: `start div ii`.  What stands in stage s runs for iteration i while stage 0 runs for
  iteration i + s.
* `order`: the position of issue in one round of the steady state, among the operations of the same
  role: by `start mod ii`, then by program order.  Unique in a role; operations of one element-wise
  group share all values and follow one another in program order.
* `role`: the agent that runs it; `unit`: the unit that it occupies longest.
* `roles`: `warps` of one replica, `registers` of one of its threads, `replicas` that divide the
  rows of tiles among them.
* `buffers`: by the position of a load in program order, the iterations whose tiles its buffer
  holds at once; `offset`, where it is there, the byte of shared memory at which its stages begin.
* `turns`, where it is there: by replica of the consumer, the named barrier on which it waits for
  its turn on a unit that all replicas share.
* `ahead`, where it is there: a rotated loop waits for its first stage at the end of the round
  before, so that what stands in front overlaps the products in flight.

`nv_tile.aws.stage` and `nv_tile.aws.order` repeat stage and order as i32, for readers of that
spelling; they may be left out, but not differ.  Operations on scalars carry nothing: each role
computes those that it needs.

An operation that a person wrote with only a part of the entries (`{role = "consumer"}`) is pinned
to them: `tileas-generate-schedule` keeps what is there and computes the rest.  This module reads,
writes and checks the form; whether a schedule respects dependences and units is judged by the
checker of schedules.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field, fields
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
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Operation
from xdsl.utils.hints import isa

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.suggest import did_you_mean
from tileas_xdsl.dialects.interned import i32_attr
from tileas_xdsl.dialects.nv_tileas.memory.element_access import GatherLoadOp, LoadBase
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase
from tileas_xdsl.target.costs.units import Unit
from tileas_xdsl.target.isa.tables.warps import MAX_REGISTERS

SCHEDULE = "tileas.schedule"
"""On a scheduled loop and on each operation on tiles of its body."""

AWS_STAGE, AWS_ORDER = "nv_tile.aws.stage", "nv_tile.aws.order"
"""Stage and order in the spelling of published IR; written, and read where `SCHEDULE` is absent."""


class Role(StrEnum):
    """The role of an agent of a scheduled loop."""

    PRODUCER = "producer"
    """Issues TMA copies into shared memory; has no values of tiles."""
    CONSUMER = "consumer"
    """Multiplies, reduces and computes; replicated by rows."""
    TRANSFORM = "transform"
    """Rewrites tiles in shared memory between producer and consumer."""
    EPILOGUE = "epilogue"
    """Stores what consumers made, while they go on."""


@dataclass(frozen=True)
class Pin:
    """What an operation's attribute says; None for an entry that is not there."""

    stage: int | None = None
    order: int | None = None
    start: int | None = None
    role: Role | None = None
    unit: Unit | None = None

    @property
    def placement(self) -> Placement | None:
        """The placement, where all entries are there."""
        if self.stage is None or self.order is None or self.start is None:
            return None
        if self.role is None or self.unit is None:
            return None
        return Placement(self.stage, self.order, self.start, self.role, self.unit)


@dataclass(frozen=True)
class Placement:
    """Start in cycles, role and unit of an operation."""

    stage: int
    order: int
    start: int
    role: Role
    unit: Unit

    @property
    def attribute(self) -> DictionaryAttr:
        """The placement as `tileas.schedule` of an operation."""
        return DictionaryAttr(
            {
                "stage": i32_attr(self.stage),
                "order": i32_attr(self.order),
                "start": i32_attr(self.start),
                "role": StringAttr(self.role),
                "unit": StringAttr(self.unit),
            }
        )


@dataclass(frozen=True)
class RolePlan:
    """The warps of one replica of a role, the registers of one thread, and the replicas."""

    name: Role
    warps: int
    registers: int
    replicas: int = 1

    @property
    def attribute(self) -> DictionaryAttr:
        """The role as an element of `roles`."""
        return DictionaryAttr(
            {
                "name": StringAttr(self.name),
                "warps": i32_attr(self.warps),
                "registers": i32_attr(self.registers),
                "replicas": i32_attr(self.replicas),
            }
        )


@dataclass(frozen=True)
class BufferPlan:
    """How many iterations' tiles the buffer of the `value`-th load of the loop holds."""

    value: int
    stages: int
    offset: int | None = None
    """Bytes from the beginning of the shared memory of buffers; None before it is assigned."""

    @property
    def attribute(self) -> DictionaryAttr:
        """The buffer as an element of `buffers`."""
        known = {"value": self.value, "stages": self.stages, "offset": self.offset}
        return DictionaryAttr({k: i32_attr(v) for k, v in known.items() if v is not None})


@dataclass(frozen=True)
class LoopPlan:
    """What a loop's attribute says: initiation interval in cycles, roles, and buffers."""

    ii: int | None
    roles: Sequence[RolePlan] = ()
    buffers: Sequence[BufferPlan] = ()
    turns: Sequence[int] = ()
    ahead: bool = False
    """Whether a rotated loop waits for its first stage at the end of the round before."""

    @property
    def attribute(self) -> DictionaryAttr:
        """The plan as `tileas.schedule` of a loop."""
        entries: dict[str, Attribute] = {} if self.ii is None else {"ii": i32_attr(self.ii)}
        entries["roles"] = ArrayAttr([role.attribute for role in self.roles])
        entries["buffers"] = ArrayAttr([buffer.attribute for buffer in self.buffers])
        if self.turns:
            entries["turns"] = DenseArrayBase.from_list(i32, list(self.turns))
        if self.ahead:
            entries["ahead"] = UnitAttr()
        return DictionaryAttr(entries)

    def role(self, name: Role) -> RolePlan | None:
        """The plan of a role, if the loop has it."""
        return next((role for role in self.roles if role.name is name), None)

    def stages(self, value: int) -> int | None:
        """The stages of the buffer of the `value`-th load, if the plan says."""
        return next((one.stages for one in self.buffers if one.value == value), None)


@dataclass(frozen=True)
class Schedule:
    """A complete schedule of a loop: its plan, and the placement of each operation on tiles."""

    plan: LoopPlan
    placements: Mapping[Operation, Placement] = field(default_factory=dict[Operation, Placement])

    @property
    def ii(self) -> int:
        """The initiation interval in cycles."""
        assert self.plan.ii is not None
        return self.plan.ii

    @property
    def stages(self) -> int:
        """How many iterations are under way at once: 1 where the loop is not rotated."""
        return 1 + max((one.stage for one in self.placements.values()), default=0)


def loads_of(loop: scf.ForOp) -> Sequence[Operation]:
    """The loads of the loop's body in program order: what `value` of `buffers` counts."""
    kinds = (TiledLoadBase, LoadBase, GatherLoadOp)
    return [op for op in loop.body.block.ops if isinstance(op, kinds)]


# reading


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


_KeywordT = TypeVar("_KeywordT", bound=StrEnum)


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


# writing


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


# verification of the form


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
