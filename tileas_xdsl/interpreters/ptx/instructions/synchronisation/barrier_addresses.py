"""Addresses of barriers in shared memory, by lane."""

from __future__ import annotations

import numpy as np

from tileas_xdsl.interpreters.ptx.checking.reports.findings import Severity
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import lane_list
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import Site
from tileas_xdsl.interpreters.ptx.memory.global_memory import SHARED_WINDOW, WINDOW_SIZE
from tileas_xdsl.layout.units import WARP


def shared_space(site: Site) -> str:
    """Return the state space of a barrier's address; generic without a qualifier."""
    return site.choose(("shared::cta", "shared::cluster", "shared"), "generic")


def lane_addresses(
    f: ConvergenceGroup, slot: int, offset: int, space: str
) -> list[tuple[int, int]]:
    """Yield each active lane and the `.shared::cluster` address of its operand."""
    base = f.r[slot]
    generic = space == "generic"
    lanes = lane_list(f.mask)
    if base.__class__ is np.ndarray:
        return [(lane, shared_address(f, int(base[lane]) + offset, generic)) for lane in lanes]
    address = shared_address(f, base + offset, generic)
    return [(lane, address) for lane in lanes]


def shared_address(f: ConvergenceGroup, address: int, generic: bool) -> int:
    """Convert a generic address to `.shared::cluster`; return others unchanged.

    A `.shared` address that was zero-extended, as in Triton's tcgen05.commit, is no generic address
    by the PTX ISA.  Triton's kernels need the low 32 bits to be taken, so that is what is done.
    """
    if not generic or SHARED_WINDOW <= address < SHARED_WINDOW + WINDOW_SIZE:
        return address & 0xFFFF_FFFF
    if not 0 <= address < WINDOW_SIZE:
        raise Fault("illegal-address", f"generic address {address:#x} is not in shared memory")
    checker = f.warpgroup.cta.cluster.checker
    if checker is not None:
        checker.findings.add(
            "illegal-address",
            f.pc,
            f"{address:#x} is a .shared address, where the instruction takes a generic one",
            ["hint: say .shared::cluster, or convert it by cvta.shared.u64"],
            severity=Severity.ISA,
        )
    return address


def lane_name(f: ConvergenceGroup, lane: int) -> str:
    """Return the name of a thread in event traces."""
    return f.warpgroup.warp_names[lane // WARP]
