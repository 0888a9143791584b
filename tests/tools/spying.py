"""Tests see what each run of a command gives, and may change it."""

from collections.abc import Callable
from typing import Any, TypeAlias

import pytest

from tileas_xdsl.interpreters.tile.launch import Schedule, Simulation
from tileas_xdsl.tools.running import scheduled_runs as runs

Change: TypeAlias = Callable[[Schedule, Simulation], Simulation]


def spy(monkeypatch: pytest.MonkeyPatch, change: Change) -> list[Schedule]:
    """Let `change` see, and change, what each run gives."""
    schedules: list[Schedule] = []
    simulate = runs.simulate

    def simulate_and_tell(*args: Any, schedule: Schedule, **options: Any) -> Simulation:
        schedules.append(schedule)
        return change(schedule, simulate(*args, schedule=schedule, **options))

    monkeypatch.setattr(runs, "simulate", simulate_and_tell)
    return schedules
