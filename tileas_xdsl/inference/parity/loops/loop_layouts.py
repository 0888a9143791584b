"""Infer the layout of a parallel loop, and of the fragments that it accesses first (parity mode).

A loop is visited at three levels, as in TileLang (`src/transform/layout_inference.cc`):

* strict: only fragments indexed by constants get a layout, replicated in all threads;
* common: the loop takes the layout of a fragment that is known (`_source`), if there is one;
* free: else it gets a default layout, or the better one of both (`loop_candidates.chosen`).

A layout of the loop must be injective and run each iteration where its fragments' elements are;
else it is a `LayoutConflict` that names the first iteration that fails, with both threads.
Fragments without a layout then follow from the loop's (`fragment_completion.py`).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import gcd

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.inference.decisions import InferenceError, LoopDecision, Note
from tileas_xdsl.inference.default_slots import has_plain_digits
from tileas_xdsl.inference.fragment_map import FragmentMap, fully_replicated
from tileas_xdsl.inference.parity.conflicts import LayoutConflict
from tileas_xdsl.inference.parity.loops.containment import has_inverse, is_compatible, is_full
from tileas_xdsl.inference.parity.loops.fragment_access import FragmentUse, LoopUses
from tileas_xdsl.inference.parity.loops.fragment_completion import completed_fragment
from tileas_xdsl.inference.parity.loops.loop_candidates import chosen, from_buffer, is_valid, plan
from tileas_xdsl.inference.parity.state import BufferLayout, Level, Update
from tileas_xdsl.inference.program import Program
from tileas_xdsl.inference.vector_width import loop_width
from tileas_xdsl.layout.expr.digits import digits_of
from tileas_xdsl.layout.expr.tables import evaluated

Layouts = Mapping[str, BufferLayout]


@dataclass(frozen=True)
class _Source:
    """The fragment whose layout a loop must follow, and one that it may follow."""

    required: FragmentUse | None
    is_written: bool
    read: FragmentUse | None


def visit(program: Program, loop: LoopUses, level: Level, layouts: Layouts) -> Update:
    """Return what a loop infers at a level: its own layout and those of new fragments.

    Raises LayoutConflict where the loop does not fit known layouts, InferenceError where TileLang
    gives up altogether.
    """
    if level is Level.STRICT:
        return Update(_broadcast_layouts(program, loop, layouts), rule="constant index")
    owners, rule, is_padded = _owners(program, loop, level, layouts)
    if owners is None:
        return Update()
    _check_injective(loop, owners)
    _check_inverse(loop, owners, layouts)
    _check_fragments(loop, owners, layouts)
    _check_guard(loop, owners, layouts)
    fragments = {
        use.buffer: completed_fragment(loop, owners, use, program.buffers[use.buffer].shape)
        for use in loop.uses
        if use.buffer not in layouts
    }
    decision = LoopDecision(
        owners,
        runs_once=owners.replicas > 1 and loop.stores_memory,
        is_padded=is_padded,
    )
    return Update(fragments, decision, rule)


def _broadcast_layouts(
    program: Program, loop: LoopUses, layouts: Layouts
) -> dict[str, BufferLayout]:
    result: dict[str, BufferLayout] = {}
    for use in loop.uses:
        if use.buffer in layouts:
            continue
        constants = [e for e in use.indices if isinstance(e, int)]
        if any(constants):
            indices = ", ".join(str(index) for index in use.indices)
            raise InferenceError(
                f"the loop uses {use.buffer}[{indices}]: TileLang's inference takes no constant "
                f"index of a fragment but 0",
                use.location or loop.loop.location,
            )
        if use.is_constant:
            result[use.buffer] = fully_replicated(
                program.buffers[use.buffer].shape, program.threads
            )
    return result


def _owners(
    program: Program, loop: LoopUses, level: Level, layouts: Layouts
) -> tuple[FragmentMap | None, str, bool]:
    """The layout of the loop, the rule that gave it, and whether steps are padded."""
    if loop.loop.annotation is not None:
        return loop.loop.annotation, "annotation", False
    # Accesses with constant indices (`x[0]`) say nothing of how iterations spread over threads.
    constant = [use for use in loop.uses if use.is_constant]
    may_propagate = not constant or len(constant) < len(loop.uses)
    source = _source(loop, layouts)
    if source.required is not None and (may_propagate or source.is_written):
        name = source.required.buffer
        return (
            from_buffer(program, loop, source.required, _known(layouts, name)),
            f"from {name}",
            False,
        )
    if level is not Level.FREE:
        return None, "", False
    planned, width = plan(program, loop, layouts)
    rule = f"plan: vectors of {width}"
    if source.read is not None and may_propagate:
        name = source.read.buffer
        buffer_based = from_buffer(program, loop, source.read, _known(layouts, name))
        if chosen(loop, buffer_based, planned, layouts) is buffer_based:
            return buffer_based, f"from {name}", False
        return planned, rule, False
    is_padded = not loop.uses and loop.loop.total % (width * program.threads) != 0
    return planned, rule, is_padded


def _source(loop: LoopUses, layouts: Layouts) -> _Source:
    """Return the fragment to follow: the last written, else the first that is not replicated.

    Beside it the read fragment with the most indices, which the loop may follow at level free.
    """
    required: FragmentUse | None = None
    read: FragmentUse | None = None
    is_written = False
    for use in loop.uses:
        layout = layouts.get(use.buffer)
        if not isinstance(layout, FragmentMap):
            continue
        if use.is_write:
            required, is_written = use, True
            continue
        if read is None or len(use.indices) > len(read.indices):
            read = use
        if layout.replicas == 1 and required is None:
            required = use
    return _Source(required, is_written, read)


def _known(layouts: Layouts, name: str) -> FragmentMap:
    layout = layouts[name]
    assert isinstance(layout, FragmentMap)
    return layout


def _check_injective(loop: LoopUses, owners: FragmentMap) -> None:
    registers = (owners.thread_table * owners.slots + owners.slot_table).ravel()
    if np.bincount(registers).max() == 1:
        return
    order = np.argsort(registers, kind="stable")
    twice = int(np.argmax(registers[order][1:] == registers[order][:-1]))
    shape = owners.thread_table.shape
    first, second = (_point(int(order[twice + k]), shape) for k in range(2))
    thread = int(registers[order[twice]]) // owners.slots
    raise LayoutConflict(
        f"iterations {first} and {second} of the loop would both be one step of thread {thread}: "
        f"its layout {owners} is not injective",
        loop.loop.location,
    )


def _point(flat: int, shape: tuple[int, ...]) -> list[int]:
    """Return the iteration at a flat index of a table whose first axis is the replica."""
    result: list[int] = []
    for extent in reversed(shape[1:]):
        flat, coordinate = divmod(flat, extent)
        result.insert(0, coordinate)
    return result


def _check_fragments(loop: LoopUses, owners: FragmentMap, layouts: Layouts) -> None:
    if is_valid(loop, owners, layouts):
        return
    for use in loop.uses:
        layout = layouts.get(use.buffer)
        if isinstance(layout, FragmentMap) and not is_compatible(loop, owners, use, layout):
            raise LayoutConflict(
                _clash(loop, owners, use, layout),
                loop.loop.location,
                (Note(use.location, f"the access of '{use.buffer}'"),),
            )


def _forms(loop: LoopUses, owners: FragmentMap, layouts: Layouts) -> Iterator[FragmentMap]:
    """Yield the layout over the iterations, and that of a whole fragment that the loop follows."""
    yield owners
    for use in loop.uses:
        layout = layouts.get(use.buffer)
        if not loop.is_common(use) or not isinstance(layout, FragmentMap):
            continue
        if (layout.thread, layout.slot) == (owners.thread, owners.slot):
            yield layout


def _check_inverse(loop: LoopUses, owners: FragmentMap, layouts: Layouts) -> None:
    """What is written to fragments needs an inverse of the loop's layout; stores to memory do not.

    For i, j in (32, 48) of x in threads `(12 * i + j // 4) % 64`, `O[i, j] = x[i, j // 2]` runs in
    threads `(12 * i + j // 8) % 64`, whose rows of 6 pieces leave gaps; `y[i, j] = x[i, j // 2]`
    plans for itself.
    """
    forms = _forms(loop, owners, layouts)
    if loop.stores_fragments and not any(is_full(f) or has_plain_digits(f) for f in forms):
        raise LayoutConflict(
            f"the loop writes fragments, and its layout {owners} has no inverse: some slots of its "
            f"threads are of no iteration",
            loop.loop.location,
        )


def _check_guard(loop: LoopUses, owners: FragmentMap, layouts: Layouts) -> None:
    """Of replicas that store to memory the first does: the layout is inverted to find it.

    For i, j in (4, 4) `O[i, j] = x[i, j // 2]` of x in threads `4 * i + j + 16 * replica` would run
    in threads `4 * i + j // 2 + 16 * replica`: none is thread 2.  A loop over a part of `x[i, j]`
    has the layout of all of x, which is inverted.  Source: TileLang `src/op/parallel.cc`,
    `BuildReplicationGuardsIfNeeded`.
    """
    if owners.replicas == 1 or not loop.stores_memory or loop.stores_fragments:
        return
    if not any(map(has_inverse, _forms(loop, owners, layouts))):
        raise LayoutConflict(
            f"the loop stores to memory in {owners.replicas} replicas, and its layout {owners} has "
            f"no inverse that says which is the first",
            loop.loop.location,
        )


def _clash(loop: LoopUses, owners: FragmentMap, use: FragmentUse, layout: FragmentMap) -> str:
    """Describe the first iteration whose threads do not own the element that it accesses."""
    for iteration in np.ndindex(*loop.loop.extents):
        point = [*iteration, *([0] * (len(loop.extents) - loop.rank))]
        element = tuple(int(evaluated(index, point, [0] * 64)) for index in use.indices)
        holders = {int(t) for t in layout.thread_table[(slice(None), *element)]}
        runners = {int(t) for t in owners.thread_table[(slice(None), *iteration)]}
        if runners - holders or (use.is_write and holders - runners):
            listed = ", ".join(str(k) for k in element)
            return (
                f"element {use.buffer}[{listed}] lives in {_threads(holders)}, the loop runs "
                f"iteration {list(iteration)} on {_threads(runners)}"
            )
    return f"the loop does not run where the elements of '{use.buffer}' are"


def _threads(numbers: set[int]) -> str:
    first = sorted(numbers)[:4]
    listed = ", ".join(map(str, first)) + (", ..." if len(numbers) > len(first) else "")
    return f"thread {listed}" if len(numbers) == 1 else f"threads {listed}"


def vector_of(program: Program, loop: LoopUses, owners: FragmentMap, layouts: Layouts) -> int:
    """Return how many adjacent iterations a thread may access at once under a layout."""
    if loop.loop.inner:
        return 1
    last = loop.rank - 1
    slots = digits_of(owners.slot, loop.loop.extents)
    if slots is None:
        return 1
    run = next((d.extent for d in slots.used if d.variable == last and d.stride == d.lower == 1), 1)
    return gcd(run, loop_width(program, replace(loop.loop, annotation=None), layouts))
