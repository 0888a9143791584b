"""The choice among the kinds of plan."""

from __future__ import annotations

from tileas_xdsl.layout.convert.origins import Origins, find_origins
from tileas_xdsl.layout.convert.plan import DEFAULT_WEIGHTS, Cost, Kind, Plan, Weights, warps_of
from tileas_xdsl.layout.convert.registers import plan_registers
from tileas_xdsl.layout.convert.shared import plan_shared
from tileas_xdsl.layout.convert.shuffle import lower_bound, plan_shuffles
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.register_layout import RegisterContents, RegisterLayout


def plan_conversion(
    source: RegisterLayout,
    target: RegisterContents,
    elem_bits: int,
    *,
    force: Kind | None = None,
    weights: Weights = DEFAULT_WEIGHTS,
) -> Plan:
    """How the registers of `target` get the elements that `source` holds, `elem_bits` bits each.

    Moves inside a thread are taken wherever they suffice; else shuffles or shared memory, whichever
    costs fewer estimated cycles.  `force` asks for a kind.  Raises `LayoutError` for unlike tiles
    or thread counts, and when the kind asked for cannot serve some register, naming it.
    """
    if not 1 <= elem_bits <= 128:
        raise LayoutError(f"elements of {elem_bits} bits do not live in registers")
    origins = find_origins(source, target)
    if force is not None:
        return _forced(source, target, elem_bits, origins, force, weights)
    kind = origins.kind()
    if kind in ("identity", "permutation"):
        return plan_registers(source, target, elem_bits, origins, weights)
    shared = plan_shared(source, target, elem_bits, weights)
    if kind == "shared":
        return shared
    fewest = Cost(shuffles=lower_bound(origins, elem_bits)).estimated(warps_of(source), weights)
    if fewest.cycles >= shared.cost.cycles:
        return shared
    shuffles = plan_shuffles(source, target, elem_bits, origins, weights)
    return min(shuffles, shared, key=lambda plan: plan.cost.cycles)


def _forced(
    source: RegisterLayout,
    target: RegisterContents,
    elem_bits: int,
    origins: Origins,
    force: Kind,
    weights: Weights,
) -> Plan:
    strays = origins.strays(force)
    if len(strays):
        thread, value = (int(i) for i in strays[0])
        raise LayoutError(
            f"no {force} converts {source} to {target}: register {value} of thread {thread} needs "
            f"register {origins.register[thread, value]} of thread {origins.thread[thread, value]}"
        )
    if force == "shared":
        return plan_shared(source, target, elem_bits, weights)
    if force == "shuffle":
        return plan_shuffles(source, target, elem_bits, origins, weights)
    return plan_registers(source, target, elem_bits, origins, weights)
