"""`tcgen05.mma` (sm_100a): dense, sparse, block-scaled, weight-stationary.

Source: PTX ISA 9.7.16.10.
"""

from __future__ import annotations

from collections.abc import Mapping

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import AsyncEvent
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import lane_list
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup
from tileas_xdsl.interpreters.ptx.instructions.base import Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.dot.tcgen05 import BLACKWELL, group_of, tensor_pipe
from tileas_xdsl.interpreters.ptx.instructions.dot.wgmma import check_operand
from tileas_xdsl.interpreters.ptx.instructions.lane_steps import lane_value
from tileas_xdsl.interpreters.ptx.matrix.block_scales import Scales, vector_of
from tileas_xdsl.interpreters.ptx.matrix.smem_operands import (
    ELEMENT_BITS,
    K_BYTES,
    Descriptor,
    OperandShape,
    read_descriptor,
    view_of,
)
from tileas_xdsl.interpreters.ptx.matrix.sparse_operands import (
    HALF,
    TensorMetadata,
)
from tileas_xdsl.interpreters.ptx.matrix.tcgen05_computation import Product, compute, left_cells
from tileas_xdsl.interpreters.ptx.matrix.tmem_access import (
    SPARSE_PAIR,
    WEIGHT_STATIONARY,
    Group,
    accumulator_columns,
    accumulator_shadow_locations,
    check_cells,
    shadow_locations_of,
    split,
)
from tileas_xdsl.interpreters.ptx.memory.shared_memory import (
    TENSOR_COLUMNS,
)
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES
from tileas_xdsl.interpreters.ptx.parsing.syntax import Address, Vector
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.mma.block_scales import SCALE_VECTORS, scale_vector
from tileas_xdsl.target.mma.canonical import MN_MAJOR_OPERANDS
from tileas_xdsl.target.mma.instruction_descriptor import (
    BlockScaledDescriptor,
    InstructionDescriptor,
    decode,
)
from tileas_xdsl.target.mma.mma_kinds import KINDS as MMA_KINDS
from tileas_xdsl.target.mma.zero_columns import ZeroColumns
from tileas_xdsl.target.mma.zero_columns import decode as decode_zero_columns

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

SCALED_INPUT_KINDS = ("tf32", "f16")
"""MMA kinds that divide the D they add to by a power of two."""

MAX_INPUT_SCALE = 15

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
    metadata: tuple[int, int] | None = None
    """Slot and offset of the address of the metadata of a sparse A."""
    zeros: int | None = None
    """The mask of columns of B that are taken as zeros, of `.ws`."""


def build_mma(site: Site) -> Step:
    """`tcgen05.mma`, `.sp` and `.ws`: one thread issues D (M, N) += A (M, K) B (K, N).

    What is kept in a collector buffer, and for how long, changes no result.
    """
    sparse, stationary = site.flag("sp"), site.flag("ws")
    group = group_of(site)
    kind = site.choose(KINDS).removeprefix("kind::")
    vector = vector_of(site)
    if (vector is not None) != (kind in SCALE_VECTORS):
        site.fail(f"kind::{kind} {'needs' if vector is None else 'has no'} .block_scale")
    site.modifiers = [m for m in site.modifiers if not m.startswith("collector")]
    site.no_more()
    site.count((7 if vector else 5) + sparse, 7 + sparse)
    layout = WEIGHT_STATIONARY if stationary else _group(group)
    operands = _operands(site, group, vector, layout, sparse=sparse)
    _check_scale(site, kind, operands.scale)

    def step(f: ConvergenceGroup) -> None:
        cluster = f.warpgroup.cta.cluster
        if cluster.checker is not None and f.mask & (f.mask - 1):
            cluster.checker.findings.add(
                "issue", f.pc, f"{f.mask.bit_count()} threads issue tcgen05.mma; one should"
            )
        for lane in lane_list(f.mask):
            _issue(f, lane, operands, kind, group)

    return step


def _check_scale(site: Site, kind: str, scale: int) -> None:
    """Refuse a `scale-input-d` that the kind does not have (PTX ISA 9.7.16.10.9.1)."""
    if scale and kind not in SCALED_INPUT_KINDS:
        site.fail(f"scale-input-d is for kind::{' and '.join(SCALED_INPUT_KINDS)}, not for {kind}")
    if scale not in range(MAX_INPUT_SCALE + 1):
        site.fail(f"scale-input-d is {scale}, not in 0..{MAX_INPUT_SCALE}")


def _group(ctas: int) -> Group:
    return "2" if ctas == 2 else "1"


def _operands(
    site: Site, group: int, vector: str | None, layout: Group, *, sparse: bool
) -> Operands:
    d = site.address(0)
    a = site.operands[1]
    left = site.address(a) if isinstance(a, Address) else site.source(a, B64)
    b = site.source(2, B64)
    metadata = site.address(3) if sparse else None
    instruction = site.source(3 + sparse, B32)
    rest = list(site.operands[4 + sparse :])
    disabled: tuple[int, ...] = ()
    scales: tuple[tuple[int, int], ...] = ()
    if vector is not None:
        scales = (site.address(rest[0]), site.address(rest[1]))
        rest = rest[2:]
    elif isinstance(rest[0], Vector):
        if layout == WEIGHT_STATIONARY:
            site.fail("tcgen05.mma.ws has no disable-output-lane")
        parts = site.vector(rest.pop(0), (4 * group,))
        disabled = tuple(site.source(p, B32) for p in parts)
    keeps = site.predicate(rest[0])
    scale, zeros = 0, None
    if len(rest) > 1 and layout == WEIGHT_STATIONARY:
        zeros = site.source(rest[1], B64)
    elif len(rest) > 1:
        scale = site.immediate(rest[1])
    name = vector or ""
    return Operands(
        d, left, b, instruction, disabled, keeps, scale, name, scales, layout, metadata, zeros
    )


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
        for read in product.read_cells:
            check_cells(f, cta, read, "tcgen05.mma")
    if cluster.checker is not None:
        started = cluster.checker.clocks.start_tensor(agent, pc)
        _check(f, product, started, agent, group)
        state.tensor_issued = [started]
    pipe = tensor_pipe(f.warpgroup.cta, group)
    cluster.queue.add(lambda: compute(product, group), pc, lane=pipe)


def _product(f: ConvergenceGroup, lane: int, operands: Operands, kind: str, group: int) -> Product:
    cta, cluster = f.warpgroup.cta, f.warpgroup.cta.cluster
    if group == 2 and len(cluster.ctas) < 2:
        raise Fault("invalid", "cta_group::2 needs a cluster of at least two CTAs")
    if group == 2 and cta.rank & 1:
        raise Fault("invalid", f"{cta.name} has an odd rank: only the even CTA of a pair issues")
    ctas = cluster.ctas[cta.rank : cta.rank + group]
    sparse = operands.metadata is not None
    word = lane_value(f, operands.instruction, lane)
    shape = _instruction(word, kind, operands.layout, sparse=sparse)
    d_lane, column = split(lane_value(f, operands.d[0], lane) + operands.d[1])
    if isinstance(operands.a, tuple):
        left: Descriptor | int = lane_value(f, operands.a[0], lane) + operands.a[1]
    else:
        left = read_descriptor(lane_value(f, operands.a, lane), BLACKWELL, "descriptor of A")
    right = read_descriptor(lane_value(f, operands.b, lane), BLACKWELL, "descriptor of B")
    for found, element, major in ((left, shape.a, shape.a_major), (right, shape.b, shape.b_major)):
        _check_mode(found, ELEMENT_BITS[_element(kind, element)], major)
    keeps, inverted = operands.keeps
    a_element, b_element = (_element(kind, e) for e in (shape.a, shape.b))
    layout = SPARSE_PAIR if sparse and group == 2 else operands.layout
    zeros = _zeros(f, lane, operands, shape)
    b_rows = _rows_of_b(shape.n // group + zeros.shift, b_element, shape.b_major)
    return Product(
        ctas,
        shape,
        d_lane * TENSOR_COLUMNS + column,
        left,
        right,
        OperandShape(shape.m // group, a_element, shape.a_major),
        OperandShape(b_rows, b_element, shape.b_major, K_BYTES * (1 + sparse)),
        bool(lane_value(f, keeps, lane)) != inverted,
        tuple(lane_value(f, slot, lane) for slot in operands.disabled),
        operands.scale,
        _scales(f, lane, operands, shape, group),
        layout,
        _metadata(f, lane, operands, shape, group, d_lane, ELEMENT_BITS[a_element]),
        zeros,
    )


def _check_mode(found: Descriptor | int, bits: int, major: str) -> None:
    """Refuse a swizzle that transposed operands do not have (PTX ISA 9.7.16.10.3, table 52)."""
    modes = MN_MAJOR_OPERANDS["tcgen05"].get(bits, ())
    if major == "mn" and isinstance(found, Descriptor) and found.mode not in modes:
        raise Fault(
            "descriptor",
            f"MN-major operands of {bits} bits have swizzle {' or '.join(modes)}, not {found.mode}",
        )


def _rows_of_b(rows: int, element: str, major: str) -> int:
    """Return the columns of B to read: whole granules of them, where they are contiguous."""
    step = 1 if major == "k" else 128 // ELEMENT_BITS[element]
    return -(-rows // step) * step


def _metadata(
    f: ConvergenceGroup,
    lane: int,
    operands: Operands,
    shape: InstructionDescriptor | BlockScaledDescriptor,
    group: int,
    d_lane: int,
    bits: int,
) -> TensorMetadata | None:
    """Return the metadata of a sparse A: each CTA has those of its rows, at the lanes of D."""
    if operands.metadata is None:
        return None
    slot, offset = operands.metadata
    rows = shape.m // group
    half_lanes = rows == 64 and operands.layout != WEIGHT_STATIONARY
    address = lane_value(f, slot, lane) + offset
    if half_lanes and split(address)[0] != d_lane:
        raise Fault(
            "tensor-memory",
            f"the metadata of A begin at lane {split(address)[0]} and D at lane {d_lane}: in half "
            f"of the lanes both begin at lane 0, or at lane {HALF}",
        )
    selector = shape.sparsity_selector if isinstance(shape, InstructionDescriptor) else 0
    return TensorMetadata(address, bits, 16 * K_BYTES // bits, rows, selector, half_lanes)


def _zeros(
    f: ConvergenceGroup,
    lane: int,
    operands: Operands,
    shape: InstructionDescriptor | BlockScaledDescriptor,
) -> ZeroColumns:
    if operands.zeros is None or not isinstance(shape, InstructionDescriptor):
        return ZeroColumns()
    try:
        found = decode_zero_columns(lane_value(f, operands.zeros, lane), shape.m, shape.max_shift)
        found.mask(shape.m, shape.n)
    except TargetError as error:
        raise Fault("descriptor", str(error)) from None
    return found


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
    word: int, kind: str, group: Group, *, sparse: bool
) -> InstructionDescriptor | BlockScaledDescriptor:
    try:
        found = decode(word, kind, group)
    except TargetError as error:
        raise Fault("descriptor", f"instruction descriptor {word:#x}: {error}") from None
    if found.sparse != sparse:
        word_is, mma = ("sparse", "") if found.sparse else ("dense", ".sp")
        raise Fault("descriptor", f"the descriptor of a {word_is} product at tcgen05.mma{mma}")
    return found


def _check(f: ConvergenceGroup, p: Product, started: AsyncEvent, agent: int, group: int) -> None:
    checker = f.warpgroup.cta.cluster.checker
    assert checker is not None
    for cta in p.ctas:
        warpgroup = cta.warpgroups[0]
        if isinstance(p.a, Descriptor):
            check_operand(warpgroup, view_of(p.a, p.a_shape), started, f.pc, "A")
        else:
            cells = left_cells(p.a)
            checker.tensor_operation(
                cta, shadow_locations_of(cells), started, agent, f.pc, write=False
            )
        check_operand(warpgroup, view_of(p.b, p.b_shape), started, f.pc, "B")
        for read in p.read_cells:
            locations = shadow_locations_of(read)
            checker.tensor_operation(cta, locations, started, agent, f.pc, write=False)
        locations = accumulator_shadow_locations(p.shape.m, p.shape.n, p.layout, p.cells)
        if p.keeps:
            checker.tensor_operation(cta, locations, started, agent, f.pc, write=False)
        checker.tensor_operation(cta, locations, started, agent, f.pc, write=True)


TABLE = (Semantics("tcgen05.mma", build_mma),)
