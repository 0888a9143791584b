"""Launches of a kernel that has a persistent form, which some grids gain by.

Where all tile blocks run at once there is nothing to gain.  A form is compiled when a launch asks
for it, so the first launch compiles one.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from math import prod
from typing import Any

from tileas_xdsl.runtime.cutile.gpu.launch_plan import LaunchPlan


class ChosenPlan:
    """The usual form of a kernel, and the persistent one for grids of more than run at once."""

    def __init__(self, resident: int, form: Callable[[bool], LaunchPlan]) -> None:
        """Choose between forms; `resident` tile blocks of the usual one run at once."""
        self._resident, self._form = resident, form
        self.has_launched = False
        """Whether the usual form was launched here."""

    def native(self, make: Callable[..., Any]) -> Any:
        """Return the launches that C can make: those of the usual form."""
        return self._usual.native(make)

    @cached_property
    def _usual(self) -> LaunchPlan:
        return self._form(False)

    @cached_property
    def _persistent(self) -> LaunchPlan:
        return self._form(True)

    def _plan(self, grid: tuple[int, ...]) -> LaunchPlan:
        if prod(grid) > self._resident:
            return self._persistent
        self.has_launched = True
        return self._usual

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
