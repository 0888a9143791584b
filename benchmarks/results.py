"""What a benchmark measured: rows, tables of them, JSON, and how they changed since an older run."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from tileas_xdsl.tools.console import table_text

SMALLER_IS_BETTER = frozenset(("ms", "us", "s", "us/op", "registers", "instructions", "%"))
"""Units of what should be little; of all others there should be much."""

NOISE = 0.05
"""Relative changes below this count as equal: machines are shared."""


@dataclass(frozen=True)
class Row:
    """One number of ours, with those of others in the same unit."""

    group: str
    name: str
    value: float
    unit: str
    others: Mapping[str, float] = field(default_factory=dict[str, float])
    """By what they are called."""
    bar: float | None = None
    """What is wanted."""
    facts: Mapping[str, float | str] = field(default_factory=dict[str, float | str])
    """Further facts about the measurement."""

    @property
    def key(self) -> tuple[str, str, str]:
        """What a row of another run must have in common with it to be the same measurement."""
        return self.group, self.name, self.unit

    def ratio(self, other: float) -> float:
        """How many times as good as another number it is; infinite or 0 where one of them is 0."""
        better, worse = (
            (other, self.value) if self.unit in SMALLER_IS_BETTER else (self.value, other)
        )
        if worse:
            return better / worse
        return math.inf if better else 1.0


@dataclass(frozen=True)
class Results:
    """The rows of a run, and the machine and versions that they hold for."""

    machine: Mapping[str, str]
    rows: Sequence[Row]

    def write(self, path: Path) -> None:
        """As JSON."""
        path.write_text(json.dumps(asdict(self), indent=1) + "\n", encoding="utf-8")

    @staticmethod
    def read(path: Path) -> Results:
        """What `write` wrote; raises `ValueError` for anything else."""
        try:
            found: Any = json.loads(path.read_text(encoding="utf-8"))
            return Results(found["machine"], [Row(**row) for row in found["rows"]])
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"{path} holds no results of a benchmark: {error}") from error


def number(value: float) -> str:
    """Four digits, however large."""
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"


def tables(rows: Sequence[Row]) -> str:
    """A table for each group: ours, the bar, and what others reach with how ours compares."""
    groups = dict.fromkeys(row.group for row in rows)
    return "\n\n".join(
        _table(group, [row for row in rows if row.group == group]) for group in groups
    )


def _table(group: str, rows: Sequence[Row]) -> str:
    others = list(dict.fromkeys(name for row in rows for name in row.others))
    facts = list(dict.fromkeys(name for row in rows for name in row.facts))
    bars = ["bar"] * any(row.bar is not None for row in rows)
    header = [group, "ours", *bars, *others, *facts]
    return table_text(header, [_cells(row, bars, others, facts) for row in rows])


def _cells(row: Row, bars: list[str], others: list[str], facts: list[str]) -> list[str]:
    cells = [row.name, f"{number(row.value)} {row.unit}"]
    if bars:
        cells.append("" if row.bar is None else _compared(row, row.bar))
    cells += [_compared(row, row.others[name]) if name in row.others else "" for name in others]
    return [*cells, *(_fact(row.facts.get(name, "")) for name in facts)]


def _compared(row: Row, other: float) -> str:
    return f"{number(other)} ({row.ratio(other):.2f} x)"


def _fact(value: float | str) -> str:
    return value if isinstance(value, str) else number(value)


def comparison(old: Results, new: Results) -> str:
    """Every measurement of both runs: before, now, and how many times as good."""
    before = {row.key: row for row in old.rows}
    lines = [*_different_machines(old.machine, new.machine)]
    cells = [_change(row, before.pop(row.key, None)) for row in new.rows]
    cells += [(f"{row.group}: {row.name}", _shown(row), "", "no more") for row in before.values()]
    return "\n".join([*lines, table_text(("measurement", "before", "now", "change"), cells)])


def _different_machines(old: Mapping[str, str], new: Mapping[str, str]) -> Iterator[str]:
    for name in dict.fromkeys((*old, *new)):
        if old.get(name) != new.get(name):
            yield f"{name}: {old.get(name, 'none')} before, {new.get(name, 'none')} now"


def _change(row: Row, before: Row | None) -> tuple[str, str, str, str]:
    name = f"{row.group}: {row.name}"
    if before is None:
        return name, "", _shown(row), "new"
    times = row.ratio(before.value)
    said = "equal" if abs(times - 1) < NOISE else f"{times:.2f} x"
    return name, _shown(before), _shown(row), said


def _shown(row: Row) -> str:
    return f"{number(row.value)} {row.unit}"
