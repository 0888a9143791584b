"""Which `tl` kernels are compiled by way of tiles: products, for agents, TMA, tensor memory."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.dialects import func
from xdsl.dialects.builtin import DYNAMIC_INDEX
from xdsl.ir import SSAValue

from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.dialects.nv_tileaa.base import as_array
from tileas_xdsl.dialects.nv_tileaa.memory.views import strides_of
from tileas_xdsl.dialects.tl.base import element_of, scope_of
from tileas_xdsl.dialects.tl.buffers import storage_of
from tileas_xdsl.dialects.tl.checks import kernel_of
from tileas_xdsl.dialects.tl.compute import GemmOp
from tileas_xdsl.dialects.tl.kernel import KernelOp
from tileas_xdsl.dialects.tl.moves import CopyOp
from tileas_xdsl.inference.program import Scope
from tileas_xdsl.transforms.tl_to_tiles.kernels import ALIGNMENT, raised, rows_of_run_time
from tileas_xdsl.transforms.tl_to_tiles.raising import NotTilesError


def why_not_by_tiles(function: func.FuncOp) -> str | None:
    """Return why a kernel stays a program over buffers; None where it becomes one over tiles."""
    kernel = kernel_of(function)
    if kernel is None:
        return "it is no kernel of tl"
    operands = list(_arrays_of_operands(kernel))
    if not operands:
        return "it has no product of tiles that it loads"
    for array in operands:
        if not _is_regular(array):
            return f"rows of {array.type} are no multiples of {ALIGNMENT} bytes apart"
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


def _arrays_of_operands(kernel: KernelOp) -> Iterator[SSAValue]:
    """The arrays that operands of products are copied from."""
    operands = {
        storage_of(value)
        for op in kernel.walk()
        if isinstance(op, GemmOp)
        for value in (op.a, op.b)
    }
    copies = [op for op in kernel.walk() if isinstance(op, CopyOp)]
    for copy in copies:
        if scope_of(copy.source.type) is Scope.GLOBAL and storage_of(copy.target) in operands:
            yield copy.source


def _is_regular(array: SSAValue) -> bool:
    """Whether rows may be apart as TMA needs it: by what the type says, or as a launch tells."""
    *outer, inner = strides_of(as_array(array))
    bits = bits_of(element_of(array.type))
    return inner == 1 and all(
        stride == DYNAMIC_INDEX or stride * bits % (8 * ALIGNMENT) == 0 for stride in outer
    )
