"""The choice among the kinds of plan."""

from __future__ import annotations

from tileas_xdsl.layout.convert.plan import DEFAULT_WEIGHTS, Cost, Kind, Plan, Weights, warps_of
from tileas_xdsl.layout.convert.registers import plan_registers
from tileas_xdsl.layout.convert.shared import plan_shared
from tileas_xdsl.layout.convert.shuffle import lower_bound, plan_shuffles
from tileas_xdsl.layout.convert.source_map import SourceMap, find_sources
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.registers.register_layout import RegisterContents, RegisterLayout


def plan_conversion(
    source: RegisterLayout,
    target: RegisterContents,
    elem_bits: int,
    *,
    force: Kind | None = None,
    weights: Weights = DEFAULT_WEIGHTS,
    copied: bool = False,
) -> Plan:
    """Plan how the registers of `target` get their elements, of `elem_bits` bits, from `source`.

    Moves inside a thread are taken wherever they suffice; else shuffles or shared memory, whichever
    costs fewer estimated cycles.  `force` restricts the kind of plan; with `copied` each warp may
    have a copy of a small buffer.  Raises `LayoutError` for different tile shapes or thread counts,
    and when the forced kind cannot fill some register.
    """
    if not 1 <= elem_bits <= 128:
        raise LayoutError(f"elements of {elem_bits} bits do not live in registers")
    source_map = find_sources(source, target)
    if force is not None:
        return _forced(source, target, elem_bits, source_map, force, weights)
    kind = source_map.kind()
    if kind in ("identity", "permutation"):
        return plan_registers(source, target, elem_bits, source_map, weights)
    shared = plan_shared(source, target, elem_bits, weights, copied=copied)
    if kind == "shared":
        return shared
    fewest = Cost(shuffles=lower_bound(source_map, elem_bits)).estimated(warps_of(source), weights)
    if fewest.cycles >= shared.cost.cycles:
        return shared
    shuffles = plan_shuffles(source, target, elem_bits, source_map, weights)
    return min(shuffles, shared, key=lambda plan: plan.cost.cycles)


def _forced(
    source: RegisterLayout,
    target: RegisterContents,
    elem_bits: int,
    source_map: SourceMap,
    force: Kind,
    weights: Weights,
) -> Plan:
    strays = source_map.strays(force)
    if len(strays):
        thread, value = (int(i) for i in strays[0])
        raise LayoutError(
            f"no {force} converts {source} to {target}: register {value} of thread {thread} needs "
            f"register {source_map.register[thread, value]} of thread "
            f"{source_map.thread[thread, value]}"
        )
    if force == "shared":
        return plan_shared(source, target, elem_bits, weights)
    if force == "shuffle":
        return plan_shuffles(source, target, elem_bits, source_map, weights)
    return plan_registers(source, target, elem_bits, source_map, weights)
