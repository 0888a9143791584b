"""Products element by element, where no instruction multiplies matrices of such elements or shapes.

A thread has some rows of C, whose columns are next to one another in its registers; each element of
A is multiplied with the columns of B that the thread has.  Sums of floats are f32 or f64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from xdsl.dialects import arith, vector
from xdsl.dialects.builtin import VectorType, f32, f64, i32
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.analysis.product_layouts import Tiling
from tileas_xdsl.dialects.nv_tileas.compute import AsyncDotOp, DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Signedness, SignednessAttr
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.emitter import Emitter
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.fragments import (
    element,
    element_type,
    joined,
    length,
    repeated,
    strip,
)
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.product_operands import (
    Operand,
    operands_of,
)
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.register_files import RegisterFile
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.registers import in_registers
from tileas_xdsl.transforms.tileas_to_cute_nvgpu.values import Fragment

Added = Callable[[SSAValue, SSAValue, SSAValue], SSAValue]
"""A times B plus C, of vectors."""


def thread_product(e: Emitter, op: DotOp | AsyncDotOp, tiling: Tiling) -> Fragment:
    """A product by `fma`."""
    start = in_registers(e, op, op.c, tiling.sums)
    (part,) = start.parts
    wide = _wide(start.element)
    sums = _widened(e, part, wide, None)
    operands = operands_of(e, op, tiling)
    signs = op.signedness_a, op.signedness_b
    rows = _rows(e, sums, tiling)
    for k in range(tiling.steps):
        left, right = (
            _widened(e, _slice(e, operand, k), wide, sign)
            for operand, sign in zip(operands, signs, strict=True)
        )
        _add_step(e, rows, left, right, tiling)
    found = joined(e, [row for batch in rows for row in batch])
    if wide != start.element:
        type_ = VectorType(start.element, [length(found)])
        found = e.insert(arith.TruncFOp(found, type_)).result
    return start.of([found])


def _wide(element_: Attribute) -> Attribute:
    """What elements are multiplied and summed as."""
    return element_ if element_ in (f64, i32) else f32


def _widened(
    e: Emitter, part: SSAValue, wide: Attribute, signedness: SignednessAttr | None
) -> SSAValue:
    if element_type(part) == wide:
        return part
    kind: Any = arith.ExtFOp
    if wide == i32:
        is_unsigned = signedness is not None and signedness.data is Signedness.UNSIGNED
        kind = arith.ExtUIOp if is_unsigned else arith.ExtSIOp
    return e.insert(kind(part, VectorType(wide, [length(part)]))).result


def _slice(e: Emitter, operand: Operand, k: int) -> SSAValue:
    return RegisterFile(e, operand.element).joined(operand.slice(k))


def _rows(e: Emitter, sums: SSAValue, tiling: Tiling) -> list[list[SSAValue]]:
    """The registers of C, by batch and row of the thread."""
    per_batch = _heights(tiling)
    count = tiling.batches * per_batch
    width = tiling.sums.fragment.values // count
    return [
        [strip(e, sums, (b * per_batch + row) * width, width) for row in range(per_batch)]
        for b in range(tiling.batches)
    ]


def _heights(tiling: Tiling) -> int:
    """Rows of a batch that a thread has."""
    return tiling.left(1).fragment.values // tiling.batches


def _add_step(
    e: Emitter, rows: Sequence[list[SSAValue]], left: SSAValue, right: SSAValue, tiling: Tiling
) -> None:
    """Add what a step of K gives; registers of A and B are counted by K, batch, then the rest."""
    width = length(rows[0][0])
    for b, batch in enumerate(rows):
        for k in range(tiling.step):
            columns = strip(e, right, (k * len(rows) + b) * width, width)
            for row, sums in enumerate(batch):
                factor = element(e, left, (k * len(rows) + b) * len(batch) + row)
                batch[row] = _added(e, repeated(e, factor, width), columns, sums)


def _added(e: Emitter, a: SSAValue, b: SSAValue, c: SSAValue) -> SSAValue:
    if element_type(c) != i32:
        return e.insert(vector.FMAOp(a, b, c)).res
    return e.insert(arith.AddiOp(e.insert(arith.MuliOp(a, b)).result, c)).result
