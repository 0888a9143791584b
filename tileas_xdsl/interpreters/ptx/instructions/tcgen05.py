"""Tensor cores of sm_100a: allocation, products, commits, fences.  Source: PTX ISA 9.7.16."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tileas_xdsl.interpreters.ptx.arrivals import arrive, barrier_at, check_fenced
from tileas_xdsl.interpreters.ptx.blocks import AllocationWait, together
from tileas_xdsl.interpreters.ptx.clocks import Started
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.instructions.base import STOP, Form, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.mbarrier import (
    lane_addresses,
    lane_name,
    shared_space,
)
from tileas_xdsl.interpreters.ptx.instructions.wgmma import check_operand, rounded_sum
from tileas_xdsl.interpreters.ptx.lanes import WARP, Array, lane_list, warps_of
from tileas_xdsl.interpreters.ptx.operands_of_matrices import (
    Descriptor,
    OperandShape,
    operand,
    product,
    read_descriptor,
    values_of,
)
from tileas_xdsl.interpreters.ptx.scalar_types import TYPES, UNSIGNED
from tileas_xdsl.interpreters.ptx.shared_memory import (
    OFFSET_MASK,
    RANK_SHIFT,
    TENSOR_COLUMNS,
)
from tileas_xdsl.interpreters.ptx.state import Cta, Fragment
from tileas_xdsl.interpreters.ptx.syntax import Address, Vector
from tileas_xdsl.interpreters.ptx.tensor_cells import (
    accumulator_cells,
    accumulator_columns,
    accumulator_places,
    check_cells,
    places_of,
    split,
)
from tileas_xdsl.target.arch import get_target
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.instruction_descriptor import InstructionDescriptor, decode

BLACKWELL = get_target("sm_100a")

KINDS = ("kind::f16", "kind::tf32", "kind::f8f6f4", "kind::i8")

ELEMENTS: Mapping[str, str] = {
    "f16": "f16", "bf16": "bf16", "tf32": "tf32", "f8e4m3": "e4m3", "f8e5m2": "e5m2",
    "s8": "s8", "u8": "u8",
}  # fmt: skip
"""Formats of operands; those below a byte are padded in shared memory and not modelled."""

B32, U16, U32, B64 = TYPES["b32"], TYPES["u16"], TYPES["u32"], TYPES["b64"]


def group_of(site: Site) -> int:
    """1 or 2: how many CTAs take part."""
    return int(site.choose(("cta_group::1", "cta_group::2"))[-1])


# Allocation


def build_alloc(site: Site) -> Step:
    """`tcgen05.alloc`: columns; their address goes to shared memory."""
    group_of(site)
    site.ignore(("sync", "aligned"))
    space = shared_space(site)
    site.type(("b32",))
    site.no_more()
    site.count(2)
    slot, offset = site.address(0)
    columns = site.source(1, U32)

    def step(f: Fragment) -> int | None:
        if not together(f, "tcgen05.alloc"):
            return STOP
        count = _columns(f.value(columns))
        cta, cluster = f.gang.cta, f.gang.cta.cluster
        if cta.tensor.relinquished:
            raise Fault("tensor-memory", f"{cta.name} allocates after it gave up the permit")
        lane, address = lane_addresses(f, slot, offset, space)[0]
        start = cta.tensor.allocate(count, f.pc + 1)
        if start is None:
            f.block = AllocationWait([cta], count)
            return STOP
        place = address & OFFSET_MASK
        cta.shared.check(place, 4, 4)
        cta.shared.views[4][place // 4] = start
        cta.shared.writes += 1
        if cluster.checker is not None:
            where, who = np.array([place]), np.array([lane])
            cluster.checker.lanes(cta, f.gang, who, where, 4, f.pc, write=True)
        return None

    return step


def _columns(count: int) -> int:
    if count not in (32, 64, 128, 256, 512):
        raise Fault("tensor-memory", f"{count} columns are no power of two in 32..512")
    return count


def build_dealloc(site: Site) -> Step:
    """`tcgen05.dealloc`."""
    group_of(site)
    site.ignore(("sync", "aligned"))
    site.type(("b32",))
    site.no_more()
    site.count(2)
    taddr, columns = site.source(0, B32), site.source(1, U32)

    def step(f: Fragment) -> int | None:
        if not together(f, "tcgen05.dealloc"):
            return STOP
        count, start = _columns(f.value(columns)), split(f.value(taddr))[1]
        owners = f.gang.cta.tensor.owners[start : start + count]
        if len(owners) < count or not owners.all() or (owners != owners[0]).any():
            raise Fault(
                "tensor-memory", f"columns {start}..{start + count - 1} are no allocation to free"
            )
        owners[:] = 0
        checker = f.gang.cta.cluster.checker
        if checker is not None:
            places = np.arange(8)[:, None] * TENSOR_COLUMNS + np.arange(start, start + count)
            agent = f.gang.agents[warps_of(f.mask)[0]]
            checker.tensor_free(f.gang.cta, agent, places.ravel(), f.pc)
        f.gang.cta.cluster.events += 1
        return None

    return step


def build_relinquish(site: Site) -> Step:
    """`tcgen05.relinquish_alloc_permit`."""
    group_of(site)
    site.ignore(("sync", "aligned"))
    site.no_more()

    def step(f: Fragment) -> int | None:
        if not together(f, "tcgen05.relinquish_alloc_permit"):
            return STOP
        f.gang.cta.tensor.relinquished = True
        return None

    return step


# Products


@dataclass(frozen=True, slots=True)
class Operands:
    """The slots of one product."""

    d: tuple[int, int]
    a: tuple[int, int] | int
    b: int
    instruction: int
    disabled: tuple[int, ...]
    keeps: tuple[int, bool]
    scale: int


def build_mma(site: Site) -> Step:
    """`tcgen05.mma`: one thread starts D (M, N) += A (M, K) B (K, N)."""
    for name in ("ws", "sp", "block_scale"):
        if any(m == name or m.startswith(f"{name}.") for m in site.modifiers):
            site.fail(f".{name} is not supported")
    group = group_of(site)
    kind = site.choose(KINDS).removeprefix("kind::")
    site.modifiers = [m for m in site.modifiers if not m.startswith("collector")]
    site.no_more()
    site.count(5, 7)
    operands = _operands(site, group)

    def step(f: Fragment) -> None:
        cluster = f.gang.cta.cluster
        if cluster.checker is not None and f.mask & (f.mask - 1):
            cluster.checker.findings.add(
                "issue", f.pc, f"{f.mask.bit_count()} threads issue tcgen05.mma; one should"
            )
        for lane in lane_list(f.mask):
            _issue(f, lane, operands, kind, group)

    return step


def _operands(site: Site, group: int) -> Operands:
    d = site.address(0)
    a = site.operands[1]
    left = site.address(a) if isinstance(a, Address) else site.source(a, B64)
    b, instruction = site.source(2, B64), site.source(3, B32)
    rest = list(site.operands[4:])
    disabled: tuple[int, ...] = ()
    if isinstance(rest[0], Vector):
        parts = site.vector(rest.pop(0), (4 * group,))
        disabled = tuple(site.source(p, B32) for p in parts)
    keeps = site.predicate(rest[0])
    scale = site.immediate(rest[1]) if len(rest) > 1 else 0
    return Operands(d, left, b, instruction, disabled, keeps, scale)


def _lane(f: Fragment, slot: int, lane: int) -> int:
    value = f.r[slot]
    return int(value[lane]) if value.__class__ is np.ndarray else int(value)


@dataclass(frozen=True, slots=True)
class Product:
    """One product as it was issued."""

    ctas: list[Cta]
    shape: InstructionDescriptor
    cells: int
    """The first cell of D."""
    a: Descriptor | int
    b: Descriptor
    a_shape: OperandShape
    b_shape: OperandShape
    keeps: bool
    disabled: tuple[int, ...]
    scale: int


def _issue(f: Fragment, lane: int, operands: Operands, kind: str, group: int) -> None:
    product = _product(f, lane, operands, kind, group)
    cluster, agent, pc = f.gang.cta.cluster, f.gang.agent(lane), f.pc
    state = f.gang.warp_states[lane // WARP]
    started: Started | None = None
    m, n = product.shape.m, product.shape.n
    for cta in product.ctas:
        columns = accumulator_columns(m, n, group, product.cells)
        check_cells(f, cta, columns, "tcgen05.mma")
    if cluster.checker is not None:
        started = cluster.checker.clocks.start_tensor(agent, pc)
        _check(f, product, started, agent, group)
        state.tensor_issued = [started]
    cluster.queue.add(lambda: _compute(product, group), pc, lane=("tensor", agent))


def _product(f: Fragment, lane: int, operands: Operands, kind: str, group: int) -> Product:
    cta, cluster = f.gang.cta, f.gang.cta.cluster
    if group == 2 and len(cluster.ctas) < 2:
        raise Fault("invalid", "cta_group::2 needs a cluster of at least two CTAs")
    if group == 2 and cta.rank & 1:
        raise Fault("invalid", f"{cta.name} has an odd rank: only the even CTA of a pair issues")
    ctas = cluster.ctas[cta.rank : cta.rank + group]
    shape = _instruction(_lane(f, operands.instruction, lane), kind, group)
    d_lane, column = split(_lane(f, operands.d[0], lane) + operands.d[1])
    for element in (shape.a, shape.b):
        if element not in ELEMENTS:
            raise Fault("descriptor", f"operands of {element} are not modelled")
    if isinstance(operands.a, tuple):
        left: Descriptor | int = _lane(f, operands.a[0], lane) + operands.a[1]
    else:
        left = read_descriptor(_lane(f, operands.a, lane), BLACKWELL, "descriptor of A")
    right = read_descriptor(_lane(f, operands.b, lane), BLACKWELL, "descriptor of B")
    keeps, inverted = operands.keeps
    return Product(
        ctas,
        shape,
        d_lane * TENSOR_COLUMNS + column,
        left,
        right,
        OperandShape(shape.m // group, ELEMENTS[shape.a], shape.a_major),
        OperandShape(shape.n // group, ELEMENTS[shape.b], shape.b_major),
        bool(_lane(f, keeps, lane)) != inverted,
        tuple(_lane(f, slot, lane) for slot in operands.disabled),
        operands.scale,
    )


def _instruction(word: int, kind: str, group: int) -> InstructionDescriptor:
    try:
        found = decode(word, kind, str(group))
    except TargetError as error:
        raise Fault("descriptor", f"instruction descriptor {word:#x}: {error}") from None
    if not isinstance(found, InstructionDescriptor) or found.sparse:
        raise Fault("descriptor", "sparse and block-scaled products are not modelled")
    return found


def _check(f: Fragment, p: Product, started: Started, agent: int, group: int) -> None:
    checker = f.gang.cta.cluster.checker
    assert checker is not None
    for cta in p.ctas:
        gang = cta.gangs[0]
        if isinstance(p.a, Descriptor):
            check_operand(gang, p.a, p.a_shape, started, f.pc, "A")
        else:
            cells = _tensor_operand_cells(p.a)
            checker.tensor_operation(cta, places_of(cells), started, agent, f.pc, write=False)
        check_operand(gang, p.b, p.b_shape, started, f.pc, "B")
        places = accumulator_places(p.shape.m, p.shape.n, group, p.cells)
        if p.keeps:
            checker.tensor_operation(cta, places, started, agent, f.pc, write=False)
        checker.tensor_operation(cta, places, started, agent, f.pc, write=True)


def _tensor_operand_cells(taddr: int) -> Array:
    """A in tensor memory: a row a lane, 32 bytes in 8 columns."""
    lane, column = split(taddr)
    if lane:
        raise Fault("tensor-memory", f"A in tensor memory begins at lane {lane}, not 0")
    return np.arange(128)[:, None] * TENSOR_COLUMNS + column + np.arange(8)


def _left(cta: Cta, p: Product) -> Array:
    if isinstance(p.a, Descriptor):
        return operand(cta, p.a, p.a_shape)
    if p.a_shape.rows != 128:
        raise Fault("tensor-memory", "A in tensor memory is modelled for 128 rows only")
    words = cta.tensor.cells.reshape(-1)[_tensor_operand_cells(p.a)]
    bits = {"f16": 16, "bf16": 16, "tf32": 32}.get(p.a_shape.element, 8)
    return values_of(np.ascontiguousarray(words).view(UNSIGNED[bits]), p.a_shape.element)


def _compute(p: Product, group: int) -> None:
    shape = p.shape
    right = np.concatenate([operand(cta, p.b, p.b_shape) for cta in p.ctas])
    cells = _cells_of_result(shape.m, shape.n, group, p.cells)
    for number, cta in enumerate(p.ctas):
        total = product(_left(cta, p), right)
        if shape.negate_a != shape.negate_b:
            total = -total
        memory, places = _view(cta, cells)
        if p.keeps:
            before = _values(memory[places], shape.d)
            total += before * 2.0**-p.scale if p.scale else before
        words = _words(rounded_sum(total, shape.d, shape.saturate), shape.d)
        if any(p.disabled):
            every = accumulator_cells(shape.m, shape.n, group) + p.cells
            words = np.where(_disabled(p.disabled, number, every), memory[places], words)
        memory[places] = words


def _cells_of_result(m: int, n: int, ctas: int, base: int) -> Array | tuple[slice, slice]:
    """The cells of D; lanes and columns where its rows are all lanes."""
    if m == 128 * ctas:
        lane, column = divmod(base, TENSOR_COLUMNS)
        return slice(lane, lane + 128), slice(column, column + n)
    return accumulator_cells(m, n, ctas) + base


def _view(cta: Cta, cells: Array | tuple[slice, slice]) -> tuple[Array, Any]:
    """The memory that `cells` index."""
    memory = cta.tensor.cells
    return (memory, cells) if isinstance(cells, tuple) else (memory.reshape(-1), cells)


def _disabled(masks: tuple[int, ...], number: int, cells: Array) -> Array:
    """The cells whose lanes keep what they hold."""
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


# Commits and fences


def build_commit(site: Site) -> Step:
    """`tcgen05.commit`: a barrier hears when all earlier operations of the thread are done."""
    group_of(site)
    site.choose(("mbarrier::arrive::one",))
    space = shared_space(site)
    multicast = site.flag("multicast::cluster")
    site.type(("b64",))
    site.no_more()
    site.count(1 + multicast)
    slot, offset = site.address(0)
    mask = site.source(1, U16) if multicast else None

    def step(f: Fragment) -> None:
        for lane, address in lane_addresses(f, slot, offset, space):
            ranks = [address >> RANK_SHIFT]
            if mask is not None:
                bits = _lane(f, mask, lane)
                ranks = [r for r in range(16) if bits >> r & 1]
            _commit(f, lane, address & OFFSET_MASK, ranks)

    return step


def _commit(f: Fragment, lane: int, offset: int, ranks: list[int]) -> None:
    cluster, agent, pc = f.gang.cta.cluster, f.gang.agent(lane), f.pc
    checker = cluster.checker
    known = None
    if checker is not None:
        issued = f.gang.warp_states[lane // WARP].tensor_issued
        started = issued[-1] if issued else checker.clocks.start_tensor(agent, pc)
        known = checker.clocks.tensor_knowledge_of(started, agent)
    who = f"tcgen05.commit of {lane_name(f, lane)}"

    def run() -> None:
        for rank in ranks:
            cta, barrier = barrier_at(cluster, rank << RANK_SHIFT | offset)
            if cta is not f.gang.cta:
                check_fenced(cluster, barrier, pc, who)
            arrive(cluster, barrier, pc, who, count=1, known=known)

    cluster.queue.add(run, pc, lane=("tensor", agent))


def build_fence(site: Site) -> Step:
    """`tcgen05.fence::before_thread_sync` and `::after_thread_sync`."""
    before = site.name.endswith("before_thread_sync")
    site.no_more()
    site.count(0)

    def step(f: Fragment) -> None:
        checker = f.gang.cta.cluster.checker
        if checker is None:
            return
        for warp in warps_of(f.mask):
            agent = f.gang.agents[warp]
            if before:
                checker.clocks.fence_tensor_before(agent)
            else:
                checker.clocks.fence_tensor_after(agent)

    return step


_ARCH = "sm_100a"
_SINCE = (8, 6)

TABLE = (
    Form("tcgen05.alloc", build_alloc, _SINCE, only=_ARCH, waits=True),
    Form("tcgen05.dealloc", build_dealloc, _SINCE, only=_ARCH, waits=True),
    Form("tcgen05.relinquish_alloc_permit", build_relinquish, _SINCE, only=_ARCH, waits=True),
    Form("tcgen05.mma", build_mma, _SINCE, only=_ARCH),
    Form("tcgen05.commit", build_commit, _SINCE, only=_ARCH),
    Form("tcgen05.fence::before_thread_sync", build_fence, _SINCE, only=_ARCH),
    Form("tcgen05.fence::after_thread_sync", build_fence, _SINCE, only=_ARCH),
)
