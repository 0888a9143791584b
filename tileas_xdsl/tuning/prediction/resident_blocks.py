"""How long blocks that share a multiprocessor take, where they wait for each other at its units.

A block demands cycles of units, one after another, and waits for latencies in which it occupies
none.  `n` blocks at a time are a closed queueing network, whose throughput follows exactly from
that of `n - 1` (mean value analysis, Reiser and Lavenberg 1980):

    time at a unit (n) = demand * (1 + blocks that are there with n - 1 - half of its use)
    throughput (n)     = n / (latencies + time at all units), but one each largest demand at most

A unit takes as long for each: of the block that it works for, half is left on average, as Reiser's
correction has it.  Where times vary, more is left: (1 + c^2) / 2 of the mean time, with the
variance c^2 of the time over the square of that mean (the inspection paradox).  One block takes the
sum of all; many are bound by the unit that they demand most of.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType


def cycles_of_blocks(
    demands: Mapping[str, float],
    latencies: float,
    resident: int,
    variations: Mapping[str, float] = MappingProxyType({}),
) -> float:
    """Return the cycles in which `resident` blocks end, when as many are there all the time.

    `variations` are those of the times at a unit, where these vary, as at one that others use.
    """
    left = {unit: (1 - variations.get(unit, 0.0)) / 2 for unit in demands}
    waiting = dict.fromkeys(demands, 0.0)
    total = latencies + sum(demands.values())
    for count in range(1, resident + 1):
        times = {unit: demand * (1 + waiting[unit]) for unit, demand in demands.items()}
        total = max(latencies + sum(times.values()), count * max(demands.values(), default=0))
        if total:
            waiting = {
                unit: count * (time - left[unit] * demands[unit]) / total
                for unit, time in times.items()
            }
    return total
