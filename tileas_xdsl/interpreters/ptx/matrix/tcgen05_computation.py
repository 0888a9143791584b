"""What `tcgen05.mma` computes: D of one or two CTAs, from operands as they are at completion.

Source: PTX ISA 9.7.16.10.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.matmul import matmul
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.execution.state import Cta
from tileas_xdsl.interpreters.ptx.matrix.block_scales import Scales, scaled
from tileas_xdsl.interpreters.ptx.matrix.smem_operands import (
    PACKINGS,
    Descriptor,
    OperandShape,
    operand,
    values_of,
    view_of,
)
from tileas_xdsl.interpreters.ptx.matrix.sparse_operands import TensorMetadata, spread_along_k
from tileas_xdsl.interpreters.ptx.matrix.tmem_access import (
    WEIGHT_STATIONARY,
    Group,
    accumulator_cells,
    split,
)
from tileas_xdsl.interpreters.ptx.matrix.wgmma_computation import rounded_sum
from tileas_xdsl.interpreters.ptx.memory.shared_memory import TENSOR_COLUMNS
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import UNSIGNED
from tileas_xdsl.target.mma.instruction_descriptor import (
    BlockScaledDescriptor,
    InstructionDescriptor,
)
from tileas_xdsl.target.mma.zero_columns import ZeroColumns


@dataclass(frozen=True, slots=True)
class Product:
    """One MMA with the operand values at issue."""

    ctas: list[Cta]
    shape: InstructionDescriptor | BlockScaledDescriptor
    cells: int
    """The first tensor-memory cell of D."""
    a: Descriptor | int
    b: Descriptor
    a_shape: OperandShape
    b_shape: OperandShape
    keeps: bool
    disabled: tuple[int, ...]
    scale: int
    scales: tuple[Scales, ...]
    """The scale factors of A and B; empty unless block-scaled."""
    layout: Group
    metadata: TensorMetadata | None
    zeros: ZeroColumns
    """Which columns of B are zeros, and the first one that is read."""

    @property
    def d(self) -> str:
        """The type of D."""
        return self.shape.d if isinstance(self.shape, InstructionDescriptor) else "f32"

    @property
    def read_cells(self) -> list[Array]:
        """Return the cells of tensor memory with the scale factors and the metadata of a CTA."""
        found = [scales.cells for scales in self.scales]
        return found if self.metadata is None else [*found, self.metadata.cells]

    @property
    def saturates(self) -> bool:
        """Whether results saturate to the range of D."""
        return isinstance(self.shape, InstructionDescriptor) and self.shape.saturate


def left_cells(taddr: int) -> Array:
    """Return the cells of A in tensor memory: one row per lane, 32 bytes in 8 columns."""
    lane, column = split(taddr)
    if lane:
        raise Fault("tensor-memory", f"A in tensor memory begins at lane {lane}, not 0")
    return np.arange(128)[:, None] * TENSOR_COLUMNS + column + np.arange(8)


def _left(cta: Cta, p: Product) -> Array:
    if isinstance(p.a, Descriptor):
        return operand(cta, view_of(p.a, p.a_shape))
    if p.a_shape.rows != 128:
        raise Fault("unsupported", "A in tensor memory of fewer than 128 rows is not modelled")
    if p.a_shape.element in PACKINGS:
        raise Fault("unsupported", "A of 4 or 6 bits in tensor memory is not modelled")
    words = cta.tensor.cells.reshape(-1)[left_cells(p.a)]
    bits = {"f16": 16, "bf16": 16, "tf32": 32}.get(p.a_shape.element, 8)
    return values_of(np.ascontiguousarray(words).view(UNSIGNED[bits]), p.a_shape.element)


def _right(cta: Cta, p: Product, group: int) -> Array:
    """Return B (N, K) of one CTA, shifted and with its zero columns."""
    found = operand(cta, view_of(p.b, p.b_shape))
    if p.layout != WEIGHT_STATIONARY:
        return found
    first = p.zeros.shift
    mask = p.zeros.mask(p.shape.m, p.shape.n)
    return np.where(mask[:, None], 0, found[first : first + p.shape.n // group])


def compute(p: Product, group: int) -> None:
    """Compute a product of `tcgen05.mma` by the CTAs of a group, into their tensor memory."""
    shape = p.shape
    right = np.concatenate([_right(cta, p, group) for cta in p.ctas])
    cells = _cells_of_result(p, group)
    for number, cta in enumerate(p.ctas):
        a, b = _left(cta, p), right
        if p.metadata is not None:
            a = spread_along_k(a, p.metadata.columns(cta))
        if p.scales:
            a, b = (scaled(m, scales.read(cta)) for m, scales in zip((a, b), p.scales, strict=True))
        total = matmul(a, b.T)
        if shape.negate_a != shape.negate_b:
            total = -total
        memory, locations = _view(cta, cells)
        if p.keeps:
            before = _values(memory[locations], p.d)
            total += before * 2.0**-p.scale if p.scale else before
        words = _words(rounded_sum(total, p.d, p.saturates), p.d)
        if any(p.disabled):
            every = accumulator_cells(shape.m, shape.n, p.layout) + p.cells
            words = np.where(_disabled(p.disabled, number, every), memory[locations], words)
        memory[locations] = words


def _cells_of_result(p: Product, ctas: int) -> Array | tuple[slice, slice]:
    """Return the cells of D; lane and column slices if each row is one lane."""
    m, n = p.shape.m, p.shape.n
    if m == 128 * ctas:
        lane, column = divmod(p.cells, TENSOR_COLUMNS)
        return slice(lane, lane + 128), slice(column, column + n)
    return accumulator_cells(m, n, p.layout) + p.cells


def _view(cta: Cta, cells: Array | tuple[slice, slice]) -> tuple[Array, Any]:
    """Return the array that `cells` index, and the index."""
    memory = cta.tensor.cells
    return (memory, cells) if isinstance(cells, tuple) else (memory.reshape(-1), cells)


def _disabled(masks: tuple[int, ...], number: int, cells: Array) -> Array:
    """Return the mask of cells in disabled lanes, which keep their values."""
    mine = masks[4 * number : 4 * number + 4]
    lanes = np.array([mine[lane // 32] >> lane % 32 & 1 for lane in range(128)], np.bool_)
    return lanes[cells // TENSOR_COLUMNS]


def _values(words: Array, d: str) -> Array:
    if d == "f16":
        return (words & 0xFFFF).astype(np.uint16).view(np.float16).astype(np.float32)
    if d == "s32":
        return words.view(np.int32).astype(np.float64)
    return words.view(np.float32)


def _words(values: Array, d: str) -> Array:
    if d == "f16":
        return values.astype(np.float16).view(np.uint16).astype(np.uint32)
    if d == "s32":
        return (values.astype(np.int64) & 0xFFFF_FFFF).astype(np.uint32)
    return np.ascontiguousarray(values, np.float32).view(np.uint32)
