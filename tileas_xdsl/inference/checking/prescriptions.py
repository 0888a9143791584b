"""Check of prescribed layouts: annotations, uniform uses, views of one storage."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise

import numpy as np

from tileas_xdsl.inference.checking.checked_program import CheckedProgram, holders
from tileas_xdsl.inference.checking.findings import Finding, Rule, element, threads_text
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.program import Buffer, Scope


def ignored_annotations(question: CheckedProgram) -> Iterator[Finding]:
    """Layouts that are not the ones which the program prescribes."""
    program, decisions = question.program, question.decisions
    for name, wanted in program.annotations.items():
        text = _difference(name, wanted, decisions.fragments[name])
        if text:
            yield Finding(Rule.ANNOTATION, text, program.buffers[name].location)
    for number, loop, decision in question.loops:
        if loop.annotation is not None:
            text = _difference(f"loop {number}", loop.annotation, decision.owners)
            if text:
                yield Finding(Rule.ANNOTATION, text, loop.location)


def _difference(name: str, wanted: FragmentMap, got: FragmentMap) -> str:
    if wanted.shape != got.shape:
        return f"{name} is annotated with a layout of shape {list(wanted.shape)}"
    should, does = holders(wanted), holders(got)
    for index in np.flatnonzero((should != does).any(axis=1))[:1]:
        owners = threads_text(np.flatnonzero(should[index]))
        actual = threads_text(np.flatnonzero(does[index]))
        at = element(name, wanted.shape, int(index))
        return f"{at} is annotated to be in {owners}, decided to be in {actual}"
    for index in np.flatnonzero(wanted.slot_table.ravel() != got.slot_table.ravel())[:1]:
        slots = wanted.slot_table.ravel()[index], got.slot_table.ravel()[index]
        at = element(name, wanted.shape, int(index))
        return f"{at} is annotated to be in slot {slots[0]}, decided to be in slot {slots[1]}"
    return ""


def unreplicated_floats(question: CheckedProgram) -> Iterator[Finding]:
    """Fragments that every thread reads and not every thread has."""
    program = question.program
    for name in sorted(program.floating):
        layout = question.decisions.fragments[name]
        held = holders(layout)
        for index, thread in np.argwhere(~held)[:1]:
            at = element(name, layout.shape, int(index))
            text = f"{at} is read by all threads, thread {int(thread)} does not hold it"
            yield Finding(Rule.FLOATING, text, program.buffers[name].location)


def split_views(question: CheckedProgram) -> Iterator[Finding]:
    """Yield fragments that are views of one storage but keep an element in different registers."""
    by_storage: dict[str, list[Buffer]] = {}
    for buffer in question.program.buffers.values():
        if buffer.scope is Scope.FRAGMENT:
            by_storage.setdefault(buffer.storage or buffer.name, []).append(buffer)
    for views in by_storage.values():
        for a, b in pairwise(views):
            text = _split(question, a, b)
            if text:
                yield Finding(Rule.ALIAS, text, b.location)


def _split(question: CheckedProgram, a: Buffer, b: Buffer) -> str:
    """Where the bits of two views part: they are compared in pieces that both consist of."""
    if a.bits < b.bits:
        a, b = b, a
    wide, narrow = question.decisions.fragments[a.name], question.decisions.fragments[b.name]
    ratio = a.bits // b.bits
    if wide.slot_table.size * ratio != narrow.slot_table.size:
        return f"{a.name} and {b.name} are views of one storage, of different sizes"
    parts = np.arange(narrow.slot_table.size)
    owners, others = holders(wide)[parts // ratio], holders(narrow)
    for index in np.flatnonzero((owners != others).any(axis=1))[:1]:
        first_name = element(a.name, a.shape, int(index) // ratio)
        second_name = element(b.name, b.shape, int(index))
        return (
            f"{first_name} and {second_name} are one value, in "
            f"{threads_text(np.flatnonzero(owners[index]))} and in "
            f"{threads_text(np.flatnonzero(others[index]))}"
        )
    slots = wide.slot_table.ravel()[parts // ratio] * ratio + parts % ratio
    for index in np.flatnonzero(slots != narrow.slot_table.ravel())[:1]:
        return (
            f"{element(a.name, a.shape, int(index) // ratio)} and "
            f"{element(b.name, b.shape, int(index))} are one value in different slots"
        )
    return ""
