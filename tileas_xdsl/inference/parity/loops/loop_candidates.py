"""Candidate layouts of a parallel loop in parity mode: that of a fragment, or a plan of its own.

TileLang lays out a loop either by the fragment that it accesses (each iteration runs where its
element is) or by default: row-major vectors of iterations dealt cyclically to threads. Source:
TileLang `src/op/parallel.cc`. The default for a 4x16 loop with vectors of 4 in 32 threads, which
has work for 16: the other 16 threads repeat it as replicas.

>>> print(dealt_out((4, 16), 4, 32, replicate=True))
(d0, d1)[2 copies s0] -> (thread d0 * 4 + d1 // 4 + s0 * 16, slot d1 % 4)

`chosen` decides between the two as TileLang does: validity, then registers that depend on the
thread (they would be indexed at run time), then containment, then the number of replicas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from math import prod

import numpy as np

from tileas_xdsl.inference.decisions import InferenceError
from tileas_xdsl.inference.default_slots import inferred_slot
from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.parity.loops.containment import contains, is_compatible, runs
from tileas_xdsl.inference.parity.loops.fragment_access import FragmentUse, LoopUses
from tileas_xdsl.inference.parity.state import BufferLayout
from tileas_xdsl.inference.program import Program
from tileas_xdsl.inference.vector_width import least_padding, loop_width
from tileas_xdsl.layout.expr.expression import Number, dimension, substituted, symbol, symbols_of
from tileas_xdsl.layout.expr.simplification import simplified
from tileas_xdsl.layout.expr.tables import table_of
from tileas_xdsl.layout.integers import ceil_div


def from_buffer(
    program: Program, loop: LoopUses, use: FragmentUse, layout: FragmentMap
) -> FragmentMap:
    """Return the loop layout that runs each iteration on the owner of its element.

    Raises LayoutConflict where that varies within an iteration.
    """
    if loop.is_common(use):
        return FragmentMap(
            loop.loop.extents, layout.thread, layout.slot, layout.threads, layout.replicas
        )
    thread = loop.closed_thread(use, layout)
    return completed(loop.loop.extents, thread, program.threads, layout.replicas)


def completed(shape: tuple[int, ...], thread: Number, threads: int, replicas: int) -> FragmentMap:
    """Return a layout from its threads; slots enumerate what the thread index leaves open."""
    return FragmentMap(shape, thread, inferred_slot(thread, shape), threads, replicas)


def plan(
    program: Program, loop: LoopUses, layouts: Mapping[str, BufferLayout]
) -> tuple[FragmentMap, int]:
    """Return the default loop partition, vectors dealt cyclically to threads, and the vector width.

    Raises InferenceError where the requested coalesced width is not possible for the accesses.
    """
    total, threads = loop.loop.total * prod(loop.loop.inner), program.threads
    width = loop_width(program, loop.loop, layouts)
    wanted = loop.loop.coalesced_width
    if loop.uses:
        while total % (threads * width) and width > 1:
            width //= 2
    elif wanted is None:
        width = least_padding(width, total, threads)
    if wanted is not None:
        if width % wanted:
            raise InferenceError(
                f"vectors of {width} elements cannot be made of coalesced_width {wanted}",
                loop.loop.location,
            )
        width = wanted
    return dealt_out(loop.loop.extents, width, threads, replicate=bool(loop.uses)), width


def dealt_out(
    extents: tuple[int, ...], width: int, threads: int, *, replicate: bool
) -> FragmentMap:
    """Deal row-major vectors of `width` iterations to threads; idle threads become replicas."""
    flat = 0
    for k, extent in enumerate(extents):
        flat = flat * extent + dimension(k)
    used = min(ceil_div(prod(extents), width), threads)
    replicas = threads // used if replicate else 1
    thread = flat // width % threads
    if replicas > 1:
        thread = thread + symbol(0) * used
    slot = flat // width // threads * width + flat % width
    return FragmentMap(
        extents,
        simplified(thread, extents, (replicas,)),
        simplified(slot, extents),
        threads,
        replicas,
    )


def chosen(
    loop: LoopUses,
    buffer_based: FragmentMap,
    planned: FragmentMap,
    layouts: Mapping[str, BufferLayout],
) -> FragmentMap:
    """Of two candidates the only valid one, else the contained one, else the less replicated."""
    fits = [is_valid(loop, candidate, layouts) for candidate in (buffer_based, planned)]
    if not all(fits):
        return planned if fits == [False, True] else buffer_based
    # A slot that depends on the thread is an index of registers at run time, which means local
    # memory.
    dependent = [
        has_thread_dependent_slots(loop, candidate, layouts)
        for candidate in (buffer_based, planned)
    ]
    if dependent[0] != dependent[1]:
        return planned if dependent[0] else buffer_based
    first, second = runs(loop, buffer_based), runs(loop, planned)
    first_is_in_second = contains(first, second, loop.extents)
    second_is_in_first = contains(second, first, loop.extents)
    if first_is_in_second != second_is_in_first:
        return buffer_based if first_is_in_second else planned
    return planned if planned.replicas <= buffer_based.replicas else buffer_based


def is_valid(loop: LoopUses, candidate: FragmentMap, layouts: Mapping[str, BufferLayout]) -> bool:
    """Whether a loop layout fits every fragment whose layout is known."""
    return all(
        is_compatible(loop, candidate, use, layout)
        for use in loop.uses
        if isinstance(layout := layouts.get(use.buffer), FragmentMap)
    )


def has_thread_dependent_slots(
    loop: LoopUses, candidate: FragmentMap, layouts: Mapping[str, BufferLayout]
) -> bool:
    """Whether threads at one step use different registers: those would live in local memory."""
    return any(
        has_thread_dependent_slot(loop, candidate, use, layout)
        for use in loop.uses
        if isinstance(layout := layouts.get(use.buffer), FragmentMap)
    )


def has_thread_dependent_slot(
    loop: LoopUses, candidate: FragmentMap, use: FragmentUse, layout: FragmentMap
) -> bool:
    """Whether threads at one step use different registers of one fragment."""
    slots = simplified(substituted(layout.slot, use.indices, []), loop.extents)
    return any(
        _varies(candidate.slot, candidate.shape, each, loop.extents[loop.rank :])
        for each in _at_sample_iterations(slots, len(loop.extents))
    )


def _at_sample_iterations(slot: Number, rank: int) -> Sequence[Number]:
    """Return a slot expression at some values of the enclosing loop variables."""
    around = symbols_of(slot)
    if not around:
        return [slot]
    dimensions = [dimension(k) for k in range(rank)]
    rounds = [[k] * (max(around) + 1) for k in range(3)]
    return [substituted(slot, dimensions, numbers) for numbers in rounds]


@lru_cache(maxsize=1 << 12)
def _varies(step: Number, shape: tuple[int, ...], slot: Number, inner: tuple[int, ...]) -> bool:
    """Whether the register of a step depends on the thread as well."""
    if step == slot:
        return False
    box = (*shape, *inner)
    steps, slots = (table_of(e, box).reshape(prod(shape), -1) for e in (step, slot))
    lowest = np.full((int(steps.max()) + 1, slots.shape[1]), np.iinfo(np.int64).max)
    np.minimum.at(lowest, steps[:, 0], slots)
    return not np.array_equal(lowest[steps[:, 0]], slots)
