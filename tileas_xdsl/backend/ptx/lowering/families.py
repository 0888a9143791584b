"""Which operation is lowered how: the tables of all families."""

from __future__ import annotations

from tileas_xdsl.backend.ptx.lowering.lowering import Handler
from tileas_xdsl.dialects.handler_table import HandlerTable

HANDLERS = HandlerTable[Handler](
    "tileas_xdsl.backend.ptx.lowering",
    {
        "cute.memory.globals": ("control.messages",),
        "cute.memory.pointers": ("memory.accesses", "memory.addresses"),
        "cute.registers.elementwise": ("fragments",),
        "cute.registers.fragments": ("fragments",),
        "cute_nvgpu.mma.canonical_descriptors": ("dot.wgmma", "dot.tcgen05"),
        "cute_nvgpu.mma.mma_sync": ("dot.mma_sync",),
        "cute_nvgpu.mma.mma_sync_scaled": ("dot.mma_sync",),
        "cute_nvgpu.mma.mma_sync_sparse": ("dot.mma_sync",),
        "cute_nvgpu.mma.tcgen05": ("dot.tcgen05",),
        "cute_nvgpu.mma.tcgen05_scaled": ("dot.tcgen05",),
        "cute_nvgpu.mma.tcgen05_sparse": ("dot.tcgen05",),
        "cute_nvgpu.mma.wgmma": ("dot.wgmma",),
        "cute_nvgpu.threads.atomics": ("memory.atomics",),
        "cute_nvgpu.threads.barriers": ("control.synchronisation",),
        "cute_nvgpu.threads.indices": ("memory.addresses", "control.threads"),
        "cute_nvgpu.threads.launch_control": ("control.launch_control",),
        "cute_nvgpu.threads.warp_collectives": ("control.threads",),
        "cute_nvgpu.tma.copies": ("memory.bulk_copies",),
        "cute_nvgpu.tma.descriptor_addresses": ("memory.bulk_copies",),
        "cute_nvgpu.tma.descriptor_updates": ("memory.tma_updates",),
        "xdsl.dialects.arith": (
            "arithmetic.constants",
            "arithmetic.conversions",
            "arithmetic.counts",
            "arithmetic.division",
            "arithmetic.floats",
            "arithmetic.integers",
        ),
        "xdsl.dialects.cf": ("control.messages",),
        "xdsl.dialects.func": ("control.control_flow",),
        "xdsl.dialects.math": ("arithmetic.counts", "arithmetic.floats", "arithmetic.functions"),
        "xdsl.dialects.scf": ("control.control_flow",),
        "xdsl.dialects.vector": ("arithmetic.conversions", "arithmetic.floats", "fragments"),
    },
)
"""By the class of the operation; anything else is refused."""
