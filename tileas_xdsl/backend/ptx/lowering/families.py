"""Which operation is lowered how: the tables of all families."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation

from tileas_xdsl.backend.ptx.lowering import fragments
from tileas_xdsl.backend.ptx.lowering.arithmetic import (
    constants,
    conversions,
    counts,
    division,
    floats,
    functions,
    integers,
)
from tileas_xdsl.backend.ptx.lowering.control import (
    control_flow,
    launch_control,
    messages,
    synchronisation,
    threads,
)
from tileas_xdsl.backend.ptx.lowering.dot import mma_sync as ampere
from tileas_xdsl.backend.ptx.lowering.dot import tcgen05 as tensor_memory
from tileas_xdsl.backend.ptx.lowering.dot import wgmma as products
from tileas_xdsl.backend.ptx.lowering.lowering import Handler
from tileas_xdsl.backend.ptx.lowering.memory import (
    accesses,
    addresses,
    atomics,
    bulk_copies,
    tma_updates,
)

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
    **launch_control.HANDLERS,
    **messages.HANDLERS,
    **products.HANDLERS,
    **synchronisation.HANDLERS,
    **tensor_memory.HANDLERS,
    **threads.HANDLERS,
    **tma_updates.HANDLERS,
}
"""By the class of the operation; anything else is refused."""
