"""The table of handlers by operation class; `add_handler` extends it from other packages.

A handler takes the `ThreadBuilder` and an operation, and returns a lowered value for each result:

    def lower_my_negation(e: ThreadBuilder, op: MyNegationOp) -> Sequence[Lowered]:
        return [Scalar(e.insert(arith.NegfOp(e.scalar(op.input))).result)]

    HANDLERS: Handlers = {MyNegationOp: lower_my_negation}

That table ends the file of a family below, which is loaded when an operation of its rows is
lowered; another package calls `add_handler` for each.

The code that handlers write comes from the functions of `tileas_xdsl.threads`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from tileas_xdsl.dialects.handler_table import HandlerTable
from tileas_xdsl.threads.codegen.builder import Handler, ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import Lowered
from tileas_xdsl.threads.registers.register_tile import laid_out
from tileas_xdsl.transforms.extension import note_handler


def add_handler(kind: type[Operation], handler: Handler) -> None:
    """Register a handler of a class of operations; result tiles get their types' layouts."""
    _register(kind, handler)
    note_handler()


def _register(kind: type[Operation], handler: Handler) -> None:
    def handle(e: ThreadBuilder, op: Operation) -> Sequence[Lowered]:
        found = handler(e, op)
        return [
            laid_out(e, op, value, result.type)
            for value, result in zip(found, op.results, strict=True)
        ]

    HANDLERS[kind] = handle


HANDLERS = HandlerTable[Handler](
    "tileas_xdsl.transforms.lower_tiles",
    {
        "nv_tileaa.compute.conversions": ("memory.arrays",),
        "nv_tileaa.facts": ("memory.arrays",),
        "nv_tileaa.grid": ("compute.arithmetic",),
        "nv_tileaa.memory.block_memory": ("memory.arrays",),
        "nv_tileaa.memory.globals": ("memory.arrays",),
        "nv_tileaa.memory.pointers": ("memory.arrays",),
        "nv_tileaa.memory.tokens": ("memory.tokens",),
        "nv_tileaa.memory.views": ("memory.arrays",),
        "nv_tileaa.messages": ("control.messages",),
        "nv_tileas.compute.dot": ("compute.products",),
        "nv_tileas.compute.reductions": ("compute.reductions",),
        "nv_tileas.control": ("control.launch_control", "memory.tokens"),
        "nv_tileas.memory.atomics": ("memory.atomics",),
        "nv_tileas.memory.copy": ("memory.copies",),
        "nv_tileas.memory.element_access": ("memory.gather_scatter", "memory.pointer_access"),
        "nv_tileas.memory.tile_transfers": ("memory.tile_transfers",),
        "nv_tileas.memory.tiled": ("memory.atomics", "memory.views"),
        "nv_tileas.pipelines.agents": ("control.agents",),
        "nv_tileas.pipelines.create": ("control.pipelines",),
        "nv_tileas.pipelines.ops": (
            "control.pipeline_consumers",
            "control.pipeline_producers",
            "control.pipelines",
        ),
        "nv_tileas.pipelines.tokens": ("compute.products", "memory.tokens"),
        "nv_tileas.pipelines.turns": ("control.turns",),
        "nv_tileas.shapes.layout": ("compute.generate", "compute.products", "compute.reshape"),
        "nv_tileas.shapes.slices": ("compute.register_slices", "memory.views"),
        "nv_tileas.tma.descriptor": ("memory.tma_boxes",),
        "nv_tileas.tma.ops": (
            "memory.tma_boxes",
            "memory.tma_im2col",
            "memory.tma_reduce",
            "memory.tma_rows",
        ),
        "nv_tileas.tma.slices": ("memory.tma_boxes",),
        "xdsl.dialects.arith": ("compute.arithmetic",),
        "xdsl.dialects.cf": ("control.messages",),
        "xdsl.dialects.gpu": ("compute.arithmetic", "memory.copies"),
        "xdsl.dialects.math": ("compute.arithmetic",),
        "xdsl.dialects.memref": ("compute.arithmetic", "memory.arrays", "memory.pointer_access"),
        "xdsl.dialects.scf": ("control.branches", "control.loops", "control.while_loops"),
        "xdsl.dialects.tensor": ("compute.generate", "compute.reshape"),
    },
    _register,
)
"""Every operation that is lowered to threads, with its handler."""
