"""Matrix instructions of a warpgroup.  Source: PTX ISA 9.7.15, wgmma."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import field

import numpy as np

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx.checking.vector_clocks import AsyncEvent
from tileas_xdsl.interpreters.ptx.errors import Fault
from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array
from tileas_xdsl.interpreters.ptx.execution.state import ConvergenceGroup, Warpgroup
from tileas_xdsl.interpreters.ptx.execution.waits import reconverge_warpgroup
from tileas_xdsl.interpreters.ptx.instructions.base import STOP, Semantics, Site, Step
from tileas_xdsl.interpreters.ptx.instructions.dot.sparse_metadata import (
    SparseMetadata,
    build_metadata,
)
from tileas_xdsl.interpreters.ptx.instructions.dot.wgmma_groups import (
    unwaited_reporter,
)
from tileas_xdsl.interpreters.ptx.matrix.smem_operands import (
    ELEMENT_BITS,
    K_BYTES,
    OperandShape,
    OperandView,
    read_descriptor,
    view_of,
)
from tileas_xdsl.interpreters.ptx.matrix.wgmma_accumulators import (
    ROWS,
    THREADS,
    Accumulator,
    AccumulatorRegister,
    PendingMma,
    WgmmaState,
    from_registers,
    materialize,
    state_of,
)
from tileas_xdsl.interpreters.ptx.matrix.wgmma_computation import (
    Product,
    WgmmaComputation,
    register_operand,
)
from tileas_xdsl.interpreters.ptx.numerics.scalar_types import TYPES
from tileas_xdsl.interpreters.ptx.parsing.syntax import Vector
from tileas_xdsl.layout.units import WARP
from tileas_xdsl.target.arch import get_target

HOPPER = get_target("sm_90a")

_SHAPE = re.compile(r"m64n(\d+)k(\d+)")

RESULTS: Mapping[str, tuple[str, ...]] = {
    "f16": ("f32", "f16"),
    "bf16": ("f32",),
    "tf32": ("f32",),
    "e4m3": ("f32", "f16"),
    "e5m2": ("f32", "f16"),
    "s8": ("s32",),
    "u8": ("s32",),
}
"""Legal types of D by element type."""

MIXED = ({"e4m3", "e5m2"}, {"s8", "u8"})
"""Element types of which A and B may have different ones."""


def build_mma(site: Site) -> Step:
    """`wgmma.mma_async`, and `.sp`, whose A keeps half of its elements."""
    sparse = site.flag("sp")
    site.choose(("sync",))
    site.choose(("aligned",))
    shape = next((m for m in map(_SHAPE.fullmatch, site.modifiers) if m), None)
    if shape is None:
        site.fail("the shape m64nNkK is missing")
    site.modifiers.remove(shape.group())
    saturate = site.flag("satfinite")
    if len(site.modifiers) != 3:
        site.fail("the types of D, A and B are expected")
    d, a, b = site.modifiers
    site.modifiers = []
    n, k = int(shape[1]), int(shape[2])
    if sparse and k % 2:
        site.fail(f"k of a sparse product is even, not {k}")
    _check_types(site, n, k // 2 if sparse else k, (d, a, b))
    return _build(site, n, (d, a, b), saturate, sparse)


def _check_types(site: Site, n: int, k: int, types: tuple[str, str, str]) -> None:
    d, a, b = types
    if a not in RESULTS or d not in RESULTS[a]:
        site.fail(f"no product of .{a} gives .{d}")
    if a != b and {a, b} not in MIXED:
        site.fail(f".{a} and .{b} are not multiplied")
    if k != 256 // ELEMENT_BITS[a]:
        site.fail(f".{a} has {256 // ELEMENT_BITS[a]} elements of K in A, not {k}")
    whole = range(8, 257, 8)
    counts = (8, 16, 24, *range(32, 257, 16)) if d == "s32" else whole
    if n not in counts:
        site.fail(f"n of .{a} is not {n}")


def _build(site: Site, n: int, types: tuple[str, str, str], saturate: bool, sparse: bool) -> Step:
    d, a, b = types
    vector = site.operands[0]
    if not isinstance(vector, Vector):
        site.fail("a vector of accumulators is expected")
    count = n // 4 if d == "f16" else n // 2
    parts = site.vector(0, (count,))
    d_registers = tuple(site.destination(p, TYPES["b32"]) for p in parts)
    fragments = site.operands[1]
    in_registers = isinstance(fragments, Vector)
    a_slots: tuple[int, ...] = ()
    if isinstance(fragments, Vector):
        a_slots = tuple(site.fragment(1, (4,), TYPES["b32"]))
    else:
        a_slots = (site.source(1, TYPES["b64"]),)
    b_slot = site.source(2, TYPES["b64"])
    bits, metadata, after = ELEMENT_BITS[a], None, 3
    if sparse:
        metadata, after = build_metadata(site, 3, bits, 2 * 8 * K_BYTES // bits), 5
    scale, inverted = site.predicate(after)
    rest = [site.immediate(o) for o in site.operands[after + 1 :]]
    signs, majors = _immediates(site, rest, bits, d == "s32", in_registers)
    product = Product(
        n,
        d,
        OperandShape(ROWS, a, majors[0]),
        OperandShape(n, b, majors[1], K_BYTES * (2 if sparse else 1)),
        (signs[0] < 0, signs[1] < 0),
        saturate,
    )
    site.program.watch(d_registers, a_slots if in_registers else ())
    left = None if in_registers else SharedOperand(a_slots[0], product.a, "A")
    right = SharedOperand(b_slot, product.b, "B")
    mma = Mma(product, d_registers, left, a_slots if in_registers else (), right, metadata)

    def step(f: ConvergenceGroup) -> int | None:
        if not reconverge_warpgroup(f, "wgmma.mma_async"):
            return STOP
        scaled = f.r[scale]
        if scaled.__class__ is np.ndarray:
            if not (scaled == scaled[0]).all():
                raise Fault("invalid", "scale-d differs between threads of the warpgroup")
            scaled = bool(scaled[0])
        _issue(f, mma, bool(scaled) != inverted)
        return None

    return step


def _immediates(
    site: Site, given: list[int], bits: int, integer: bool, in_registers: bool
) -> tuple[list[int], list[str]]:
    """Return imm-scale-a and imm-scale-b as signs, and the majorness (`k` or `mn`) of A and B."""
    if integer:
        if given:
            site.fail("integer products have no scales")
        return [1, 1], ["k", "k"]
    signs, rest = given[:2], given[2:]
    if len(signs) != 2 or any(s not in (1, -1) for s in signs):
        site.fail("imm-scale-a and imm-scale-b are 1 or -1")
    wanted = 0 if bits != 16 else 1 if in_registers else 2
    if len(rest) != wanted or any(t not in (0, 1) for t in rest):
        site.fail(f"{wanted} operands imm-trans of 0 or 1 are expected")
    transposed = [0, *rest] if in_registers else rest
    transposed = transposed if wanted else [0, 0]
    return signs, ["mn" if t else "k" for t in transposed]


# Issuing


@dataclass(frozen=True, slots=True, eq=False)
class SharedOperand:
    """An operand that the descriptor in a register shows."""

    slot: int
    shape: OperandShape
    name: str
    views: dict[int, OperandView] = field(default_factory=dict[int, OperandView])
    """By descriptor, those that there were."""

    def view(self, f: ConvergenceGroup) -> OperandView:
        """Return what the descriptor shows; a fault where it is no valid one."""
        word = f.r[self.slot]
        if word.__class__ is np.ndarray:
            if not (word == word[0]).all():
                raise Fault("descriptor", f"the descriptor of {self.name} differs between threads")
            word = int(word[0])
        found = self.views.get(word)
        if found is None:
            descriptor = read_descriptor(word, HOPPER, f"descriptor of {self.name}")
            found = self.views[word] = view_of(descriptor, self.shape)
        return found

    def checked_view(self, f: ConvergenceGroup, started: AsyncEvent | None) -> OperandView:
        """Return the same and check that the wgmma which has started may read it."""
        view = self.view(f)
        if started is not None:
            check_operand(f.warpgroup, view, started, f.pc, self.name)
        return view


@dataclass(frozen=True, slots=True, eq=False)
class Mma:
    """A `wgmma.mma_async` of the program: its product, and where its operands are."""

    product: Product
    d_registers: tuple[int, ...]
    left: SharedOperand | None
    fragments: tuple[int, ...]
    """The registers of A, if it is not in shared memory."""
    right: SharedOperand
    metadata: SparseMetadata | None


def _issue(f: ConvergenceGroup, mma: Mma, keeps: bool) -> None:
    warpgroup, product = f.warpgroup, mma.product
    state = state_of(warpgroup)
    checker = warpgroup.cta.cluster.checker
    if checker is not None and not state.fenced:
        _report_unfenced(f, state)
        state.fenced = True
    started = None if checker is None else checker.start_warpgroup(warpgroup, f.pc)
    b_view = mma.right.checked_view(f, started)
    a: OperandView | Array
    if mma.left is None:
        a = register_operand([f.r[s] for s in mma.fragments], product.a.element)
    else:
        a = mma.left.checked_view(f, started)
    accumulator = _accumulator(f, product, mma.d_registers, keeps)
    kept = None
    if mma.metadata is not None:
        kept = np.concatenate([mma.metadata.columns(f, warp) for warp in range(THREADS // WARP)])
    computation = WgmmaComputation(warpgroup.cta, product, a, b_view, keeps, kept)
    item = PendingMma(computation, accumulator, started, state.open, mma.fragments)
    accumulator.pending += 1
    accumulator.values = None
    for slot in item.operands:
        state.reading[slot] = item
    state.undone.append(item)
    state.open.append(item)
    _maybe_compute(warpgroup, state)


def _maybe_compute(warpgroup: Warpgroup, state: WgmmaState) -> None:
    """Compute committed MMAs now by chance, if the completion order is random."""
    queue = warpgroup.cta.cluster.queue
    if queue.is_random and queue.rng.random() < 0.25:
        state.compute_committed()


def _report_unfenced(f: ConvergenceGroup, state: WgmmaState) -> None:
    checker = f.warpgroup.cta.cluster.checker
    assert checker is not None
    notes = ["hint: wgmma.fence.sync.aligned before the first wgmma.mma_async of a group"]
    if state.last_access >= 0:
        notes.insert(0, f"registers were touched at {checker.findings.line_of(state.last_access)}")
    checker.findings.add(
        "wgmma-fence",
        f.pc,
        "wgmma.mma_async uses registers that were accessed without a wgmma.fence since",
        notes,
    )


def check_operand(
    warpgroup: Warpgroup, view: OperandView, started: AsyncEvent, at: int, name: str
) -> None:
    """Check an operand in shared memory for races and for a descriptor that fits its data."""
    cta = warpgroup.cta
    checker = cta.cluster.checker
    assert checker is not None
    tile, descriptor, major = view.tile, view.descriptor, view.shape.major
    cta.shared.check_granule_range(tile.low, tile.high)
    checker.copy_tile(cta, tile, started, at, write=False)
    wrong = checker.tags[cta.rank].judge(view, view.granules, descriptor.mode, major)
    if wrong is not None:
        checker.findings.add(
            "descriptor",
            at,
            f"the descriptor of {name} {wrong}",
            [f"it says: {descriptor}, {major.upper()}-major"],
        )


def _accumulator(
    f: ConvergenceGroup, product: Product, d_registers: tuple[int, ...], keeps: bool
) -> Accumulator:
    """Return the lazy accumulator of the registers of D, or a new one with their values."""
    r = f.r
    first = r[d_registers[0]]
    if first.__class__ is AccumulatorRegister:
        accumulator = first.accumulator
        mine = accumulator.d_registers == d_registers and accumulator.kind == product.d
        if mine and accumulator.intact and not accumulator.shared:
            return accumulator
    columns = product.n
    if keeps:
        report = unwaited_reporter(f)
        for slot in d_registers:
            if r[slot].__class__ is AccumulatorRegister:
                materialize(f, slot, report)
        matrix = from_registers([r[s] for s in d_registers], columns, product.d)
    else:
        matrix = np.zeros((ROWS, columns), np.float64 if product.d == "s32" else np.float32)
    accumulator = Accumulator(matrix, product.d, d_registers)
    for i, slot in enumerate(d_registers):
        r[slot] = AccumulatorRegister(accumulator, i)
    return accumulator


TABLE = (Semantics("wgmma.mma_async", build_mma, waits=True),)
