"""Matrix products by FMA, for element types or shapes that no MMA instruction supports.

A thread owns some rows of C, whose columns are adjacent in its registers; each element of A is
multiplied by the columns of B that the thread has.  Float accumulators are f32 or f64.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import VectorType, f32, f64, i32
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.analysis.layouts.dot_layouts import Tiling
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Signedness, SignednessAttr
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.lowered_values import RegisterTile
from tileas_xdsl.threads.convert.element_conversion import map_elements
from tileas_xdsl.threads.dot.operands.in_registers import (
    Operand,
    operands_of,
)
from tileas_xdsl.threads.registers.register_array import RegisterFile
from tileas_xdsl.threads.registers.register_tile import in_registers
from tileas_xdsl.threads.registers.vector_values import (
    element,
    element_type,
    joined,
    length,
    one_vector,
    strip,
    tile_of_vector,
)


def thread_product(e: ThreadBuilder, op: DotOp | AsyncDotOp, tiling: Tiling) -> RegisterTile:
    """Lower a product to FMA on the registers of each thread."""
    start = in_registers(e, op, op.c, tiling.accumulator)
    wide = _wide(start.element)
    accumulator = _widened(e, one_vector(e, start), wide, None)
    operands = operands_of(e, op, tiling)
    signs = op.signedness_a, op.signedness_b
    for k in range(tiling.steps):
        left, right = (
            _widened(e, _slice(e, operand, k), wide, sign)
            for operand, sign in zip(operands, signs, strict=True)
        )
        for multiplicands in _spread(e, left, right, tiling):
            accumulator = _added(e, *multiplicands, accumulator)
    if wide != start.element:
        type_ = VectorType(start.element, [length(accumulator)])
        accumulator = e.insert(arith.TruncFOp(accumulator, type_)).result
    return tile_of_vector(e, start.layout, start.element, accumulator)


def _wide(element_: Attribute) -> Attribute:
    """Return the type in which elements are multiplied and accumulated."""
    return element_ if element_ in (f64, i32) else f32


def _widened(
    e: ThreadBuilder, part: SSAValue, wide: Attribute, signedness: SignednessAttr | None
) -> SSAValue:
    if element_type(part) == wide:
        return part
    if wide != i32:
        return e.insert(arith.ExtFOp(part, VectorType(wide, [length(part)]))).result
    is_unsigned = signedness is not None and signedness.data is Signedness.UNSIGNED
    return map_elements(e, part, arith.ExtUIOp if is_unsigned else arith.ExtSIOp, wide)


def _slice(e: ThreadBuilder, operand: Operand, k: int) -> SSAValue:
    return RegisterFile(e, operand.element).joined(operand.slice(k))


def _spread(
    e: ThreadBuilder, left: SSAValue, right: SSAValue, tiling: Tiling
) -> Iterator[tuple[SSAValue, SSAValue]]:
    """Yield the A and B operands of every FMA, by element of K, then batch, row and columns.

    Registers of A and B are ordered by K, then batch, then the rest.
    """
    rows, width = length(left) // tiling.step, length(right) // tiling.step
    height, columns = rows // tiling.batches, width // tiling.batches
    for k in range(tiling.step):
        elements = [element(e, left, k * rows + row) for row in range(rows)]
        batches = [
            strip(e, right, k * width + batch * columns, columns) for batch in range(tiling.batches)
        ]
        yield (
            joined(e, [one for one in elements for _ in range(columns)]),
            joined(e, [batch for batch in batches for _ in range(height)]),
        )


def _added(e: ThreadBuilder, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
    if element_type(c) != i32:
        return e.insert(vector.FMAOp(a, b, c)).res
    return e.insert(arith.AddiOp(e.insert(arith.MuliOp(a, b)).result, c)).result
