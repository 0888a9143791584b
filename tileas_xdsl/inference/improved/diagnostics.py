"""Diagnostics for programs without a legal layout: accesses, loop, a counterexample."""

from __future__ import annotations

from collections.abc import Mapping

from tileas_xdsl.inference.decisions import InferenceError, Note, RegistersError
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.improved.accesses.work_items import WorkItem
from tileas_xdsl.inference.improved.costs.register_pressure import Pressure
from tileas_xdsl.inference.improved.legality import (
    Violation,
    ViolationKind,
    is_overtaken,
    violation,
)
from tileas_xdsl.inference.improved.search.propagation import Assignment
from tileas_xdsl.inference.program import Loop, Program


def check_annotations(program: Program) -> None:
    """Raise `InferenceError` for a prescribed layout that cannot be."""
    prescribed = [
        (name, program.buffers[name].shape, layout, program.buffers[name].location)
        for name, layout in program.annotations.items()
    ]
    prescribed += [
        (f"loop {index}", loop.extents, loop.annotation, loop.location)
        for index, loop in enumerate(program.operations)
        if isinstance(loop, Loop) and loop.annotation is not None
    ]
    for subject, shape, layout, location in prescribed:
        assert layout is not None
        _check(subject, shape, layout, location, program.threads)


def _check(
    subject: str, shape: tuple[int, ...], layout: FragmentMap, location: str, block: int
) -> None:
    text = ""
    if layout.shape != shape:
        text = f"is for {list(layout.shape)} and not for {list(shape)}"
    elif layout.threads != block:
        text = f"is for {layout.threads} threads, the block has {block}"
    elif layout.thread_table.min(initial=0) < 0 or layout.thread_table.max(initial=0) >= block:
        text = f"uses threads outside of the block of {block}"
    elif layout.slot_table.min(initial=0) < 0:
        text = "uses slots below 0"
    elif not layout.is_injective:
        text = "puts several elements into one slot of a thread"
    if text:
        raise InferenceError(f"the layout prescribed for {subject}, {layout}, {text}", location)


def refused(item: WorkItem, found: Assignment) -> InferenceError:
    """Why `item` cannot run, whatever is converted."""
    operation = item.operation
    annotation = operation.annotation if isinstance(operation, Loop) else None
    is_prescribed = annotation is not None and not is_overtaken(item, annotation)
    for use in item.uses:
        layout = found.layouts.get(use.name)
        if annotation is None or layout is None or not is_prescribed:
            continue
        fault = violation(annotation, use, layout)
        if fault is not None:
            return InferenceError(
                f"{violation_text(fault, item)}; no conversion of {use.name} serves the layout "
                "prescribed for the loop",
                use.access.location or item.location,
                _fixed_by(use.name, found, item),
            )
    first = item.uses[0].access if item.uses else None
    names = ", ".join(item.fragments)
    return InferenceError(
        f"no layout lets {item.subject} run: it reads memory that it changes, and copies of its "
        f"iterations, which {names} needs in several threads, would overtake one another",
        (first.location if first else "") or item.location,
    )


def violation_text(fault: Violation, item: WorkItem) -> str:
    """`element f[0,8] lives in thread 2, loop 'k.mlir:14:3' runs it on thread 10`."""
    element = f"element {fault.use.name}[{','.join(map(str, fault.element))}]"
    where = f"'{item.location}'" if item.location else item.subject
    noun = "loop" if isinstance(item.operation, Loop) else "operation"
    if fault.fault is ViolationKind.UNKNOWN:
        return f"any element of {fault.use.name} may be touched by {noun} {where}"
    home = _threads(fault.owners)
    if fault.fault is ViolationKind.IDLE_OWNER:
        return f"{element} lives in {home}, {noun} {where} does not run it on {fault.thread}"
    return f"{element} lives in {home}, {noun} {where} runs it on thread {fault.thread}"


def _threads(owners: tuple[int, ...]) -> str:
    if len(owners) == 1:
        return f"thread {owners[0]}"
    shown = ", ".join(map(str, owners[:4]))
    return f"threads {shown}" + (f" and {len(owners) - 4} more" if len(owners) > 4 else "")


def _fixed_by(name: str, found: Assignment, item: WorkItem) -> tuple[Note, ...]:
    origin = found.origins.get(name)
    rule = "an annotation" if origin is None else f"operation {origin.item}, {origin.rule}"
    return (Note(item.location, f"{name} has its layout by {rule}"),)


def too_large(
    needed: Pressure, limit: int, program: Program, sizes: Mapping[str, int]
) -> RegistersError:
    """Fragments that do not fit into the registers of a thread: all of them, and where."""
    parts = [f"{name} {sizes[name]}" for name in needed.names if sizes[name]]
    beside = needed.registers - sum(sizes[name] for name in needed.names)
    if beside > 0:
        parts.append(f"{beside} for what is converted")
    where = "" if needed.item is None else f" at {needed.item.subject}"
    return RegistersError(
        f"fragments need {needed.registers} registers a thread{where} ({', '.join(parts)}), a "
        f"block of {program.threads} threads has {limit} for each: use more threads or smaller "
        f"tiles",
        program.buffers[needed.names[0]].location if needed.names else "",
    )
