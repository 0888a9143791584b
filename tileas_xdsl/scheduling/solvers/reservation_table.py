"""The modulo reservation table: by unit, a bit for each cycle of its period."""

from __future__ import annotations

from collections.abc import Sequence

from tileas_xdsl.scheduling.problem import Problem, Reservation, Task


class ReservationTable:
    """Which cycles of exclusive units are taken at an initiation interval."""

    def __init__(self, problem: Problem, ii: int) -> None:
        self.problem, self.ii = problem, ii
        self._held = [_held(task) for task in problem.tasks]
        self._taken: dict[str, int] = {}

    def fits(self, task: int, start: int) -> dict[str, int] | None:
        """Return the bits that a task would take at a start; None where one is taken."""
        rows: dict[str, int] = {}
        for one in self._held[task]:
            bits = self._bits(one, start)
            if bits is None or bits & (self._taken.get(one.unit, 0) | rows.get(one.unit, 0)):
                return None
            rows[one.unit] = rows.get(one.unit, 0) | bits
        return rows

    def reserve(self, rows: dict[str, int]) -> None:
        """Take bits that `fits` returned."""
        for unit, bits in rows.items():
            self._taken[unit] = self._taken.get(unit, 0) | bits

    def release(self, rows: dict[str, int]) -> None:
        """Give bits back."""
        for unit, bits in rows.items():
            self._taken[unit] &= ~bits

    def _bits(self, one: Reservation, start: int) -> int | None:
        """The cycles of a reservation in a period; None where it would overlap itself."""
        period = self.problem.period(one.unit, self.ii)
        if one.cycles > period:
            return None
        at = (start + one.offset) % period
        bits = ((1 << one.cycles) - 1) << at
        return (bits | bits >> period) & ((1 << period) - 1)


def _held(task: Task) -> Sequence[Reservation]:
    return [one for one in task.reservations if one.exclusive and one.cycles > 0]
