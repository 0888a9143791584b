"""Uses of a value in program order.

xDSL lists uses newest first, which depends on how the IR was constructed: a clone lists them
otherwise.  Code that picks the first of several uses queries this module.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation, SSAValue, Use


def uses_in_order(value: SSAValue) -> Sequence[Use]:
    """The uses of a value, those of outer operations before those of their regions."""
    uses = list(value.uses)
    if len(uses) < 2:
        return uses
    return sorted(uses, key=lambda use: (_program_order(use.operation), use.index))


def _program_order(op: Operation) -> tuple[int, ...]:
    """Where an operation stands: from the top its region, block and position, at every depth."""
    position: list[int] = []
    inner: Operation | None = op
    while inner is not None and (block := inner.parent) is not None:
        region = block.parent
        outer = None if region is None else region.parent
        blocks = 0 if region is None else region.get_block_index(block)
        regions = 0 if outer is None or region is None else outer.get_region_index(region)
        position += [block.get_operation_index(inner), blocks, regions]
        inner = outer
    return tuple(reversed(position))
