"""Wrappers of steps: guard predicates, and hazards of registers that are written asynchronously.

wgmma and tcgen05.ld write registers after they were issued.  An ordinary instruction that accesses
such a register forces the computation, and is reported where the wait (`wgmma.wait_group`,
`tcgen05.wait::ld`) is missing.  Sources: PTX ISA 9.7.15.6 and 9.7.16.8.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from tileas_xdsl.interpreters.ptx.execution.lane_mask import bools, mask_of, warps_of
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import STOP, Step
from tileas_xdsl.interpreters.ptx.instructions.dot.wgmma_groups import unwaited_reporter
from tileas_xdsl.interpreters.ptx.instructions.elementwise.compare import select
from tileas_xdsl.interpreters.ptx.matrix.wgmma_accumulators import (
    AccumulatorRegister,
    materialize,
    state_of,
)
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import UNSIGNED


def predicated(
    step: Step, slot: int, negated: bool, widths: Mapping[int, int], *, splits: bool
) -> Step:
    """Return a step that executes in the lanes where a predicate holds.

    The registers it writes (their `widths` by slot) keep their values in the other lanes.  An
    instruction that may block `splits` the convergence group instead.
    """

    def run(f: ConvergenceGroup) -> int | None:
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
            return _split_and_run(f, bits, step)
        return _run_masked(f, bits, step, widths)

    return run


def _split_and_run(f: ConvergenceGroup, bits: int, step: Step) -> int:
    f.warpgroup.convergence_groups.append(f.part(f.mask ^ bits, f.pc + 1))
    f.mask = bits
    stopped = step(f)
    if stopped is None:
        f.pc += 1
    return STOP


def _run_masked(
    f: ConvergenceGroup, bits: int, step: Step, widths: Mapping[int, int]
) -> int | None:
    r, mask = f.r, f.mask
    before = [(slot, r[slot]) for slot in widths]
    f.mask = bits
    stopped = step(f)
    f.mask = mask
    chosen = bools(bits, f.warpgroup.lanes)
    for slot, old in before:
        new = r[slot]
        if new is not old:
            r[slot] = select(chosen, new, old, UNSIGNED[widths[slot]])
    return stopped


def with_matrix_registers(step: Step, reads: Sequence[int], writes: Sequence[int]) -> Step:
    """Return a step that materializes wgmma accumulators before an ordinary instruction."""

    def run(f: ConvergenceGroup) -> int | None:
        r = f.r
        for slot in reads:
            if r[slot].__class__ is AccumulatorRegister:
                materialize(f, slot, unwaited_reporter(f))
        for slot in writes:
            if r[slot].__class__ is AccumulatorRegister:
                materialize(f, slot, unwaited_reporter(f))
        state = state_of(f.warpgroup)
        state.fenced = False
        state.last_access = f.pc
        if state.reading and writes:
            _check_operand_a(f, writes)
        return step(f)

    return run


def _check_operand_a(f: ConvergenceGroup, writes: Sequence[int]) -> None:
    """Report writes to registers of A that a wgmma in flight still reads."""
    state = state_of(f.warpgroup)
    for slot in writes:
        item = state.reading.get(slot)
        if item is None:
            continue
        state.force(item)
        checker = f.warpgroup.cta.cluster.checker
        if checker is not None:
            checker.findings.add(
                "wgmma-wait",
                f.pc,
                "a register of A is written while a wgmma in flight may still read it",
                ["hint: wgmma.wait_group has to come first"],
            )


def rename_accumulator(source: int, target: int, step: Step) -> Step:
    """Return a step for `mov` that keeps an accumulator lazy, as ptxas renames the register."""
    ordinary = with_matrix_registers(step, (), (target,))

    def run(f: ConvergenceGroup) -> int | None:
        held = f.r[source]
        if held.__class__ is AccumulatorRegister:
            held.accumulator.shared = True
            f.r[target] = held
            return None
        return ordinary(f)

    return run


def with_tmem_load_check(step: Step, registers: frozenset[int]) -> Step:
    """Return a step that reports accesses to registers of a `tcgen05.ld` not waited for."""

    def run(f: ConvergenceGroup) -> int | None:
        for warp in warps_of(f.mask):
            state = f.warpgroup.warp_states[warp]
            if state.tensor_loads and not registers.isdisjoint(state.tensor_loads):
                _report_unwaited_load(f)
                state.tensor_loads.clear()
        return step(f)

    return run


def _report_unwaited_load(f: ConvergenceGroup) -> None:
    checker = f.warpgroup.cta.cluster.checker
    if checker is not None:
        checker.findings.add(
            "tcgen05-wait",
            f.pc,
            "registers of tcgen05.ld are used before tcgen05.wait::ld",
            ["hint: tcgen05.wait::ld.sync.aligned comes before their first use"],
        )
