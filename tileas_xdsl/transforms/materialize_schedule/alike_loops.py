"""Whether two loops end alike: the same late operations of values that correspond.

    for { %s = dot; %p = exp2(%s);         yield dot %p, %v, %acc }
    for { %s = dot; %m = select %t, %s, %c; %q = exp2(%m);  yield dot %q, %v, %acc }

The products of `%p` and `%q` are late and alike, so `%q` corresponds to `%p`: an iteration of the
second loop can begin where one of the first loop has left.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import field

from xdsl.ir import Block, BlockArgument, IRNode, Operation, OpResult, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.scheduling.schedule import AWS_ORDER, AWS_STAGE, SCHEDULE

_PLACEMENT = {SCHEDULE, AWS_ORDER, AWS_STAGE}


@dataclass(frozen=True)
class LoopEnd:
    """What a loop does late: operations of its body, in the order of the schedule."""

    body: Block
    late: Sequence[Operation]
    yielded: Sequence[SSAValue]


def corresponding(
    values: Sequence[SSAValue], first: LoopEnd, other: LoopEnd
) -> Sequence[SSAValue] | None:
    """Return what corresponds to early values of the first loop; None where the ends differ."""
    match = _Match(first, other)
    if len(first.late) != len(other.late) or len(first.yielded) != len(other.yielded):
        return None
    pairs = zip(first.late, other.late, strict=True)
    if not all(match.of_operations(one, two) for one, two in pairs):
        return None
    yielded = zip(first.yielded, other.yielded, strict=True)
    if not all(match.of_values(one, two) for one, two in yielded):
        return None
    return [match.known[value] for value in values]


@dataclass
class _Match:
    """Pairs values of two loops, from what they yield and what their late operations read."""

    first: LoopEnd
    other: LoopEnd
    known: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])

    def of_values(self, one: SSAValue, two: SSAValue) -> bool:
        """Whether a value of the second loop can be in the place of one of the first."""
        if one in self.known:
            return self.known[one] is two
        if one.type != two.type or not self._match(one, two):
            return False
        self.known[one] = two
        return True

    def _match(self, one: SSAValue, two: SSAValue) -> bool:
        blocks = [value.owner if isinstance(value, BlockArgument) else None for value in (one, two)]
        if self.first.body in blocks or self.other.body in blocks:
            same = blocks == [self.first.body, self.other.body]
            return same and _position(one) == _position(two)
        made, other = _made_in(one, self.first), _made_in(two, self.other)
        if made is None or other is None:
            return one is two
        if made in self.first.late or SCHEDULE not in made.attributes:
            return self.of_operations(made, other) and _position(one) == _position(two)
        return other not in self.other.late and SCHEDULE in other.attributes

    def of_operations(self, one: Operation, two: Operation) -> bool:
        """Whether two operations compute the same of values that correspond."""
        if (one in self.first.late) != (two in self.other.late):
            return False
        captured = [*captured_values(one)], [*captured_values(two)]
        if len(captured[0]) != len(captured[1]) or not _are_alike(one, two):
            return False
        if not all(map(self.of_values, *captured)):
            return False
        context: dict[IRNode | SSAValue, IRNode | SSAValue] = {**self.known}
        regions = zip(one.regions, two.regions, strict=True)
        if not all(a.is_structurally_equivalent(b, context) for a, b in regions):
            return False
        self.known |= zip(one.results, two.results, strict=True)
        return True


def _made_in(value: SSAValue, end: LoopEnd) -> Operation | None:
    """The operation of a loop's body that makes a value."""
    owner = value.owner
    return owner if isinstance(owner, Operation) and owner.parent is end.body else None


def _position(value: SSAValue) -> int:
    return value.index if isinstance(value, OpResult | BlockArgument) else 0


def _are_alike(one: Operation, two: Operation) -> bool:
    """Whether names, types and attributes are the same, whatever the schedule says."""
    return _form(one) == _form(two)


def _form(op: Operation) -> Sequence[object]:
    attributes = {k: v for k, v in op.attributes.items() if k not in _PLACEMENT}
    return op.name, op.properties, attributes, list(op.result_types), len(op.regions)


def captured_values(op: Operation) -> Iterator[SSAValue]:
    """The operands of an operation and of those in its regions, where they come from outside."""
    for inner in op.walk():
        for value in inner.operands:
            owner = value.owner
            block = owner if isinstance(owner, Block) else owner.parent
            parent = None if block is None else block.parent_op()
            if parent is None or not op.is_ancestor(parent):
                yield value
