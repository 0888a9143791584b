"""Verification of scalar bodies (`generate`, `reduce`, `scan`): the operands of their `yield`."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, Region

from tileas_xdsl.diagnostics.emission import op_error

YIELD = "nv_tileas.yield"


def check_yield(op: Operation, body: Region, wanted: Sequence[Attribute]) -> None:
    """`body` ends with `nv_tileas.yield` of values of the types `wanted`."""
    last = body.block.last_op
    if last is None or last.name != YIELD:
        found = "nothing" if last is None else f"'{last.name}'"
        raise op_error(op, f"the body ends with '{YIELD}', not {found}")
    if (given := tuple(last.operand_types)) != tuple(wanted):
        raise op_error(op, f"the body yields ({_listed(wanted)}), not ({_listed(given)})")


def _listed(types: Sequence[Attribute]) -> str:
    return ", ".join(map(str, types))
