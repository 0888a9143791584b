"""Layouts that matrix products prescribe: MMA fragments, swizzled shared operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.gemm_layouts import (
    accumulator,
    continuity,
    operand,
    product_of_some_warps,
    shared_layout,
    swizzle_of,
)
from tileas_xdsl.inference.improved.accesses.storage_views import Views
from tileas_xdsl.inference.program import Gemm, Program, Scope
from tileas_xdsl.layout.composed import AnyLayout


def required_fragments(program: Program, gemm: Gemm, views: Views) -> Mapping[str, FragmentMap]:
    """The layouts of the operands that are fragments, by the buffers that stand for them."""
    product = product_of_some_warps(program, gemm)
    wanted = {gemm.c: accumulator(product, program.threads)}
    for side, name, is_transposed in _operands(gemm):
        buffer = program.buffers[name]
        if buffer.scope is Scope.FRAGMENT:
            wanted[name] = operand(product, side, buffer.bits, is_transposed, program.threads)
    return {views.first[name]: views.onto_storage(name, to) for name, to in wanted.items()}


def shared_operands(program: Program, gemms: Sequence[Gemm]) -> dict[str, AnyLayout]:
    """The layouts of shared operands: the widest swizzle that suits every product."""
    bits_of: dict[str, int] = {}
    described = set[str]()
    for gemm in gemms:
        product = product_of_some_warps(program, gemm)
        for side, name, is_transposed in _operands(gemm):
            buffer = program.buffers[name]
            if buffer.scope is not Scope.SHARED:
                continue
            row = buffer.shape[-1]
            if product.is_wgmma:
                row = continuity(product, side, is_transposed)
                described.add(name)
            swizzle = swizzle_of(row, buffer.bits)
            bits_of[name] = min(bits_of.get(name, swizzle), swizzle)
    return {
        name: shared_layout(
            program.buffers[name].shape,
            program.buffers[name].bits,
            swizzle,
            is_interleaved=name in described,
        )
        for name, swizzle in bits_of.items()
    }


def _operands(gemm: Gemm) -> tuple[tuple[str, str, bool], ...]:
    return ("a", gemm.a, gemm.transpose_a), ("b", gemm.b, gemm.transpose_b)
