"""Release and acquire patterns on shared memory: flags and locks of the warps of a cluster.

What a strong write leaves at an address is a message of `release_patterns`, as in global memory:

    warp 0: st.shared x      st.release.cta.shared flag     message {warp 0: clock}
    warp 1: ld.acquire.cta.shared flag      ld.shared x     ordered
"""

from __future__ import annotations

from collections.abc import Sequence

from tileas_xdsl.interpreters.ptx.checking.global_memory.release_patterns import (
    Location,
    Message,
    ReleasePatterns,
)
from tileas_xdsl.interpreters.ptx.checking.reports.conflicts import CheckedWarps
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.memory.memory_order import MemoryOrder
from tileas_xdsl.layout.units import WARP


class SharedMessages:
    """The messages in the shared memory of a cluster, by rank of the CTA and offset."""

    def __init__(self, patterns: ReleasePatterns) -> None:
        self._patterns = patterns
        self._messages: dict[tuple[int, int], Message] = {}

    def access(
        self,
        rank: int,
        warps: CheckedWarps,
        lanes: Array,
        offsets: Array,
        at: int,
        order: MemoryOrder,
        *,
        reads: bool,
        writes: bool,
    ) -> None:
        """Acquire what strong accesses of some lanes read, and leave what they release."""
        for warp in sorted({int(lane) // WARP for lane in lanes}):
            agent = warps.agents[warp]
            mine = [(rank, offset) for offset in {*offsets[lanes // WARP == warp].tolist()}]
            if reads:
                self._read(agent, mine, order)
            if writes:
                found = self._found(mine)
                message = self._patterns.message(agent, order, at, found, is_atomic=reads)
                self._messages.update(dict.fromkeys(mine, message))

    def _read(self, agent: int, locations: Sequence[Location], order: MemoryOrder) -> None:
        for where in locations:
            self._patterns.acquire_again(agent, where, order)
            if where in self._messages:
                self._patterns.observe(agent, self._messages[where], order, where)

    def _found(self, locations: Sequence[tuple[int, int]]) -> Sequence[Message]:
        return [self._messages[where] for where in locations if where in self._messages]
