"""Which `tl` kernels are compiled by way of tiles: products, for agents, TMA, tensor memory."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects import func

from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.dialects.tl.base import element_of
from tileas_xdsl.dialects.tl.checks import kernel_of
from tileas_xdsl.dialects.tl.compute import GemmOp
from tileas_xdsl.transforms.tl_to_tiles.kernels import raised, rows_of_run_time
from tileas_xdsl.transforms.tl_to_tiles.raising import NotTilesError


def why_not_by_tiles(function: func.FuncOp) -> str | None:
    """Return why a kernel stays a program over buffers; None where it becomes one over tiles."""
    kernel = kernel_of(function)
    if kernel is None:
        return "it is no kernel of tl"
    if not any(isinstance(op, GemmOp) for op in kernel.walk()):
        return "it has no product of tiles"
    try:
        raised(function, kernel)
    except NotTilesError as error:
        return str(error)
    return None


def promised_rows(function: func.FuncOp) -> Sequence[tuple[int, int]]:
    """Return the arguments that a kernel by tiles takes only with rows of whole 16 bytes.

    Each with the bits of its elements.
    """
    return [
        (number, bits_of(element_of(argument.type)))
        for number, argument in enumerate(function.body.block.args)
        if rows_of_run_time(argument)
    ]
