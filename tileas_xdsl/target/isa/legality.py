"""Legality of an opcode on a target, with a sentence that gives the reason.

An opcode may have several forms. One is allowed if it has that many operands, the target meets its
requirement, and the module's PTX version is new enough; what fails for all forms is the reason:

>>> from tileas_xdsl.target.arch import TARGETS
>>> hopper = TARGETS["sm_90a"]
>>> refusal("add.s32", 2, hopper, (8, 0))
'add takes 3 operands, not 2'
>>> refusal("tcgen05.fence::before_thread_sync", 0, hopper, (8, 6))
'tcgen05.fence::before_thread_sync needs sm_100a; the target is sm_90a'
>>> refusal("mbarrier.try_wait.parity.shared::cta.b64", 3, hopper, (7, 0))
'mbarrier.try_wait.parity.shared::cta.b64 needs .version 7.8; the module has 7.0'
"""

from __future__ import annotations

from collections.abc import Sequence

from tileas_xdsl.target.arch import TARGETS, Platform, Target
from tileas_xdsl.target.isa.forms import InstructionForm, Table
from tileas_xdsl.target.isa.requirements import Requirement
from tileas_xdsl.target.isa.table import TABLE

Version = tuple[int, int]


def refusal(
    opcode: str, operands: int, target: Platform | Target, version: Version, table: Table = TABLE
) -> str | None:
    """Return why a target does not have an opcode with that many operands; None if it does."""
    forms = table.find(opcode)
    if not forms:
        return unknown(opcode, table)
    name = forms[0].name
    parts = opcode.split(".")
    counts = [form.operand_counts(form.match(parts) or {}) for form in forms]
    fitting = [
        form for form, (low, high) in zip(forms, counts, strict=True) if low <= operands <= high
    ]
    if not fitting:
        wanted = " or ".join(dict.fromkeys(_range(low, high) for low, high in counts))
        return f"{name} takes {wanted} operands, not {operands}"
    if any(f.requirement.met_by(target) and f.requirement.version <= version for f in fitting):
        return None
    return _unmet(opcode, fitting, target, version)


def _range(low: int, high: int) -> str:
    return f"{low}" if low == high else f"{low} to {high}"


def _unmet(
    opcode: str, forms: Sequence[InstructionForm], target: Platform | Target, version: Version
) -> str:
    """What the least demanding form needs that the target or the module has not."""
    met = [form.requirement for form in forms if form.requirement.met_by(target)]
    if met:
        needed = min(requirement.version for requirement in met)
        return (
            f"{opcode} needs .version {needed[0]}.{needed[1]}; the module has "
            f"{version[0]}.{version[1]}"
        )
    return f"{opcode} needs {targets_of(forms[0].requirement)}; the target is {target.name}"


def targets_of(requirement: Requirement) -> str:
    """Return the targets that have a form: `sm_90 or later`, or the known ones by name."""
    if not requirement.features:
        return f"sm_{requirement.capability} or later"
    known = [target.name for target in TARGETS.values() if requirement.met_by(target)]
    return " or ".join(known) or ", ".join(sorted(requirement.features))


def unknown(opcode: str, table: Table = TABLE) -> str:
    """Return which part of an opcode no form of its instruction has, or what is missing."""
    parts = opcode.split(".")
    every = rows = _of_instruction(table.rows(parts[0]), parts)
    if not rows:
        return f"instruction '{opcode}' is not supported"
    name = rows[0].name
    modifiers = parts[name.count(".") + 1 :]
    rows = [row for row in rows if parts[-1] in row.slots[-1].words] or rows
    for part in reversed(modifiers):
        having = [row for row in rows if part in row.vocabulary]
        if not having:
            return f"{name}: {_conflict(every, part, modifiers)}"
        rows = having
    return f"{name}: {_missing(rows, parts)}"


def _conflict(rows: Sequence[InstructionForm], part: str, modifiers: Sequence[str]) -> str:
    """Return why a modifier is not allowed: no form has it, or none together with another."""
    having = [row.vocabulary for row in rows if part in row.vocabulary]
    if not having:
        return f"modifier .{part} is not supported"
    others = [other for other in reversed(modifiers) if not any(other in words for words in having)]
    return f".{part} is not for .{others[0]}" if others else f".{part} is not allowed here"


def _of_instruction(rows: Sequence[InstructionForm], parts: Sequence[str]) -> list[InstructionForm]:
    """Return the forms of the longest name that the opcode begins with."""
    named = [row for row in rows if row.lead == tuple(parts[: len(row.lead)])]
    longest = max((len(row.name) for row in named), default=0)
    return [row for row in named if len(row.name) == longest]


def _missing(rows: Sequence[InstructionForm], parts: Sequence[str]) -> str:
    """Return what every form needs and the opcode lacks."""
    for slot in rows[0].slots:
        allowed = [row.allowed(slot.name) for row in rows]
        if all("" not in words and not set(words) & set(parts) for words in allowed):
            words = dict.fromkeys(word for found in allowed for word in found)
            return f"one of .{', .'.join(words)} is missing" if len(words) > 1 else (
                f".{next(iter(words))} is missing")  # fmt: skip
    return "these modifiers do not go together"
