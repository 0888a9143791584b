"""Layouts that a matrix product requires, reported once."""

from __future__ import annotations

from collections.abc import Mapping

from tileas_xdsl.inference.gemm_layouts import (
    Product,
    accumulator,
    continuity,
    operand,
    product_of,
    shared_layout,
    swizzle_of,
)
from tileas_xdsl.inference.parity.state import BufferLayout, Update
from tileas_xdsl.inference.program import Gemm, Program, Scope
from tileas_xdsl.layout.composed import AnyLayout, ComposedLayout
from tileas_xdsl.layout.swizzle import Swizzle


def visit(program: Program, gemm: Gemm, layouts: Mapping[str, BufferLayout]) -> Update:
    """The layouts of both operands and of the accumulator.

    mma.sync takes shared operands as they are laid out already, wgmma does not.  Raises
    InferenceError where the warps cannot share the product.
    """
    product = product_of(program, gemm)
    answer: dict[str, BufferLayout] = {}
    for name, side, is_transposed in (
        (gemm.a, "a", gemm.transpose_a),
        (gemm.b, "b", gemm.transpose_b),
    ):
        bits = program.buffers[name].bits
        if program.buffers[name].scope is Scope.FRAGMENT:
            answer[name] = operand(product, side, bits, is_transposed, program.threads)
        elif product.is_wgmma or name not in layouts:
            answer[name] = _shared(program, product, name, side, is_transposed)
    answer[gemm.c] = accumulator(product, program.threads)
    kind = "wgmma" if product.is_wgmma else "mma.sync"
    return Update(answer, rule=f"{kind}, {product.warps_m}x{product.warps_n} warps")


def merged(
    first: BufferLayout, second: BufferLayout, shape: tuple[int, ...], bits: int
) -> AnyLayout | None:
    """Of two swizzled layouts of a shared buffer the one of the narrower swizzle."""
    swizzles = [_swizzle(layout) for layout in (first, second)]
    if None in swizzles:
        return None
    narrower = min(swizzle for swizzle in swizzles if swizzle is not None)
    return shared_layout(shape, bits, narrower)


def _swizzle(layout: BufferLayout) -> int | None:
    if isinstance(layout, ComposedLayout) and isinstance(layout.outer, Swizzle):
        return layout.outer.bits
    return None


def _shared(
    program: Program, product: Product, name: str, side: str, is_transposed: bool
) -> AnyLayout:
    buffer = program.buffers[name]
    row = continuity(product, side, is_transposed) if product.is_wgmma else buffer.shape[-1]
    return shared_layout(buffer.shape, buffer.bits, swizzle_of(row, buffer.bits))
