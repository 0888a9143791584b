"""Lower `tl.gemm` to `mma.sync`: 16x8 accumulator tiles per warp.

Source: PTX ISA 9.7.14, fragments of mma.m16n8k16 and its like.
"""

from __future__ import annotations

from xdsl.dialects.builtin import f32
from xdsl.ir import SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu.mma.mma_sync import FP8
from tileas_xdsl.dialects.tl.base import element_of
from tileas_xdsl.dialects.tl.compute import GemmOp
from tileas_xdsl.inference.gemm_layouts import COLUMNS_OF_WARP, ROWS_OF_WARP, Product
from tileas_xdsl.threads.dot.mma_accumulate import mma_sync
from tileas_xdsl.threads.registers.vector_values import joined, strip, zero
from tileas_xdsl.transforms.lower_tl.buffer_locations import FragmentLocation
from tileas_xdsl.transforms.lower_tl.dot.mma_sync_operands import (
    Elements,
    MmaOperand,
    multiplied_as,
)
from tileas_xdsl.transforms.lower_tl.lowering_state import State

ACCUMULATORS = 4
"""Elements of C that a thread has of an instruction."""

NAMES = ("f16", "bf16", "tf32", "e4m3", "e5m2", "s8")
"""What these products take."""


def multiply_by_warps(state: State, op: GemmOp, product: Product, sums: FragmentLocation) -> None:
    """C += A B by the instructions of warps."""
    left, right = (MmaOperand(state, op, product, side) for side in ("a", "b"))
    names = tuple(multiplied_as(factor.element) for factor in (left, right))
    _check(op, product, left, names)
    columns = product.columns_of_warp // COLUMNS_OF_WARP
    accumulators = {
        (0, *divmod(position, columns)): part
        for position, part in enumerate(_begin(state, op, sums))
    }
    shape = (ROWS_OF_WARP, COLUMNS_OF_WARP, left.depth)
    for k in range(product.k // left.depth):
        a = _operands(left, left.of_step(k), left.depth // 2)
        b = _operands(right, right.of_step(k), right.depth // 4)
        for (batch, i, j), c in accumulators.items():
            factors = a[batch, i], b[batch, j]
            found = mma_sync(state.e, *factors, c, shape, (names[0], names[1]))
            accumulators[batch, i, j] = found
    state.registers[sums.storage] = joined(state.e, list(accumulators.values()))


def _check(op: GemmOp, product: Product, left: MmaOperand, names: tuple[str, ...]) -> None:
    for name in names:
        if name not in NAMES:
            raise op_error(op, f"multiplies {', '.join(NAMES)} by mma.sync, not {name}")
    if product.k % left.depth:
        raise op_error(
            op, f"multiplies {left.depth} of K at once, and {product.k} is no multiple of that"
        )
    if names[0] in FP8 and (sums := element_of(op.c.type)) != f32:
        raise op_error(op, f"sums products of {names[0]} in f32 by mma.sync, not in {sums}")


def _begin(state: State, op: GemmOp, sums: FragmentLocation) -> list[SSAValue]:
    """The elements of C by instruction, from nothing or from what C holds."""
    e = state.e
    if op.clear is not None:
        empty = joined(e, [zero(e, sums.element)] * ACCUMULATORS)
        return [empty] * (sums.registers // ACCUMULATORS)
    part = state.registers[sums.storage]
    return [strip(e, part, first, ACCUMULATORS) for first in range(0, sums.registers, ACCUMULATORS)]


def _operands(
    factor: MmaOperand, elements: Elements, count: int
) -> dict[tuple[int, int], SSAValue]:
    """Return the operand of each row or column of instructions, `count` elements of a step."""
    firsts = range(0, len(elements), count)
    return {(0, n): factor.joined(elements[k : k + count]) for n, k in enumerate(firsts)}
