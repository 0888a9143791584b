"""Detect agents of a switch that wait for one another in a cycle.

An agent waits where it takes a tile.  It may also wait where it gives one in a loop, until the
stages before are read: it leaves the loop only when the other agent has come to read them.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from enum import IntEnum

from xdsl.ir import BlockArgument, Operation, OpResult

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.pipelines.agents import AgentSwitchOp
from tileas_xdsl.transforms.resolve_agent_boundary.crossings import block_of
from tileas_xdsl.transforms.resolve_agent_boundary.transfer_plans import Transfer


class _Moment(IntEnum):
    """What happens at an operation, in this order; the operation itself is between the halves."""

    GIVE_ARGUMENT = 0
    TAKE = 1
    LEAVE = 2
    GIVE_RESULT = 3


@dataclass(frozen=True)
class _Event:
    op: Operation
    moment: _Moment


_Waits = dict[_Event, list[_Event]]


def find_cycle(switch: AgentSwitchOp, transfers: Sequence[Transfer]) -> Transfer | None:
    """A transfer that nobody comes to, since each of its agents waits for the other first."""
    waits = _waits(transfers)
    for body in switch.agent_bodies:
        _add_program_order(_events(body.block.ops), waits)
    stuck = _stuck(waits)
    return next((transfer for transfer in transfers if _source(transfer) in stuck), None)


def _source(transfer: Transfer) -> _Event:
    value = transfer.value
    if transfer.source.agent is None:
        return _Event(transfer.crossing.switch, _Moment.GIVE_RESULT)
    if isinstance(value, OpResult):
        return _Event(value.op, _Moment.GIVE_RESULT)
    assert isinstance(value, BlockArgument)
    first = block_of(value).first_op
    assert first is not None
    return _Event(first, _Moment.GIVE_ARGUMENT)


def _waits(transfers: Sequence[Transfer]) -> _Waits:
    """What each event waits for, beside what is before it in its agent."""
    waits: _Waits = {}
    for transfer in transfers:
        given = _source(transfer)
        waits.setdefault(given, [])
        for delivery in transfer.deliveries:
            taken = _Event(delivery.site.anchor, _Moment.TAKE)
            waits.setdefault(taken, []).append(given)
            if loops := transfer.source.loops:
                waits.setdefault(_Event(loops[0], _Moment.LEAVE), []).append(taken)
    return waits


def _add_program_order(events: Iterable[_Event], waits: _Waits) -> None:
    before: _Event | None = None
    for event in events:
        if event not in waits:
            continue
        if before is not None:
            waits[event].append(before)
        before = event


def _events(ops: Iterable[Operation]) -> Iterator[_Event]:
    """What may happen in a block and inside its operations, in the order of the code."""
    for op in ops:
        yield _Event(op, _Moment.GIVE_ARGUMENT)
        yield _Event(op, _Moment.TAKE)
        for region in op.regions:
            for block in region.blocks:
                yield from _events(block.ops)
        yield _Event(op, _Moment.LEAVE)
        yield _Event(op, _Moment.GIVE_RESULT)


def _stuck(waits: Mapping[_Event, Sequence[_Event]]) -> set[_Event]:
    """The events that never happen: what is left when all that can happen has happened."""
    missing = {event: len(others) for event, others in waits.items()}
    followers: _Waits = {}
    for event, others in waits.items():
        for other in others:
            followers.setdefault(other, []).append(event)
    ready = [event for event, count in missing.items() if not count]
    while ready:
        event = ready.pop()
        del missing[event]
        for follower in followers.get(event, ()):
            missing[follower] -= 1
            if not missing[follower]:
                ready.append(follower)
    return set(missing)
