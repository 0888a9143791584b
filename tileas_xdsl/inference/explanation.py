"""Explanations of inferred layouts as text, and pictures of their ownership."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from tileas_xdsl.inference.closed_form import section_of
from tileas_xdsl.inference.decisions import Conversion, Decisions, LoopDecision, Reason
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.program import Buffer, CumSum, Gemm, Loop, Operation, Program, Reduce
from tileas_xdsl.layout.expr.tables import Table
from tileas_xdsl.layout.output.draw import render
from tileas_xdsl.layout.output.grids import MAX_COLUMNS, MAX_ROWS, entitled, grid_of_owners

_HEADER = ("candidate", "cost", "verdict")


def explanation(program: Program, decisions: Decisions) -> str:
    """For each fragment, shared buffer and loop: its layout, what fixed it, what else there was."""
    parts = [
        f"{program.threads} threads on {program.arch}",
        *_buffers(program, decisions),
        *_loops(program, decisions),
    ]
    return "\n\n".join(parts)


def _buffers(program: Program, decisions: Decisions) -> Iterator[str]:
    for name, fragment in decisions.fragments.items():
        buffer = program.buffers[name]
        slots = f"{fragment.slots} slot{'s' if fragment.slots > 1 else ''} in each thread"
        lines = [f"{_title(buffer)}: {slots}", f"  {fragment}"]
        yield "\n".join([*lines, *_because(name, program, decisions)])
    for name, layout in decisions.shared.items():
        lines = [f"{_title(program.buffers[name])}: bytes in shared memory", f"  {layout}"]
        yield "\n".join([*lines, *_because(name, program, decisions)])


def _title(buffer: Buffer) -> str:
    where = f" ({buffer.location})" if buffer.location else ""
    return f"%{buffer.name}, {'x'.join(map(str, buffer.shape))} {buffer.element}{where}"


def _loops(program: Program, decisions: Decisions) -> Iterator[str]:
    for index, operation in enumerate(program.operations):
        converted = [c for c in decisions.conversions if c.operation == index]
        decision = decisions.loops.get(index)
        if decision is None and not converted:
            continue
        lines = [named(operation), *(_execution(decision) if decision else ())]
        lines += _because(f"loop {index}", program, decisions)
        yield "\n".join([*lines, *map(_conversion, converted)])


def named(operation: Operation) -> str:
    """An operation as an explanation names it: what it is, and where it is written."""
    where = f" at {operation.location}" if operation.location else ""
    match operation:
        case Loop():
            return f"{operation.kind} {'x'.join(map(str, operation.extents))}{where}"
        case Reduce():
            return f"reduce %{operation.source} to %{operation.target}{where}"
        case CumSum():
            return f"cumsum %{operation.source} to %{operation.target}{where}"
        case Gemm():
            return f"gemm %{operation.a}, %{operation.b}, %{operation.c}{where}"


def _execution(decision: LoopDecision) -> Iterator[str]:
    owners = decision.owners
    yield f"  {owners}"
    steps = f"{owners.slots} step{'s' if owners.slots > 1 else ''}"
    yield f"  {steps} of each thread, {decision.vector} at once"
    guards = guard_of(owners)
    if guards:
        yield f"  runs only where {' and '.join(guards)}"
    if decision.runs_once:
        yield "  copy 0 alone changes memory that threads share"


def guard_of(owners: FragmentMap) -> Sequence[str]:
    """The conditions on thread and step under which there is an iteration."""
    section = section_of(owners)
    if section is not None:
        return [condition.replace("value", "step") for condition in section.conditions]
    missing = int(np.count_nonzero(owners.held < 0))
    total = owners.held.size
    return [f"a table says so ({total - missing} of {total} places)"] if missing else []


def _because(subject: str, program: Program, decisions: Decisions) -> Iterator[str]:
    for reason in decisions.reasons:
        if reason.subject == subject:
            yield f"  fixed by {_origin(reason, program)}: {reason.rule}"
            yield from _considered(reason)


def _origin(reason: Reason, program: Program) -> str:
    if reason.operation is None:
        return "the program"
    operation = program.operations[reason.operation]
    return f"the {named(operation)}"


def _considered(reason: Reason) -> Iterator[str]:
    if not reason.considered:
        return
    rows = [_HEADER, *((c.candidate, c.cost or "-", c.verdict) for c in reason.considered)]
    widths = [max(len(row[k]) for row in rows) for k in range(len(_HEADER))]
    for row in rows:
        yield "    " + "  ".join(map(str.ljust, row, widths)).rstrip()


def _conversion(conversion: Conversion) -> str:
    return (
        f"  uses %{conversion.buffer} laid out otherwise, at {conversion.cost} cycles: "
        f"{conversion.target}"
    )


def pictures(program: Program, decisions: Decisions) -> Iterator[tuple[str, str]]:
    """`(name, SVG)` of each fragment and of each loop: which thread owns what."""
    for name, fragment in decisions.fragments.items():
        yield name, picture(_title(program.buffers[name]), fragment, "V slot")
    for number, decision in decisions.loops.items():
        title = named(program.operations[number])
        yield f"loop{number}", picture(title, decision.owners, "S step")


def picture(title: str, owners: FragmentMap, value: str = "V slot") -> str:
    """An SVG of the owners of a box, its last dimension to the right; `title` says what it is."""
    threads, slots = _rows(owners.thread_table[0]), _rows(owners.slot_table)
    shown = threads[:MAX_ROWS, :MAX_COLUMNS], slots[:MAX_ROWS, :MAX_COLUMNS]
    note = f"; copy 0 of {owners.replicas}" if owners.replicas > 1 else ""
    if shown[0].shape != threads.shape:
        extents = [f"{rows}x{columns}" for rows, columns in (shown[0].shape, threads.shape)]
        note += f"; the first {extents[0]} of {extents[1]}"
    grid = grid_of_owners(str(owners), *shown, owners.threads, note, value)
    return render(entitled(grid, title))


def _rows(table: Table) -> Table:
    return table.reshape(-1, table.shape[-1] if table.ndim else 1)
