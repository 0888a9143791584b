"""Control flow instructions.  Source: PTX ISA 9.7.12."""

from __future__ import annotations

import numpy as np

from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import bools, mask_of
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import STOP, Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES
from tileas_xdsl.interpreters.ptx.parsing.syntax import Symbol


def build_bra(site: Site) -> Step:
    """`bra`: a divergent guard splits the convergence group in two."""
    site.flag("uni")
    site.no_more()
    site.count(1)
    label = site.operands[0]
    if not isinstance(label, Symbol):
        site.fail("a label is expected")
    target = site.program.kernel.labels.get(label.name)
    if target is None:
        site.fail(f"label '{label.name}' is not defined")
    guard = site.instruction.guard
    if guard is None:
        return lambda f: target
    slot = site.slots.register(guard.predicate)
    site.read.append(slot)
    negated = guard.negated
    after = site.at + 1

    def step(f: ConvergenceGroup) -> int | None:
        p = f.r[slot]
        if p.__class__ is bool:
            return target if p != negated else None
        taken = mask_of(p) & f.mask
        if negated:
            taken ^= f.mask
        if taken == f.mask:
            return target
        if not taken:
            return None
        f.warpgroup.convergence_groups.append(f.part(taken, target))
        f.mask ^= taken
        f.pc = after
        return STOP

    return step


def build_brx(site: Site) -> Step:
    """`brx.idx`: a branch to the label at an index of a table."""
    site.flag("uni")
    site.choose(("idx",))
    site.no_more()
    site.count(2)
    index = site.source(0, TYPES["u32"])
    name = site.operands[1]
    tables = site.program.kernel.branch_targets
    if not isinstance(name, Symbol) or name.name not in tables:
        site.fail("a table of .branchtargets is expected")
    labels = site.program.kernel.labels
    targets = [labels[label] for label in tables[name.name]]

    def step(f: ConvergenceGroup) -> int | None:
        picks = f.r[index]
        if picks.__class__ is not np.ndarray:
            return _target(targets, picks)
        active = picks[bools(f.mask, f.warpgroup.lanes)]
        values = np.unique(active).tolist()
        if len(values) == 1:
            return _target(targets, values[0])
        for value in values[1:]:
            mask = mask_of(picks == value) & f.mask
            f.warpgroup.convergence_groups.append(f.part(mask, _target(targets, value)))
            f.mask ^= mask
        f.pc = _target(targets, values[0])
        return STOP

    return step


def _target(targets: list[int], index: int) -> int:
    if index >= len(targets):
        raise Fault("invalid", f"index {index} is beyond the {len(targets)} targets of the table")
    return targets[index]


def end(f: ConvergenceGroup) -> int:
    """End the lanes of a convergence group."""
    f.warpgroup.convergence_groups.remove(f)
    f.warpgroup.cta.cluster.events += 1
    return STOP


def build_ret(site: Site) -> Step:
    """`ret` and `exit`."""
    site.flag("uni")
    site.no_more()
    site.count(0)
    return end


def build_trap(site: Site) -> Step:
    """`trap`: abort the kernel."""
    site.count(0)

    def step(f: ConvergenceGroup) -> int | None:
        raise Fault("invalid", "the kernel executes trap")

    return step


TABLE = (
    Semantics("bra", build_bra),
    Semantics("brx", build_brx),
    Semantics("ret", build_ret, waits=True),
    Semantics("exit", build_ret, waits=True),
    Semantics("trap", build_trap),
)
