"""Webs: sets of tied values that change their layout together, and what that costs.

A web grows from one set through shared tiles, as live ranges grow to webs in register allocation.
Inside it no conversion is needed.  Where a tile comes in, one is saved or needed; where one goes
out, too.  A web is worth its change if fewer conversions are left, or as many in fewer loops:

    %1 = nv_tileas.convert_layout %0 : #A -> #B          %2 = math.exp2 %0 : #A
    %2 = math.exp2 %1 : #B                       ->      nv_tileas.tiled_store %2, ... : #A
    %3 = nv_tileas.convert_layout %2 : #B -> #A
    nv_tileas.tiled_store %3, ... : #A

Here the web {%1, %2} changes from #B to #A: one conversion saved where %0 comes in, one where %2
goes out, none needed.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import field
from typing import NamedTuple

from xdsl.dialects import arith, tensor
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr
from xdsl.ir import Attribute, BlockArgument, Operation, SSAValue, Use

from tileas_xdsl.analysis.layouts.layout_flow import (
    LayoutRole,
    encoding_of,
    is_pinned_between,
    is_retypable,
    layout_role,
    loop_depth,
    may_be_storage,
)
from tileas_xdsl.analysis.values.liveness.uses import uses_in_order
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, GenerateOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of, space_of_encoding
from tileas_xdsl.transforms.layout_conversions.failures import Failures
from tileas_xdsl.transforms.layout_conversions.retype import Retyping
from tileas_xdsl.transforms.layout_conversions.tied_values import (
    Slot,
    TiedValues,
    ties_of_result,
    ties_of_slot,
)

_LARGEST = 512
"""Tied values of a web, at most."""


class Cost(NamedTuple):
    """Conversions, and the loops around them: what every rewrite must lower, in this order."""

    conversions: int
    loops: int

    def plus(self, op: Operation | None, sign: int) -> Cost:
        """With a conversion more, or less, at the place of `op`."""
        loops = 0 if op is None else loop_depth(op)
        return Cost(self.conversions + sign, self.loops + sign * loops)

    def changed(self, before: Cost, after: Cost) -> Cost:
        """With `after` in the place of `before`."""
        conversions = self.conversions - before.conversions + after.conversions
        return Cost(conversions, self.loops - before.loops + after.loops)


NOTHING = Cost(0, 0)


def as_conversion(op: object) -> ConvertLayoutOp | None:
    """The operation, if it is a conversion that no other pass has planned with."""
    if not isinstance(op, ConvertLayoutOp) or layout_role(op) is not LayoutRole.CONVERSION:
        return None
    return op


def cost_of(root: Operation) -> Cost:
    """The cost of all conversions in `root`."""
    cost = NOTHING
    for op in instances_in(root, ConvertLayoutOp):
        cost = cost.plus(op, 1)
    return cost


@dataclass(frozen=True)
class Start:
    """A set of tied values to begin with, and the layout that its slots shall have."""

    tied: TiedValues
    inner: Attribute


@dataclass(frozen=True)
class Direction:
    """Where a web grows: to users, to producers, through what control flow carries."""

    forwards: bool = False
    backwards: bool = False
    boundaries: bool = False


@dataclass
class Web:
    """Tied values and the layouts that their tiles get."""

    ties: list[TiedValues] = field(default_factory=list[TiedValues])
    targets: dict[SSAValue, Attribute] = field(default_factory=dict[SSAValue, Attribute])
    """The new layout of each output."""
    wanted: dict[Slot, Attribute] = field(default_factory=dict[Slot, Attribute])
    """The new layout of what is in each slot."""
    gain: Cost = NOTHING
    """What the change adds to the cost of the program."""
    _gains: dict[SSAValue, Cost] = field(default_factory=dict[SSAValue, Cost])
    """The share of each tile in that."""

    def add(self, tied: TiedValues, inner: Attribute) -> bool:
        """Take tied values in, with this layout in their slots; return whether that is possible."""
        outer = tied.outer(inner)
        if outer is None or not self._takes(tied, inner, outer):
            return False
        self.ties.append(tied)
        self.wanted.update(dict.fromkeys(tied.slots, inner))
        self.targets.update(dict.fromkeys(tied.outputs, outer))
        for value in dict.fromkeys((*tied.outputs, *(slot.value for slot in tied.slots))):
            share = self._export_gain(value) if value in self.targets else self._import_gain(value)
            self.gain = self.gain.changed(self._gains.get(value, NOTHING), share)
            self._gains[value] = share
        return True

    def _takes(self, tied: TiedValues, inner: Attribute, outer: Attribute) -> bool:
        values = [*(slot.value for slot in tied.slots), *tied.outputs]
        if any(not _is_register_tile(value) for value in values):
            return False
        # What computes a tile in registers never makes it in another memory.
        if any(space_of_encoding(made) is not Space.RMEM for made in (inner, outer)):
            return False
        if any(encoding_of(value.type) == outer for value in tied.outputs):
            return False
        if any(self.targets.get(slot.value, inner) != inner for slot in tied.slots):
            return False
        users = [slot for value in tied.outputs for slot in self._slots_of(value)]
        if any(self.wanted[slot] != outer for slot in users):
            return False
        entries = [slot for slot in tied.slots if slot.value in self.targets]
        entries += [slot for slot in tied.slots if _source_like(slot.value, inner) is not None]
        return not any(_is_pinned(slot) for slot in (*entries, *users))

    def _slots_of(self, value: SSAValue) -> list[Slot]:
        """The slots of the web that `value` is in."""
        slots = (Slot(use.operation, use.index) for use in uses_in_order(value))
        return [slot for slot in slots if slot in self.wanted]

    def _exported(self, value: SSAValue) -> tuple[list[Use], list[ConvertLayoutOp]]:
        """The uses of an output that need it as it was, and the conversions that it saves."""
        needing: list[Use] = []
        saved: list[ConvertLayoutOp] = []
        for use in uses_in_order(value):
            slot = Slot(use.operation, use.index)
            if slot in self.wanted:
                continue
            conversion = as_conversion(use.operation)
            if conversion is None or _is_pinned(slot):
                needing.append(use)
            elif encoding_of(conversion.result.type) == self.targets[value]:
                saved.append(conversion)
        return needing, saved

    def _export_gain(self, value: SSAValue) -> Cost:
        needing, saved = self._exported(value)
        cost = NOTHING.plus(_definer(value), 1) if needing else NOTHING
        for conversion in saved:
            cost = cost.plus(conversion, -1)
        return cost

    def _imported(self, value: SSAValue) -> dict[Attribute, list[Slot]]:
        """The slots that a tile from outside comes in through, by the layout it shall have."""
        groups: dict[Attribute, list[Slot]] = {}
        for slot in self._slots_of(value):
            groups.setdefault(self.wanted[slot], []).append(slot)
        return groups

    def _import_gain(self, value: SSAValue) -> Cost:
        cost = NOTHING
        for target, slots in self._imported(value).items():
            version = _version_of(value, target, slots)
            if version is None:
                cost = cost.plus(_definer(value), 1)
            elif version is not value and self._loses(value):
                cost = cost.plus(_definer(value), -1)
        return cost

    def _loses(self, value: SSAValue) -> bool:
        """Whether `value` is a conversion that nothing needs behind the change."""
        slots = self._slots_of(value)
        return as_conversion(value.owner) is not None and len(slots) == len(list(value.uses))

    def apply(self, retyping: Retyping, like: Operation) -> None:
        """Make the change; raises `RefusedRetypeError`, and changes nothing, if it is refused."""
        exports = [(value, *self._exported(value)) for value in self.targets]
        sources = dict.fromkeys(slot.value for slot in self.wanted)
        for value in sources:
            if value not in self.targets:
                for target, slots in self._imported(value).items():
                    version = _make_version(value, target, slots, retyping, like)
                    for slot in slots:
                        retyping.set_operand(slot.op, slot.index, version)
        # Uses outside of the web still want the old type, which is gone after retyping.
        before = {value: encoding_of(value.type) for value in self.targets}
        for value, target in self.targets.items():
            retyping.retype(value, target)
        for value, needing, saved in exports:
            old = before[value]
            if needing and old is not None:
                retyping.redirect(needing, retyping.convert_after(value, old, like))
            for conversion in saved:
                retyping.redirect(list(conversion.result.uses), value)
                retyping.abandon(conversion)
        retyping.commit()


def best_web(starts: Sequence[Start], direction: Direction, failures: Failures) -> Web | None:
    """The web around `starts` that lowers the cost most, None if none does.

    It grows tied values by tied values, nearest first, and is cut where the cost was lowest.
    """
    web, steps = Web(), deque(starts)
    order: list[Start] = []
    # A web often gets dearer before it gets cheaper (the conversion moves through a loop and then
    # vanishes), so growth goes on past a loss, and the cheapest prefix is kept.
    best, best_gain = 0, NOTHING
    seen = {start.tied for start in steps}
    while steps and len(order) < _LARGEST:
        step = steps.popleft()
        if step.tied.op in failures or not web.add(step.tied, step.inner):
            continue
        order.append(step)
        if web.gain < best_gain:
            best, best_gain = len(order), web.gain
        for near in _neighbours(step, direction):
            if near.tied not in seen:
                seen.add(near.tied)
                steps.append(near)
    if not best:
        return None
    cut = Web()
    for step in order[:best]:
        cut.add(step.tied, step.inner)
    return cut


def _neighbours(step: Start, direction: Direction) -> Iterator[Start]:
    tied, outer = step.tied, step.tied.outer(step.inner)
    if direction.forwards and outer is not None:
        for value in tied.outputs:
            for use in uses_in_order(value):
                slot = Slot(use.operation, use.index)
                if near := ties_of_slot(slot, boundaries=direction.boundaries):
                    yield Start(near, outer)
    if direction.backwards:
        for slot in tied.slots:
            near = ties_of_result(slot.value, boundaries=direction.boundaries)
            inner = None if near is None else near.inner(step.inner)
            if near is not None and inner is not None:
                yield Start(near, inner)


def _is_register_tile(value: SSAValue) -> bool:
    return space_of(value.type) is Space.RMEM and not may_be_storage(value)


def _is_pinned(slot: Slot) -> bool:
    """Whether something keeps the layout in `slot` apart from the one that its value is made in.

    What control flow carries is made and used nowhere in particular.
    """
    owner = slot.value.owner
    if not isinstance(owner, Operation) or slot.op.regions:
        return False
    if slot.op.parent is not None and slot.op.parent.last_op is slot.op:
        return False
    return is_pinned_between(owner, slot.op)


def _source_like(value: SSAValue, encoding: Attribute) -> SSAValue | None:
    """What `value` was converted from, if that has the encoding, in registers."""
    if (conversion := as_conversion(value.owner)) is None:
        return None
    source = conversion.source
    return source if encoding_of(source.type) == encoding and _is_register_tile(source) else None


def _version_of(value: SSAValue, encoding: Attribute, slots: Sequence[Slot]) -> SSAValue | None:
    """`value` with another encoding, if that costs no conversion.

    It is what `value` was converted from, what it is converted to for others, or `value` itself
    where its producer can make it anew, or is a conversion from another memory.
    """
    if (source := _source_like(value, encoding)) is not None:
        return source
    users = (use.operation for use in uses_in_order(value))
    for user in users:
        if not isinstance(user, ConvertLayoutOp) or encoding_of(user.result.type) != encoding:
            continue
        if not any(is_pinned_between(user, slot.op) for slot in slots):
            return user.result
    return value if is_remade(value) or _is_loaded_only_for(value, slots) else None


def _is_loaded_only_for(value: SSAValue, slots: Sequence[Slot]) -> bool:
    """Whether `value` is loaded from another memory, in this layout, for nothing but `slots`."""
    conversion = as_conversion(value.owner)
    if conversion is None or space_of(conversion.source.type) is space_of(value.type):
        return False
    if any(_is_pinned(slot) for slot in slots):
        return False
    return all(Slot(use.operation, use.index) in slots for use in value.uses)


def is_remade(value: SSAValue) -> bool:
    """Whether the producer of `value` can make it anew, in another layout, wherever it is asked."""
    owner = value.owner
    if not isinstance(owner, arith.ConstantOp | tensor.SplatOp | GenerateOp):
        return False
    if not is_retypable(owner, space_of(value.type)):
        return False
    constant = owner.properties.get("value")
    return constant is None or isinstance(constant, DenseIntOrFPElementsAttr)


def _make_version(
    value: SSAValue,
    encoding: Attribute,
    slots: Sequence[Slot],
    retyping: Retyping,
    like: Operation,
) -> SSAValue:
    """`value` with another encoding; what `_version_of` finds, else by a conversion."""
    found = _version_of(value, encoding, slots)
    if found is None:
        return retyping.convert_after(value, encoding, like)
    if found is not value:
        return found
    owner = value.owner
    assert isinstance(owner, Operation)
    return retyping.remade_before(owner, value, encoding)


def _definer(value: SSAValue) -> Operation | None:
    """The operation at whose place a conversion of `value` would be."""
    if isinstance(value, BlockArgument):
        return value.block.first_op
    return value.owner if isinstance(value.owner, Operation) else None
