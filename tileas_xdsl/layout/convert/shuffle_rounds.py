"""Schedules of warp shuffles: which word is sent in which round.

In one round a lane contributes one message and receives one; lanes that want the same message of a
lane can get it in the same round.  Without such sharing the least number of rounds is the largest
number of messages that a lane sends or receives (Koenig's theorem on edge colourings of bipartite
graphs); with sharing that number of distinct messages is a lower bound.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import NamedTuple, TypeAlias


class Delivery(NamedTuple):
    """A message that one lane needs of another."""

    sender: int
    message: int
    """Equal numbers name the same registers, in whatever lane."""
    receiver: int
    slot: int
    """The first register of the receiver that the message fills."""


Rounds: TypeAlias = list[int]
"""The round of each delivery."""


def schedules(deliveries: Sequence[Delivery]) -> Iterator[Rounds]:
    """Yield valid schedules worth comparing: regular across lanes, or with few rounds.

    There are always four; the last has the fewest rounds possible without sharing, or fewer.
    """
    fits = [first_fit(deliveries, order) for order in (_by_message, _by_slot, _by_distance)]
    yield from fits
    least = min(fits, key=lambda rounds: max(rounds, default=-1))
    is_least = max(least, default=-1) < _degree(deliveries)
    yield least if is_least else edge_colouring(deliveries)


def _degree(deliveries: Sequence[Delivery]) -> int:
    """The largest number of messages that a lane sends or receives."""
    sent = Counter(delivery.sender for delivery in deliveries)
    received = Counter(delivery.receiver for delivery in deliveries)
    return max((*sent.values(), *received.values()), default=0)


Order: TypeAlias = "Callable[[Delivery], tuple[int, ...]]"


def _by_message(delivery: Delivery) -> tuple[int, ...]:
    return delivery.message, delivery.slot


def _by_slot(delivery: Delivery) -> tuple[int, ...]:
    return delivery.slot, delivery.message


def _by_distance(delivery: Delivery) -> tuple[int, ...]:
    return delivery.sender ^ delivery.receiver, delivery.message, delivery.slot


def first_fit(deliveries: Sequence[Delivery], order: Order) -> Rounds:
    """Deliveries in `order`, each in the first round in which both lanes are free."""
    receiving: defaultdict[int, int] = defaultdict(int)
    sending: defaultdict[int, int] = defaultdict(int)
    offered: defaultdict[tuple[int, int], int] = defaultdict(int)
    result = [0] * len(deliveries)
    keys = [order(delivery) for delivery in deliveries]
    for i in sorted(range(len(deliveries)), key=keys.__getitem__):
        sender, message, receiver, _ = deliveries[i]
        free = ~receiving[receiver] & (~sending[sender] | offered[sender, message])
        bit = free & -free
        receiving[receiver] |= bit
        sending[sender] |= bit
        offered[sender, message] |= bit
        result[i] = bit.bit_length() - 1
    return result


def edge_colouring(deliveries: Sequence[Delivery]) -> Rounds:
    """The fewest rounds when no message is shared: colours along alternating paths."""
    at_sender: dict[tuple[int, int], int] = {}
    at_receiver: dict[tuple[int, int], int] = {}
    result = [0] * len(deliveries)
    for i, (sender, _, receiver, _) in enumerate(deliveries):
        a, b = _unused(at_sender, sender), _unused(at_receiver, receiver)
        if a != b:
            _swap_path(deliveries, result, (at_receiver, at_sender), receiver, (a, b))
        result[i] = a
        at_sender[sender, a] = i
        at_receiver[receiver, a] = i
    return result


def _unused(used: dict[tuple[int, int], int], lane: int) -> int:
    colour = 0
    while (lane, colour) in used:
        colour += 1
    return colour


def _swap_path(
    deliveries: Sequence[Delivery],
    result: Rounds,
    sides: tuple[dict[tuple[int, int], int], dict[tuple[int, int], int]],
    lane: int,
    colours: tuple[int, int],
) -> None:
    """Exchange two colours along the path that leaves a receiver, so that `colours[0]` is free."""
    path: list[int] = []
    side, colour = 0, 0
    while (lane, colours[colour]) in sides[side]:
        i = sides[side][lane, colours[colour]]
        path.append(i)
        side, colour = 1 - side, 1 - colour
        lane = deliveries[i].receiver if side == 0 else deliveries[i].sender
    for i in path:
        del sides[0][deliveries[i].receiver, result[i]]
        del sides[1][deliveries[i].sender, result[i]]
    for i in path:
        result[i] = colours[0] + colours[1] - result[i]
        sides[0][deliveries[i].receiver, result[i]] = i
        sides[1][deliveries[i].sender, result[i]] = i
