"""What surrounds the step of an instruction: its guard, and registers of matrix instructions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import bools, mask_of
from tileas_xdsl.interpreters.ptx.execution.state import Fragment
from tileas_xdsl.interpreters.ptx.instructions.base import STOP, Step
from tileas_xdsl.interpreters.ptx.instructions.compare import select
from tileas_xdsl.interpreters.ptx.instructions.wgmma import waiting_reporter
from tileas_xdsl.interpreters.ptx.matrix.wgmma_accumulators import Held, settle, state_of
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import UNSIGNED


def guarded(
    step: Step, slot: int, negated: bool, widths: Mapping[int, int], *, splits: bool
) -> Step:
    """A step for the lanes where a predicate holds.

    The registers it writes (`widths` of them, by slot) keep their values in the other lanes.  An
    instruction that may wait `splits` the fragment instead.
    """

    def run(f: Fragment) -> int | None:
        p = f.r[slot]
        if p.__class__ is bool:
            return step(f) if p != negated else None
        if p.__class__ is not np.ndarray:
            return step(f) if bool(p) != negated else None
        bits = mask_of(p) & f.mask
        if negated:
            bits ^= f.mask
        if bits == f.mask:
            return step(f)
        if not bits:
            return None
        if splits:
            return _split(f, bits, step)
        return _masked(f, bits, step, widths)

    return run


def _split(f: Fragment, bits: int, step: Step) -> int:
    f.gang.fragments.append(Fragment(f.gang, f.mask ^ bits, f.pc + 1, f.r.copy()))
    f.mask = bits
    stopped = step(f)
    if stopped is None:
        f.pc += 1
    return STOP


def _masked(f: Fragment, bits: int, step: Step, widths: Mapping[int, int]) -> int | None:
    r, mask = f.r, f.mask
    before = [(slot, r[slot]) for slot in widths]
    f.mask = bits
    stopped = step(f)
    f.mask = mask
    chosen = bools(bits, f.gang.lanes)
    for slot, old in before:
        new = r[slot]
        if new is not old:
            r[slot] = select(chosen, new, old, UNSIGNED[widths[slot]])
    return stopped


def touching(step: Step, reads: Sequence[int], writes: Sequence[int]) -> Step:
    """An ordinary instruction that accesses registers of matrix instructions."""

    def run(f: Fragment) -> int | None:
        r = f.r
        for slot in reads:
            if r[slot].__class__ is Held:
                settle(f, slot, waiting_reporter(f))
        for slot in writes:
            if r[slot].__class__ is Held:
                settle(f, slot, waiting_reporter(f))
        state = state_of(f.gang)
        state.fenced = False
        state.touched = f.pc
        if state.reading and writes:
            _check_operands(f, writes)
        return step(f)

    return run


def _check_operands(f: Fragment, writes: Sequence[int]) -> None:
    """Registers of A are read until the instruction is waited for."""
    state = state_of(f.gang)
    for slot in writes:
        item = state.reading.get(slot)
        if item is None:
            continue
        state.force(item)
        checker = f.gang.cta.cluster.checker
        if checker is not None:
            checker.findings.add(
                "wgmma-wait",
                f.pc,
                "a register of A is written while a wgmma in flight may still read it",
                ["hint: wgmma.wait_group has to come first"],
            )


def moved_lazily(source: int, target: int, step: Step) -> Step:
    """A plain move: an accumulator moves without being looked at, as the assembler renames it."""
    ordinary = touching(step, (), (target,))

    def run(f: Fragment) -> int | None:
        held = f.r[source]
        if held.__class__ is Held:
            held.accumulator.shared = True
            f.r[target] = held
            return None
        return ordinary(f)

    return run


def after_loads(step: Step, registers: frozenset[int]) -> Step:
    """An instruction that accesses registers which `tcgen05.ld` fills."""

    def run(f: Fragment) -> int | None:
        gang = f.gang
        for state in gang.warp_states:
            if state.tensor_loads and not registers.isdisjoint(state.tensor_loads):
                _tell_unwaited(f)
                state.tensor_loads.clear()
        return step(f)

    return run


def _tell_unwaited(f: Fragment) -> None:
    checker = f.gang.cta.cluster.checker
    if checker is not None:
        checker.findings.add(
            "tcgen05-wait",
            f.pc,
            "registers of tcgen05.ld are used before tcgen05.wait::ld",
            ["hint: tcgen05.wait::ld.sync.aligned comes before their first use"],
        )
