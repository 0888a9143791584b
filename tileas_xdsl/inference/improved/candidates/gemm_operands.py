"""Layouts that matrix products prescribe: MMA fragments, swizzled shared operands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from tileas_xdsl.inference.fragment_map import FragmentMap
from tileas_xdsl.inference.gemm_layouts import (
    accumulator,
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
    """The layouts of shared operands: the widest swizzle that their rows take."""
    names = [name for gemm in gemms for _, name, _ in _operands(gemm)]
    buffers = {name: program.buffers[name] for name in names}
    return {
        name: shared_layout(buffer.shape, buffer.bits, swizzle_of(buffer.shape[-1], buffer.bits))
        for name, buffer in buffers.items()
        if buffer.scope is Scope.SHARED
    }


def _operands(gemm: Gemm) -> tuple[tuple[str, str, bool], ...]:
    return ("a", gemm.a, gemm.transpose_a), ("b", gemm.b, gemm.transpose_b)
