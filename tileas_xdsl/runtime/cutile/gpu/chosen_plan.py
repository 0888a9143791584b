"""Launches of a kernel with several specializations, which some grids gain by.

Where all tile blocks run at once, CTAs that take many gain nothing; and neighbours that share loads
are clusters where their tile blocks can be.  A specialization is compiled when a launch
selects it, so the first launch compiles one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from tileas_xdsl.runtime.cutile.gpu.launch_plan import LaunchPlan
from tileas_xdsl.runtime.cutile.grids import checked_grid
from tileas_xdsl.target.launches.specializations import Grid


class ChosenPlan:
    """The specializations of a kernel, by the grids that select them."""

    def __init__(self, specialized: Callable[[Grid], LaunchPlan]) -> None:
        """Select the specialization of each grid once."""
        self._specialized = specialized
        self._plans: dict[Grid, LaunchPlan] = {}
        self._last: LaunchPlan | None = None

    @property
    def has_launched(self) -> bool:
        """Whether a launch was made here, which C can make again."""
        return self._last is not None and self._last.has_launched

    def native(self, make: Callable[..., Any]) -> Any:
        """Return the launches that C can make, those like the last one."""
        return None if self._last is None else self._last.native(make)

    def _plan(self, grid: tuple[int, ...]) -> LaunchPlan:
        extents = checked_grid(grid)
        if extents not in self._plans:
            self._plans[extents] = self._specialized(extents)
        self._last = self._plans[extents]
        return self._last

    def start(
        self,
        grid: tuple[int, ...],
        stream: int,
        values: tuple[Any, ...],
        args: tuple[Any, ...] = (),
    ) -> None:
        """Launch, as `LaunchPlan.start`."""
        self._plan(grid).start(grid, stream, values, args)

    def measure(
        self,
        grid: tuple[int, ...],
        stream: int,
        values: tuple[Any, ...],
        args: tuple[Any, ...],
        *,
        flush: bool,
    ) -> float:
        """Launch and wait, as `LaunchPlan.measure`."""
        return self._plan(grid).measure(grid, stream, values, args, flush=flush)
