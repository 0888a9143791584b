"""Stores that tokens order among themselves and behind nothing else: TMA can keep that order.

An atomic update whose old values nobody asks for is a store here.

    %u = scf.for ... iter_args(%t = %none) {
      ...
      %s = nv_tileas.tiled_store %sum, %c[%i, %j] after %t
      scf.yield %s                                          // the next round's store comes after it
    }

A bulk store waits for those before it (`nv_tileas.after_stores`); a load in such a chain would have
to wait too, and is left to threads.  Updates of one mode commute: they need no order of their own.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.ir import SSAValue, Use

from tileas_xdsl.dialects.nv_tileaa.memory.tokens import JoinMemTokenOp
from tileas_xdsl.dialects.nv_tileas.control import GridDependencyOp
from tileas_xdsl.dialects.nv_tileas.enums import MemSemantic
from tileas_xdsl.dialects.nv_tileas.memory.atomics import PointedAtomicOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledAtomicRmwOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.pipelines.token_chain import inflows, outflows
from tileas_xdsl.dialects.nv_tileas.pipelines.tokens import CreateNoneOp

Written: TypeAlias = TiledStoreOp | TiledAtomicRmwOp


AFTER = "it comes after other accesses to memory"


def after_others(token: SSAValue) -> str:
    """Return that other accesses come first, and which atomic update orders more than it may have
    to: cuTile's are `acq_rel` where the program does not say another order."""
    made = (value.owner for value in _closure(token))
    orders = (op.mem_semantic for op in made if isinstance(op, PointedAtomicOp))
    ordered = next((one for one in orders if one and one.data is not MemSemantic.RELAXED), None)
    if ordered is None:
        return AFTER
    return f"{AFTER}: an atomic update is {ordered.data.value}; a relaxed one orders nothing"


def chained_stores(store: Written) -> Sequence[Written] | str:
    """All stores that tokens order before or behind one, with it; or what else they order."""
    found: dict[Written, None] = {}
    pending = [store]
    while pending:
        op = pending.pop()
        if op in found:
            continue
        found[op] = None
        before = _before(op.token)
        behind = _behind(op.out_token)
        if before is None:
            assert op.token is not None
            return after_others(op.token)
        if behind is None:
            return "other accesses to memory come after it"
        pending += (*before, *behind)
    return list(found)


def is_ordered(store: TiledStoreOp) -> bool:
    """Whether a store may come behind one by TMA, itself in the round before included."""
    return bool(_before(store.token))


def commute(chain: Sequence[Written]) -> bool:
    """Whether all of a chain are updates of one mode, which may happen in any order."""
    modes = {op.rmw_mode.data if isinstance(op, TiledAtomicRmwOp) else None for op in chain}
    return len(modes) == 1 and None not in modes


def _before(token: SSAValue | None) -> Sequence[Written] | None:
    """Return the stores that a token orders; None if another operation makes the token."""
    found: list[Written] = []
    for value in () if token is None else _closure(token):
        made = value.owner
        if inflows(value) is not None or isinstance(made, CreateNoneOp | JoinMemTokenOp):
            continue
        if isinstance(made, GridDependencyOp) and made.token is None:
            continue  # What grids before it wrote is visible to TMA, too.
        if not isinstance(made, Written):
            return None
        found.append(made)
    return found


def _closure(token: SSAValue) -> Sequence[SSAValue]:
    """The token and all that control flow, joins, and waits for grids pass on to it."""
    seen = {token: None}
    pending = [token]
    while pending:
        value = pending.pop()
        before = inflows(value)
        if before is None and isinstance(value.owner, JoinMemTokenOp | GridDependencyOp):
            before = value.owner.operands
        new = [v for v in before or () if v not in seen]
        seen.update(dict.fromkeys(new))
        pending += new
    return list(seen)


def _behind(token: SSAValue | None) -> Sequence[Written] | None:
    """The stores that come after a token; None if something else does."""
    found: list[Written] = []
    pending = [] if token is None else [token]
    seen = set(pending)
    while pending:
        for use in pending.pop().uses:
            if isinstance(use.operation, Written):
                found.append(use.operation)
                continue
            passed = _passed_on(use)
            if passed is None:
                return None
            pending += [value for value in passed if value not in seen]
            seen.update(passed)
    return found


def _passed_on(use: Use) -> Sequence[SSAValue] | None:
    """What a token becomes by control flow and joins; None if an access uses it."""
    return use.operation.results if isinstance(use.operation, JoinMemTokenOp) else outflows(use)
