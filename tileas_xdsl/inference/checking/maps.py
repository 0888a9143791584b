"""Check that layouts are injective maps of the right shape within the block."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from tileas_xdsl.inference.checking.checked_program import CheckedProgram, Mask
from tileas_xdsl.inference.checking.findings import Finding, Rule, element, first
from tileas_xdsl.inference.decisions import LoopDecision
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.program import Loop, Program, Scope
from tileas_xdsl.layout.expr.expression import dimensions_of, symbols_of
from tileas_xdsl.layout.expr.tables import Table
from tileas_xdsl.layout.integers import is_power_of_two


def wrong_maps(question: CheckedProgram) -> Iterator[Finding]:
    """Yield maps of a wrong shape, outside of the block, or with two elements in one register."""
    program, decisions = question.program, question.decisions
    for name, layout in decisions.fragments.items():
        buffer = program.buffers[name]
        what = f"fragment {name}"
        yield from first(_map(what, name, buffer.shape, layout, program, buffer.location))
    for number, loop, decision in question.loops:
        what, where = f"loop {number}", loop.location
        yield from first(_map(what, "iteration ", loop.extents, decision.owners, program, where))
        yield from _width(number, loop, decision)
    for conversion in decisions.conversions:
        buffer = program.buffers.get(conversion.buffer)
        if buffer is not None and buffer.scope is Scope.FRAGMENT:
            what = f"the conversion of {buffer.name} for operation {conversion.operation}"
            yield from first(
                _map(what, buffer.name, buffer.shape, conversion.target, program, buffer.location)
            )


def _width(number: int, loop: Loop, decision: LoopDecision) -> Iterator[Finding]:
    vector = decision.vector
    if not is_power_of_two(vector):
        text = f"loop {number} accesses {vector} neighbours at once: not a power of two"
        yield Finding(Rule.VECTOR, text, loop.location)


def _map(
    what: str,
    name: str,
    shape: tuple[int, ...],
    layout: FragmentMap,
    program: Program,
    location: str,
) -> Iterator[Finding]:
    for text in _form(shape, layout, program.threads):
        yield Finding(Rule.MAP, f"{what}: {text}", location)
        return
    for text in _outside(name, layout):
        yield Finding(Rule.MAP, f"{what}: {text}", location)
        return
    for text in _collision(name, layout):
        yield Finding(Rule.MAP, f"{what}: {text}", location)


def _form(shape: tuple[int, ...], layout: FragmentMap, threads: int) -> Iterator[str]:
    if layout.shape != shape:
        yield f"its layout is of shape {list(layout.shape)}, not {list(shape)}"
    if layout.threads != threads:
        yield f"its layout is for {layout.threads} threads, the block has {threads}"
    if layout.replicas < 1:
        yield f"its layout has {layout.replicas} copies"
    for part, expression, symbols in (
        ("thread", layout.thread, {0}),
        ("slot", layout.slot, set[int]()),
    ):
        used = dimensions_of(expression)
        if not used <= set(range(len(shape))) or not symbols_of(expression) <= symbols:
            yield f"the {part} {expression} uses variables that it does not have"


def _outside(name: str, layout: FragmentMap) -> Iterator[str]:
    threads, slots = layout.thread_table, layout.slot_table
    for copy, index in np.argwhere(_beyond(threads, layout))[:1]:
        thread = int(threads.reshape(layout.replicas, -1)[copy, index])
        at = element(name, layout.shape, int(index))
        yield f"{at} lies in thread {thread} of {layout.threads}"
    if slots.min(initial=0) < 0:
        index = int(slots.argmin())
        yield f"{element(name, layout.shape, index)} lies in slot {int(slots.min())}"


def _beyond(threads: Table, layout: FragmentMap) -> Mask:
    rows = threads.reshape(layout.replicas, -1)
    return (rows < 0) | (rows >= layout.threads)


def _collision(name: str, layout: FragmentMap) -> Iterator[str]:
    # The last element written to a place stays there, which tells on the others.
    registers = layout.thread_table * layout.slots + layout.slot_table
    elements = np.arange(layout.slot_table.size).reshape(layout.shape)
    holder = np.zeros(layout.threads * layout.slots, dtype=np.int64)
    holder[registers] = elements
    found = holder[registers]
    for at in np.argwhere(found != elements)[:1]:
        copy, *index = at.tolist()
        pair = int(elements[tuple(index)]), int(found[copy, *index])
        a, b = (element(name, layout.shape, e) for e in sorted(pair))
        thread, slot = divmod(int(registers[copy, *index]), layout.slots)
        yield f"{a} and {b} both lie in slot {slot} of thread {thread}"
