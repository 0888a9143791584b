"""Combine the values of several lines over lanes that share all of them.

Each step halves the lines that a lane goes on with, instead of exchanging all of them: of four
lines in four lanes

    lane   0 1 2 3          0   1   2   3            0  1  2  3
           a a a a          ab  ab  cd  cd           a  b  c  d       and back, by a shuffle each
           b b b b    ->    (lanes 0, 2 and 1, 3)  ->
           c c c c
           d d d d

So 32 lines of 32 lanes take 31 shuffles, and 32 for all lanes to have all sums, where butterflies
take 160.  A multiprocessor makes one shuffle a cycle, and four of other instructions.  The order of
a line's sums is that of butterflies.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from xdsl.dialects import arith
from xdsl.dialects.builtin import i32
from xdsl.ir import SSAValue

from tileas_xdsl.layout.units import WARP
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import (
    cast_index,
    divide,
    i32_constant,
    is_equal,
    modulo,
)
from tileas_xdsl.threads.codegen.thread_ids import lane_id
from tileas_xdsl.threads.codegen.warp_shuffle import across, of_lane
from tileas_xdsl.threads.reduce.combiner import REDUX, Combiner

BetweenWarps: TypeAlias = Callable[[Sequence[SSAValue]], Sequence[SSAValue]]

GAIN = 3 / 4
"""Shuffles of halved lines, of those of butterflies, up to which lines are halved."""


def combined_over_lanes(
    c: Combiner,
    values: Sequence[SSAValue],
    distances: Sequence[int],
    warps: int = 1,
    between_warps: BetweenWarps | None = None,
) -> Sequence[SSAValue]:
    """Combine each value over the lanes whose ids differ in the bits of distances, for all.

    `between_warps` combines over warps what each lane has of lines that are halved.
    """
    steps = steps_of_lines(len(values), len(distances), warps)
    if steps is None:
        return [_by_butterfly(c, value, distances) for value in values]
    left, halved = list(values), list[int]()
    for distance, count in zip(distances, steps, strict=True):
        if count < len(left):
            left = _halved(c, left, distance)
            halved.append(distance)
        else:
            left = [c.across(value, distance) for value in left]
    if between_warps is not None:
        left = list(between_warps(left))
    return _of_all_lanes(c.e, left, halved, len(values))


def combined_in_warp(c: Combiner, values: Sequence[SSAValue], lanes: int) -> Sequence[SSAValue]:
    """Combine each value over groups of neighbouring lanes, for all of them."""
    if lanes == WARP and c.wide == i32 and c.name in REDUX:
        return [c.in_warp(value, lanes) for value in values]
    return combined_over_lanes(c, values, [1 << k for k in reversed(range(lanes.bit_length() - 1))])


def _by_butterfly(c: Combiner, value: SSAValue, distances: Sequence[int]) -> SSAValue:
    for distance in distances:
        value = c.across(value, distance)
    return value


def steps_of_lines(count: int, steps: int, warps: int = 1) -> Sequence[int] | None:
    """The shuffles of each step: half of the lines that are left, or all of an odd number.

    None where these, a shuffle of each line for all lanes, and what lanes combine of other warps
    are no fewer than of butterflies.
    """
    found, lines = list[int](), count
    for _ in range(steps):
        lines = lines // 2 if lines % 2 == 0 else lines
        found.append(lines)
    halved = sum(found) + count + lines * (warps - 1)
    return found if halved <= GAIN * count * (steps + warps - 1) else None


def _halved(c: Combiner, values: Sequence[SSAValue], distance: int) -> list[SSAValue]:
    """Combine half of the lines in lanes without the bit of a distance, the others in the rest."""
    e, half = c.e, len(values) // 2
    is_lower = is_equal(e, modulo(e, divide(e, lane_id(e), distance), 2), 0)
    made = list[SSAValue]()
    for first, second in zip(values[:half], values[half:], strict=True):
        kept = e.insert(arith.SelectOp(is_lower, first, second)).result
        sent = e.insert(arith.SelectOp(is_lower, second, first)).result
        made.append(c.combine(kept, across(e, sent, distance)))
    return made


def _of_all_lanes(
    e: ThreadBuilder, left: Sequence[SSAValue], halved: Sequence[int], count: int
) -> Sequence[SSAValue]:
    """Give all lanes what each lane has of `count` lines."""
    lane, others = cast_index(e, lane_id(e), i32), i32_constant(e, WARP - 1 - sum(halved))
    own = e.insert(arith.AndIOp(lane, others)).result
    lanes, found = dict[int, SSAValue](), list[SSAValue]()
    for line in range(count):
        bits, lines, position = 0, count, line
        for distance in halved:
            lines //= 2
            bits |= distance if position >= lines else 0
            position %= lines
        if bits not in lanes:
            lanes[bits] = e.insert(arith.OrIOp(own, i32_constant(e, bits))).result
        found.append(of_lane(e, left[position], lanes[bits]))
    return found
