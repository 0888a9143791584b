"""The arithmetic of `wgmma.mma_async`: A and B from shared memory or registers, D in its type.

Source: PTX ISA 9.7.15.5.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.matmul import matmul
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array, Value, spread
from tileas_xdsl.interpreters.ptx.execution.state import Cta
from tileas_xdsl.interpreters.ptx.matrix.smem_operands import (
    ELEMENT_BITS,
    OperandShape,
    OperandView,
    joined_along_k,
    operand,
    values_of,
)
from tileas_xdsl.interpreters.ptx.matrix.sparse_operands import spread_along_k
from tileas_xdsl.interpreters.ptx.matrix.wgmma_accumulators import (
    ROWS,
    THREADS,
    Accumulator,
    Computation,
)
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import UNSIGNED


@dataclass(frozen=True, slots=True)
class Product:
    """The shape and types of D (64, n) += A (64, k) B (k, n)."""

    n: int
    d: str
    a: OperandShape
    b: OperandShape
    negate: tuple[bool, bool]
    saturate: bool

    @property
    def sign(self) -> int:
        """-1 for a negated product."""
        return -1 if self.negate[0] != self.negate[1] else 1

    @property
    def can_join(self) -> bool:
        """Whether sums of several products are only rounded in f32, as those of one are."""
        return self.d == "f32"


@dataclass(slots=True, eq=False)
class WgmmaComputation:
    """D = A B, plus D if it `keeps` what is there; A is in shared memory, or (64, k) numbers.

    A sparse A has half of its elements, in the `columns` (64, k / 2).
    """

    cta: Cta
    product: Product
    a: OperandView | Array
    b: OperandView
    keeps: bool
    columns: Array | None = None

    def continues(self, before: Computation) -> bool:
        """Return whether this adds a product of the same shape to the result of another."""
        return (
            self.keeps
            and isinstance(before, WgmmaComputation)
            and (before.product is self.product or before.product == self.product)
            and self.product.can_join
        )

    def run(self, accumulator: Accumulator, more: Sequence[Computation]) -> None:
        """Compute this and `more` that continue it, as one product of a longer K.

        wgmma d, a0, b0; wgmma d, a1, b1      d += [a0 a1] [b0 b1]^T
        """
        chain = [self, *(one for one in more if isinstance(one, WgmmaComputation))]
        b = operand(self.cta, joined_along_k(tuple(one.b for one in chain)))
        found = matmul(_left(chain), b.T)
        if self.product.sign < 0:
            found = -found
        if self.keeps:
            found += accumulator.matrix
        accumulator.matrix = rounded_sum(found, self.product.d, self.product.saturate)


def _left(chain: Sequence[WgmmaComputation]) -> Array:
    """Return A of all products of a chain side by side."""
    views = [one.a for one in chain if isinstance(one.a, OperandView) and one.columns is None]
    if len(views) == len(chain):
        return operand(chain[0].cta, joined_along_k(tuple(views)))
    parts = [_left_of_one(one) for one in chain]
    return np.concatenate(parts, axis=1) if len(parts) > 1 else parts[0]


def _left_of_one(one: WgmmaComputation) -> Array:
    a = operand(one.cta, one.a) if isinstance(one.a, OperandView) else one.a
    return a if one.columns is None else spread_along_k(a, one.columns)


def rounded_sum(values: Array, kind: str, saturate: bool) -> Array:
    """Round an exact sum to the type of D."""
    if kind == "f16":
        return values.astype(np.float16).astype(np.float32)
    if kind == "s32":
        if saturate:
            return np.clip(values, -(2.0**31), 2.0**31 - 1)
        whole = values.astype(np.int64) & 0xFFFF_FFFF
        return whole.astype(np.uint32).view(np.int32).astype(np.float64)
    return values


def register_operand(values: list[Value], element: str) -> Array:
    """Decode A from registers to (64, k) numbers.  Source: PTX ISA 9.7.15.5.1."""
    words = np.stack([spread(v, THREADS, np.dtype(np.uint32)) for v in values])
    bits = ELEMENT_BITS[element]
    per = 32 // bits
    parts = np.ascontiguousarray(words[:, :, None]).view(UNSIGNED[bits]).reshape(4, THREADS, per)
    register = np.arange(4)[:, None, None]
    thread = np.arange(THREADS)[None, :, None]
    location = np.arange(per)[None, None, :]
    lane, warp = thread % 32, thread // 32
    row = 16 * warp + lane // 4 + 8 * (register % 2) + 0 * location
    column = per * (lane % 4) + location + 4 * per * (register // 2)
    matrix = np.empty((ROWS, 8 * per), parts.dtype)
    matrix[row, column] = parts
    return values_of(matrix, element)
