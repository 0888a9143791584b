"""What was compared for each group, as a table."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func

from tileas_xdsl.analysis.layouts.tile_groups import TileGroup
from tileas_xdsl.diagnostics.locations import file_location
from tileas_xdsl.transforms.assign_layouts.candidates.candidate_lists import Candidate, Weights
from tileas_xdsl.transforms.assign_layouts.request import Decision

_COLUMNS = ("operation", "atom", "bucket", "family", "layout", "align", "smem", "tmem", "regs")
_LAST = ("score", "")
_NAMED = 4
"""Tiles of a group that its heading names."""


def explanation(function: func.FuncOp, decisions: Sequence[Decision], weights: Weights) -> str:
    """A table for each group of a function that has candidates."""
    compared = [decision for decision in decisions if decision.candidates]
    tables = [_table(decision, weights) for decision in compared]
    return "\n\n".join([f"layouts of @{function.sym_name.data}", *tables])


def _table(decision: Decision, weights: Weights) -> str:
    rows = [(*_COLUMNS, *_LAST), *(_row(c, decision, weights) for c in decision.candidates)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(rows[0]))]
    lines = ["  ".join(map(str.ljust, row, widths)).rstrip() for row in rows]
    return "\n".join([_heading(decision.group), *lines, _conclusion(decision, weights)])


def _heading(group: TileGroup) -> str:
    names = [f"%{value.name_hint}" for value in group.values if value.name_hint]
    listed = ", ".join(dict.fromkeys(names)) or "a tile"
    named = list(dict.fromkeys(names))
    if len(named) > _NAMED:
        listed = f"{', '.join(named[:_NAMED])}, ... ({len(named)})"
    return f"{listed}: {'x'.join(map(str, group.shape))}"


def _row(candidate: Candidate, decision: Decision, weights: Weights) -> Sequence[str]:
    cost = candidate.cost
    return (
        _operation(candidate),
        candidate.atom,
        candidate.bucket,
        candidate.family.value,
        str(candidate.layout),
        str(candidate.alignment),
        f"{cost.smem:g}",
        "-" if cost.tmem is None else f"{cost.tmem:g}",
        f"{cost.registers:g}",
        f"{weights.score(cost):g}",
        _verdict(candidate, decision),
    )


def _operation(candidate: Candidate) -> str:
    location = file_location(candidate.op.location)
    name = candidate.op.name.removeprefix("nv_tileas.")
    return name if location is None else f"{name}:{location.line}"


def _verdict(candidate: Candidate, decision: Decision) -> str:
    if candidate.dropped:
        return f"dropped: {candidate.dropped}"
    choice = decision.choice
    taken = choice is not None and choice.atoms.get(candidate.op) is candidate
    return "chosen" if taken else ""


def _conclusion(decision: Decision, weights: Weights) -> str:
    if decision.choice is None:
        return "no layout that all of these can work with: not laid out"
    score = weights.score(decision.choice.cost)
    return f"chosen: {decision.choice.family.value} {decision.choice.layout}, score {score:g}"
