"""Check that every buffer and loop has exactly one decision."""

from __future__ import annotations

from collections.abc import Iterator

from tileas_xdsl.inference.checking.checked_program import CheckedProgram
from tileas_xdsl.inference.checking.findings import Finding, Rule
from tileas_xdsl.inference.program import Loop, Program, Scope, touched


def undecided(question: CheckedProgram) -> Iterator[Finding]:
    """Buffers and loops without a layout, and layouts of what the program does not have."""
    program, decisions = question.program, question.decisions
    fragments = {n for n, b in program.buffers.items() if b.scope is Scope.FRAGMENT}
    loops = {n for n, o in enumerate(program.operations) if isinstance(o, Loop)}
    for name in sorted(fragments - set(decisions.fragments)):
        text = f"fragment {name} has no layout"
        yield Finding(Rule.DECIDED, text, program.buffers[name].location)
    for number in sorted(loops - set(decisions.loops)):
        text = f"loop {number} has no layout"
        yield Finding(Rule.DECIDED, text, program.operations[number].location)
    for name in sorted(set(decisions.fragments) - fragments):
        yield Finding(Rule.DECIDED, f"{name} has a layout but is no fragment of the program")
    for number in sorted(set(decisions.loops) - loops):
        yield Finding(Rule.DECIDED, f"operation {number} has a layout but is no loop")


def wrong_conversions(question: CheckedProgram) -> Iterator[Finding]:
    """Conversions of what the operation does not use, or of what is no fragment."""
    program = question.program
    seen: set[tuple[int, str]] = set()
    for conversion in question.decisions.conversions:
        key = (conversion.operation, conversion.buffer)
        what = f"the conversion of {conversion.buffer} for operation {conversion.operation}"
        text = _conversion(program, *key)
        if not text and key in seen:
            text = "another one is for the same use"
        if not text and conversion.cost < 0:
            text = f"its cost is {conversion.cost}"
        if text:
            yield Finding(Rule.CONVERSION, f"{what}: {text}")
        seen.add(key)


def _conversion(program: Program, number: int, name: str) -> str:
    if not 0 <= number < len(program.operations):
        return "there is no such operation"
    if name not in touched(program.operations[number]):
        return f"the operation does not use {name}"
    if program.buffers[name].scope is not Scope.FRAGMENT:
        return f"{name} is no fragment"
    return ""
