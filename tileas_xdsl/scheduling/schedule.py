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
to them: `tileas-generate-schedule` keeps what is there and computes the rest.
`schedule_attributes` reads, writes and checks the form.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field
from enum import StrEnum

from xdsl.dialects import scf
from xdsl.dialects.builtin import (
    ArrayAttr,
    DenseArrayBase,
    DictionaryAttr,
    StringAttr,
    UnitAttr,
    i32,
)
from xdsl.ir import Attribute, Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.interned import i32_attr
from tileas_xdsl.dialects.nv_tileas.memory.element_access import GatherLoadOp, LoadBase
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadBase
from tileas_xdsl.target.costs.units import Unit

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
