"""`tcgen05.mma` (sm_100a), dense and block-scaled.  Source: PTX ISA 9.7.16.10."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tileas_xdsl.interpreters.matmul import matmul
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import AsyncEvent
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import WARP, Array, lane_list
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup, Cta
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step, lane_value
from tileas_xdsl.interpreters.ptx.instructions.dot.tcgen05 import BLACKWELL, group_of
from tileas_xdsl.interpreters.ptx.instructions.dot.wgmma import check_operand
from tileas_xdsl.interpreters.ptx.matrix.block_scales import Scales, scaled, vector_of
from tileas_xdsl.interpreters.ptx.matrix.smem_operands import (
    PACKINGS,
    Descriptor,
    OperandShape,
    operand,
    read_descriptor,
    values_of,
    view_of,
)
from tileas_xdsl.interpreters.ptx.matrix.tmem_access import (
    WEIGHT_STATIONARY,
    Group,
    accumulator_cells,
    accumulator_columns,
    accumulator_shadow_locations,
    check_cells,
    shadow_locations_of,
    split,
)
from tileas_xdsl.interpreters.ptx.matrix.wgmma_computation import rounded_sum
from tileas_xdsl.interpreters.ptx.memory.shared_memory import (
    TENSOR_COLUMNS,
)
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES, UNSIGNED
from tileas_xdsl.interpreters.ptx.parsing.syntax import Address, Vector
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.mma.block_scales import SCALE_VECTORS, scale_vector
from tileas_xdsl.target.mma.instruction_descriptor import (
    BlockScaledDescriptor,
    InstructionDescriptor,
    decode,
)
from tileas_xdsl.target.mma.mma_kinds import KINDS as MMA_KINDS

KINDS = tuple(f"kind::{name}" for name in MMA_KINDS)

ELEMENTS: Mapping[str, str] = {
    "f8e4m3": "e4m3", "f8e5m2": "e5m2",
    "f6e2m3": "e2m3_p32", "f6e3m2": "e3m2_p32", "f4e2m1": "e2m1_p64",
}  # fmt: skip
"""Shared-memory element formats that differ from the type's name: MMA kinds that also take bytes
pad sub-byte elements.
"""

PACKED_KINDS = ("mxf4", "mxf4nvf4")
"""MMA kinds whose operands pack two elements per byte."""

B32, B64 = TYPES["b32"], TYPES["b64"]


@dataclass(frozen=True, slots=True)
class Operands:
    """Register slots of the operands of one MMA."""

    d: tuple[int, int]
    a: tuple[int, int] | int
    b: int
    instruction: int
    disabled: tuple[int, ...]
    keeps: tuple[int, bool]
    scale: int
    vector: str
    """The `.scale_vec` qualifier, the block size of the scale factors."""
    scales: tuple[tuple[int, int], ...]
    """Slots and offsets of the addresses of the scale factors of A and B."""
    layout: Group
    """How D is laid out: by the CTAs that multiply together, or weight-stationary."""
    zeros: int | None = None
    """The mask of columns of B that are taken as zeros, of `.ws`."""


def build_mma(site: Site) -> Step:
    """`tcgen05.mma` and `.ws`: one thread issues D (M, N) += A (M, K) B (K, N).

    What `.ws` keeps in a collector buffer, and for how long, changes no result.
    """
    if site.flag("sp"):
        site.fail(".sp is not supported")
    stationary = site.flag("ws")
    group = group_of(site)
    kind = site.choose(KINDS).removeprefix("kind::")
    vector = vector_of(site)
    if (vector is not None) != (kind in SCALE_VECTORS):
        site.fail(f"kind::{kind} {'needs' if vector is None else 'has no'} .block_scale")
    site.modifiers = [m for m in site.modifiers if not m.startswith("collector")]
    site.no_more()
    site.count(*((5, 7) if vector is None else (7,)))
    operands = _operands(site, group, vector, WEIGHT_STATIONARY if stationary else _group(group))

    def step(f: ConvergenceGroup) -> None:
        cluster = f.warpgroup.cta.cluster
        if cluster.checker is not None and f.mask & (f.mask - 1):
            cluster.checker.findings.add(
                "issue", f.pc, f"{f.mask.bit_count()} threads issue tcgen05.mma; one should"
            )
        for lane in lane_list(f.mask):
            _issue(f, lane, operands, kind, group)

    return step


def _group(ctas: int) -> Group:
    return "2" if ctas == 2 else "1"


def _operands(site: Site, group: int, vector: str | None, layout: Group) -> Operands:
    d = site.address(0)
    a = site.operands[1]
    left = site.address(a) if isinstance(a, Address) else site.source(a, B64)
    b, instruction = site.source(2, B64), site.source(3, B32)
    rest = list(site.operands[4:])
    disabled: tuple[int, ...] = ()
    scales: tuple[tuple[int, int], ...] = ()
    if vector is not None:
        scales = (site.address(4), site.address(5))
        rest = rest[2:]
    elif isinstance(rest[0], Vector):
        parts = site.vector(rest.pop(0), (4 * group,))
        disabled = tuple(site.source(p, B32) for p in parts)
    keeps = site.predicate(rest[0])
    scale, zeros = 0, None
    if len(rest) > 1 and layout == WEIGHT_STATIONARY:
        zeros = site.source(rest[1], B64)
    elif len(rest) > 1:
        scale = site.immediate(rest[1])
    return Operands(
        d, left, b, instruction, disabled, keeps, scale, vector or "", scales, layout, zeros
    )


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

    @property
    def d(self) -> str:
        """The type of D."""
        return self.shape.d if isinstance(self.shape, InstructionDescriptor) else "f32"

    @property
    def saturates(self) -> bool:
        """Whether results saturate to the range of D."""
        return isinstance(self.shape, InstructionDescriptor) and self.shape.saturate


def _issue(f: ConvergenceGroup, lane: int, operands: Operands, kind: str, group: int) -> None:
    product = _product(f, lane, operands, kind, group)
    cluster, agent, pc = f.warpgroup.cta.cluster, f.warpgroup.agent(lane), f.pc
    state = f.warpgroup.warp_states[lane // WARP]
    started: AsyncEvent | None = None
    m, n = product.shape.m, product.shape.n
    if cluster.accesses is not None:
        cluster.accesses.product_cells[pc] += m * n
    for cta in product.ctas:
        columns = accumulator_columns(m, n, product.layout, product.cells)
        check_cells(f, cta, columns, "tcgen05.mma")
        for scales in product.scales:
            check_cells(f, cta, scales.cells, "tcgen05.mma")
    if cluster.checker is not None:
        started = cluster.checker.clocks.start_tensor(agent, pc)
        _check(f, product, started, agent, group)
        state.tensor_issued = [started]
    cluster.queue.add(lambda: _compute(product, group), pc, lane=("tensor", agent))


def _product(f: ConvergenceGroup, lane: int, operands: Operands, kind: str, group: int) -> Product:
    cta, cluster = f.warpgroup.cta, f.warpgroup.cta.cluster
    if group == 2 and len(cluster.ctas) < 2:
        raise Fault("invalid", "cta_group::2 needs a cluster of at least two CTAs")
    if group == 2 and cta.rank & 1:
        raise Fault("invalid", f"{cta.name} has an odd rank: only the even CTA of a pair issues")
    ctas = cluster.ctas[cta.rank : cta.rank + group]
    shape = _instruction(lane_value(f, operands.instruction, lane), kind, operands.layout)
    if operands.zeros is not None and lane_value(f, operands.zeros, lane):
        raise Fault("unsupported", "masks of columns that are zeros are not modelled")
    d_lane, column = split(lane_value(f, operands.d[0], lane) + operands.d[1])
    if isinstance(operands.a, tuple):
        left: Descriptor | int = lane_value(f, operands.a[0], lane) + operands.a[1]
    else:
        left = read_descriptor(lane_value(f, operands.a, lane), BLACKWELL, "descriptor of A")
    right = read_descriptor(lane_value(f, operands.b, lane), BLACKWELL, "descriptor of B")
    keeps, inverted = operands.keeps
    a_element, b_element = (_element(kind, e) for e in (shape.a, shape.b))
    return Product(
        ctas,
        shape,
        d_lane * TENSOR_COLUMNS + column,
        left,
        right,
        OperandShape(shape.m // group, a_element, shape.a_major),
        OperandShape(shape.n // group, b_element, shape.b_major),
        bool(lane_value(f, keeps, lane)) != inverted,
        tuple(lane_value(f, slot, lane) for slot in operands.disabled),
        operands.scale,
        _scales(f, lane, operands, shape, group),
        operands.layout,
    )


def _element(kind: str, name: str) -> str:
    return "e2m1" if kind in PACKED_KINDS else ELEMENTS.get(name, name)


def _scales(
    f: ConvergenceGroup,
    lane: int,
    operands: Operands,
    shape: InstructionDescriptor | BlockScaledDescriptor,
    group: int,
) -> tuple[Scales, ...]:
    """Return the scale factors: each CTA has those of its rows of A and of all columns of B."""
    if isinstance(shape, InstructionDescriptor):
        return ()
    ids = (shape.a_scale_id, shape.b_scale_id)
    try:
        vector = scale_vector(shape.kind, operands.vector, shape.scale, *ids)
    except TargetError as error:
        raise Fault("descriptor", str(error)) from None
    rows = (shape.m // group, shape.n)
    return tuple(
        Scales(name, lane_value(f, slot, lane) + offset, count, vector.count, byte, shape.scale)
        for name, (slot, offset), count, byte in zip("AB", operands.scales, rows, ids, strict=True)
    )


def _instruction(
    word: int, kind: str, group: Group
) -> InstructionDescriptor | BlockScaledDescriptor:
    try:
        found = decode(word, kind, group)
    except TargetError as error:
        raise Fault("descriptor", f"instruction descriptor {word:#x}: {error}") from None
    if found.sparse:
        raise Fault("unsupported", "sparse products are not modelled")
    if isinstance(found, InstructionDescriptor) and found.max_shift:
        raise Fault("unsupported", "shifts of B are not modelled")
    return found


def _check(f: ConvergenceGroup, p: Product, started: AsyncEvent, agent: int, group: int) -> None:
    checker = f.warpgroup.cta.cluster.checker
    assert checker is not None
    for cta in p.ctas:
        warpgroup = cta.warpgroups[0]
        if isinstance(p.a, Descriptor):
            check_operand(warpgroup, view_of(p.a, p.a_shape), started, f.pc, "A")
        else:
            cells = _tensor_operand_cells(p.a)
            checker.tensor_operation(
                cta, shadow_locations_of(cells), started, agent, f.pc, write=False
            )
        check_operand(warpgroup, view_of(p.b, p.b_shape), started, f.pc, "B")
        for scales in p.scales:
            locations = shadow_locations_of(scales.cells)
            checker.tensor_operation(cta, locations, started, agent, f.pc, write=False)
        locations = accumulator_shadow_locations(p.shape.m, p.shape.n, p.layout, p.cells)
        if p.keeps:
            checker.tensor_operation(cta, locations, started, agent, f.pc, write=False)
        checker.tensor_operation(cta, locations, started, agent, f.pc, write=True)


def _tensor_operand_cells(taddr: int) -> Array:
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
    words = cta.tensor.cells.reshape(-1)[_tensor_operand_cells(p.a)]
    bits = {"f16": 16, "bf16": 16, "tf32": 32}.get(p.a_shape.element, 8)
    return values_of(np.ascontiguousarray(words).view(UNSIGNED[bits]), p.a_shape.element)


def _compute(p: Product, group: int) -> None:
    shape = p.shape
    right = np.concatenate([operand(cta, view_of(p.b, p.b_shape)) for cta in p.ctas])
    cells = _cells_of_result(p, group)
    for number, cta in enumerate(p.ctas):
        a, b = _left(cta, p), right
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


TABLE = (Semantics("tcgen05.mma", build_mma),)
