"""Block-scaled `tcgen05.mma`: the issuing thread first copies scale factors to tensor memory.

`tcgen05.cp` and `tcgen05.mma` of one thread are executed in order (PTX ISA, pipelined tcgen05
instructions), so that nothing waits between copies and products, nor before the copies of the next
product, which go to the same columns (CUTLASS, sm100 block-scaled collectives do so).
"""

from __future__ import annotations

from collections.abc import Sequence

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import UmmaBlockScaledOp
from tileas_xdsl.dialects.nv_tileas.compute.block_scaled import BlockScaledConfiguration
from tileas_xdsl.dialects.nv_tileas.compute.dot import BlockScaledMmaOp
from tileas_xdsl.dialects.nv_tileas.element_names import element_name
from tileas_xdsl.dialects.nv_tileas.shapes.transposed import is_transposed
from tileas_xdsl.target.mma.block_scales import ATOM_SCALES, SCALE_FORMATS
from tileas_xdsl.target.mma.canonical import INSTRUCTION_K_BITS
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.integer_ops import i1_constant
from tileas_xdsl.threads.codegen.lowered_values import Lowered, SharedTile
from tileas_xdsl.threads.codegen.structured_control_flow import predicated
from tileas_xdsl.threads.codegen.thread_ids import is_mma_issuer
from tileas_xdsl.threads.dot.dot_tcgen05 import (
    accumulator_of_product,
)
from tileas_xdsl.threads.dot.operands.smem_descriptors import step_descriptor, tcgen05_descriptor
from tileas_xdsl.threads.smem.shared_tile import shared_tile
from tileas_xdsl.threads.tmem.accumulator_barriers import await_product
from tileas_xdsl.threads.tmem.tmem_copy import address
from tileas_xdsl.threads.tmem.tmem_scales import (
    column_address,
    copy_scales,
    place_scales,
)


def block_scaled_mma(e: ThreadBuilder, op: BlockScaledMmaOp) -> Sequence[Lowered]:
    """Lower a block-scaled MMA: copies of the scales, then one MMA for each 32 bytes of K."""
    configuration = op.configuration
    a, b = shared_tile(e, op.a), shared_tile(e, op.b)
    accumulator = accumulator_of_product(e, op)
    _check(e, op, configuration, a, b)
    target, depth = e.plan.target, a.layout.columns
    left = a.layout.canonical(op, a.height, depth, target, major="k")
    right = b.layout.canonical(op, b.height, depth, target, major="k")
    first, other = tcgen05_descriptor(e, a, left), tcgen05_descriptor(e, b, right)
    of_a, of_b = scales = place_scales(e, op)
    destination, (rows, columns) = address(e, accumulator), accumulator.shape
    count = configuration.atom_k // configuration.vector_size
    with predicated(e, is_mma_issuer(e)):
        for one in scales:
            copy_scales(e, one)
        for k in range(a.layout.columns * a.layout.bits // INSTRUCTION_K_BITS):
            k_atom, byte = divmod(k * count, ATOM_SCALES)
            product = UmmaBlockScaledOp(
                destination,
                step_descriptor(e, first, left, k),
                step_descriptor(e, other, right, k),
                column_address(e, of_a.column_of(k_atom)),
                column_address(e, of_b.column_of(k_atom)),
                i1_constant(e, True) if k else accumulator.full,
                shape=(rows, columns, configuration.atom_k),
                kind=configuration.kind,
                scale_vec=configuration.scale_vector,
                a_type=a.element,
                b_type=b.element,
                sf_type=SCALE_FORMATS[element_name(of_a.source.element)],
                a_scale_id=byte,
                b_scale_id=byte,
            )
            e.insert(product)
    await_product(e, op)
    return [accumulator.of([i1_constant(e, True)])]


def _check(
    e: ThreadBuilder,
    op: BlockScaledMmaOp,
    configuration: BlockScaledConfiguration,
    a: SharedTile,
    b: SharedTile,
) -> None:
    """What instructions of one block have: K-major operands that are not padded."""
    if e.plan.is_of_pair:
        raise op_error(op, "scales products of one block; those of two are not lowered yet")
    if is_transposed(op.a.type) or not is_transposed(op.b.type):
        raise op_error(op, message("cute_nvgpu.sm100_mma_bs.majors"))
    bits = INSTRUCTION_K_BITS // configuration.atom_k
    if (a.layout.bits, b.layout.bits) != (bits, bits):
        raise op_error(
            op,
            f"kind {configuration.kind} multiplies elements of {bits} bits; narrower ones lie "
            "padded in shared memory, which is not lowered yet",
        )
