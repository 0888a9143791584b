"""How long blocks that share a multiprocessor take, where they wait for each other at its units.

A block demands cycles of units, one after another, and waits for latencies in which it occupies
none.  `n` blocks at a time are a closed queueing network, whose throughput follows exactly from
that of `n - 1` (mean value analysis, Reiser and Lavenberg 1980):

    time at a unit (n) = demand * (1 + blocks that are there with n - 1)
    throughput (n)     = n / (latencies + time at all units)

One block takes the sum of all; many are bound by the unit that they demand most of.
"""

from __future__ import annotations

from collections.abc import Mapping


def cycles_of_blocks(demands: Mapping[str, float], latencies: float, resident: int) -> float:
    """Return the cycles in which `resident` blocks end, when as many are there all the time."""
    queues = dict.fromkeys(demands, 0.0)
    total = latencies + sum(demands.values())
    for count in range(1, resident + 1):
        times = {unit: demand * (1 + queues[unit]) for unit, demand in demands.items()}
        total = latencies + sum(times.values())
        if total:
            queues = {unit: count * time / total for unit, time in times.items()}
    return total
