"""How long a tile block takes where several share a multiprocessor and wait for different units.

One block that loads a row, computes it and stores it takes the sum of all of that; of several, some
load while others compute, so that together they take as long as the unit that is busiest.  Between
these is a closed network of queues with as many customers as blocks, whose throughput mean value
analysis gives exactly for exponential service (Reiser and Lavenberg, J. ACM 27, 1980):

    a row of 32,768 f16: 7,282 cycles of DRAM, 3,100 of instructions, 1,300 of latencies
    blocks     1       2       3
    cycles     11,682  8,522   7,737         7,282 would be the speed of a copy
"""

from __future__ import annotations

from collections.abc import Sequence


def cycles_of_block(demands: Sequence[int], delay: int, blocks: int) -> float:
    """Return the cycles between the ends of two tile blocks, of which `blocks` run at once.

    `demands` are the cycles for which a block keeps each unit busy, `delay` those in which it waits
    for none of them: latencies, and until the next block begins.
    """
    queues, cycles = [0.0] * len(demands), 0.0
    for count in range(1, blocks + 1):
        times = [demand * (1 + waiting) for demand, waiting in zip(demands, queues, strict=True)]
        together = delay + sum(times)
        queues = [count * time / together for time in times]
        cycles = together / count
    return cycles
