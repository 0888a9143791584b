"""Register layouts for reductions and scans: a dimension split in order over threads.

Each thread has a run of neighbours, the next lanes those after it, then the next warps.  Lines
along the dimension are for lanes first, then for warps, and what is left for registers.
"""

from __future__ import annotations

from functools import cached_property
from math import prod

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.axes import E
from tileas_xdsl.layout.integers import power_of_two_below
from tileas_xdsl.layout.operations.digits import Digit, layout_of_line, with_replicas
from tileas_xdsl.layout.registers.register_layout import THREAD, VALUE, RegisterLayout
from tileas_xdsl.layout.units import WARP


@dataclass(frozen=True)
class AxisSplit:
    """How the elements of a tile are split for work along a dimension; all are powers of two."""

    shape: tuple[int, ...]
    axis: int
    threads: int
    """Of the agent."""
    run: int
    """Neighbours along the dimension that a thread has."""
    lanes: int
    """Lanes that share a line."""
    warps: int
    """Warps that share a line."""
    line_lanes: int
    """Lanes that have different lines."""
    line_warps: int
    """Warps that have different lines."""
    lines: int
    """Lines that a thread has a part of."""

    @staticmethod
    def of(shape: tuple[int, ...], axis: int, agent_warps: int) -> AxisSplit:
        """The split for an agent."""
        extent, lines = shape[axis], prod(shape) // shape[axis]
        warps = power_of_two_below(agent_warps)
        line_lanes = min(WARP, lines)
        line_warps = min(warps, lines // line_lanes)
        lanes = min(WARP // line_lanes, extent)
        shared = min(warps // line_warps, extent // lanes)
        return AxisSplit(
            shape,
            axis,
            agent_warps * WARP,
            extent // (lanes * shared),
            lanes,
            shared,
            line_lanes,
            line_warps,
            lines // (line_lanes * line_warps),
        )

    @property
    def all_lines(self) -> int:
        """Lines of the tile."""
        return self.line_lanes * self.line_warps * self.lines

    @cached_property
    def layout(self) -> RegisterLayout:
        """The registers of the tile: element `c` of a thread's line `k` is `c + run * k`."""
        along: list[Digit] = [(self.run, E(VALUE)), (self.lanes, E(THREAD, self.line_lanes))]
        along += [(self.warps, E(THREAD, WARP * self.line_warps))]
        before, after = self._cut(self._lines(self.run))
        used_lanes, used_warps = self.lanes * self.line_lanes, self.warps * self.line_warps
        replicas: list[Digit] = [(WARP // used_lanes, E(THREAD, used_lanes))]
        replicas += [(self._all_warps // used_warps, E(THREAD, WARP * used_warps))]
        return self._layout([*after, *along, *before], self.shape, replicas)

    @cached_property
    def reduced(self) -> RegisterLayout:
        """The registers of one value for each line: that of a thread's line `k` is `k`."""
        left_lanes, left_warps = WARP // self.line_lanes, self._all_warps // self.line_warps
        replicas: list[Digit] = [(left_lanes, E(THREAD, self.line_lanes))]
        replicas += [(left_warps, E(THREAD, WARP * self.line_warps))]
        shape = (*self.shape[: self.axis], *self.shape[self.axis + 1 :])
        return self._layout(self._lines(1), shape, replicas)

    @property
    def _all_warps(self) -> int:
        return power_of_two_below(self.threads // WARP)

    def _lines(self, step: int) -> list[Digit]:
        """The digits of the number of a line."""
        lanes: Digit = (self.line_lanes, E(THREAD))
        return [lanes, (self.line_warps, E(THREAD, WARP)), (self.lines, E(VALUE, step))]

    def _cut(self, digits: list[Digit]) -> tuple[list[Digit], list[Digit]]:
        """The digits of dimensions before and after the axis, by their extents."""
        left, after = prod(self.shape[self.axis + 1 :]), list[Digit]()
        before = list[Digit]()
        for extent, stride in digits:
            inner = min(extent, left)
            after.append((inner, stride))
            before.append((extent // inner, stride * inner))
            left //= inner
        return before, after

    def _layout(
        self, digits: list[Digit], shape: tuple[int, ...], replicas: list[Digit]
    ) -> RegisterLayout:
        layout = with_replicas(layout_of_line(digits, shape), replicas)
        return RegisterLayout(layout, shape, self.threads)
