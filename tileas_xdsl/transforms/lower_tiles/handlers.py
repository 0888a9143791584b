"""The table of handlers by operation class; `add_handler` extends it from other packages.

A handler takes the `ThreadBuilder` and an operation, and returns a lowered value for each result:

    def lower_my_negation(e: ThreadBuilder, op: MyNegationOp) -> Sequence[Lowered]:
        return [Scalar(e.insert(arith.NegfOp(e.scalar(op.input))).result)]

    HANDLERS: Handlers = {MyNegationOp: lower_my_negation}

That table ends the file of a family below; another package calls `add_handler` for each.

The code that handlers write comes from the functions of `tileas_xdsl.threads`.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Operation

from tileas_xdsl.threads.codegen.builder import Handler, ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import Lowered
from tileas_xdsl.threads.registers.register_tile import laid_out
from tileas_xdsl.transforms.extension import note_handler
from tileas_xdsl.transforms.lower_tiles.compute import (
    arithmetic,
    generate,
    products,
    reductions,
    register_slices,
    reshape,
)
from tileas_xdsl.transforms.lower_tiles.control import (
    agents,
    branches,
    launch_control,
    loops,
    messages,
    pipelines,
    turns,
    while_loops,
)
from tileas_xdsl.transforms.lower_tiles.memory import (
    arrays,
    atomics,
    copies,
    gather_scatter,
    pointer_access,
    tma_boxes,
    tma_im2col,
    tma_reduce,
    tma_rows,
    tokens,
    views,
)

HANDLERS: dict[type[Operation], Handler] = {}
"""Every operation that is lowered to threads, with its handler."""


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


FAMILIES = (
    agents,
    arithmetic,
    arrays,
    atomics,
    branches,
    copies,
    gather_scatter,
    generate,
    launch_control,
    loops,
    messages,
    pipelines,
    pointer_access,
    products,
    reductions,
    register_slices,
    reshape,
    tma_boxes,
    tma_im2col,
    tma_reduce,
    tma_rows,
    tokens,
    turns,
    views,
    while_loops,
)

for _family in FAMILIES:
    for _kind, _handler in _family.HANDLERS.items():
        _register(_kind, _handler)
