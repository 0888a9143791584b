"""Which operation is lowered how: the tables of all families."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation

from tileas_xdsl.backend.ptx.lowering import (
    accesses,
    addresses,
    ampere,
    atomics,
    bulk_copies,
    constants,
    control_flow,
    conversions,
    counts,
    division,
    floats,
    fragments,
    functions,
    integers,
    products,
    synchronisation,
    tensor_memory,
    threads,
    tma_updates,
)
from tileas_xdsl.backend.ptx.lowering.lowering import Handler

HANDLERS: Mapping[type[Operation], Handler] = {
    **accesses.HANDLERS,
    **addresses.HANDLERS,
    **ampere.HANDLERS,
    **atomics.HANDLERS,
    **bulk_copies.HANDLERS,
    **constants.HANDLERS,
    **control_flow.HANDLERS,
    **conversions.HANDLERS,
    **counts.HANDLERS,
    **division.HANDLERS,
    **floats.HANDLERS,
    **fragments.HANDLERS,
    **functions.HANDLERS,
    **integers.HANDLERS,
    **products.HANDLERS,
    **synchronisation.HANDLERS,
    **tensor_memory.HANDLERS,
    **threads.HANDLERS,
    **tma_updates.HANDLERS,
}
"""By the class of the operation; anything else is refused."""
