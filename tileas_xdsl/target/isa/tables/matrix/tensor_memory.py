"""Forms of `tcgen05`: tensor memory and the products that work on it.

Source: PTX ISA 9.7.16, checked against ptxas 13.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from tileas_xdsl.target.features import Feature
from tileas_xdsl.target.isa.forms import InstructionForm, form
from tileas_xdsl.target.isa.requirements import BLACKWELL, since
from tileas_xdsl.target.isa.tables.matrix.tensor_cores import (
    TENSOR_KINDS,
    TMEM_COPIES,
    TMEM_MAX_REGISTERS,
    TMEM_REGISTERS,
    TMEM_REPEATS,
)

Forms = Iterator[InstructionForm]

GROUPS = ("cta_group::1", "cta_group::2")
_COLLECTORS = tuple(f"collector::a::{use}" for use in ("fill", "use", "lastuse", "discard"))
_SHIFTED_COLLECTORS = _COLLECTORS[2:]
"""Of an A that is shifted: it is neither kept for the next product nor what the last one kept."""
_BUFFERS = tuple(
    f"collector::b{buffer}::{use}"
    for buffer in range(4)
    for use in ("fill", "use", "lastuse", "discard")
)


def _memory() -> Forms:
    yield form("tcgen05.alloc.group.sync.aligned{.shared::cta}.b32", "[s], b:u32", BLACKWELL,
               group=GROUPS)  # fmt: skip
    yield form("tcgen05.dealloc.group.sync.aligned.b32", "a:b32, b:u32", BLACKWELL, group=GROUPS)
    yield form("tcgen05.relinquish_alloc_permit.group.sync.aligned", "", BLACKWELL, group=GROUPS)
    yield form("tcgen05.commit.group.mbarrier::arrive::one{.shared::cluster}"
               "{.multicast::cluster}.b64",
               "[s], m:u16?multicast::cluster", BLACKWELL, group=GROUPS)  # fmt: skip
    yield form("tcgen05.side", "", BLACKWELL,
               side=("fence::before_thread_sync", "fence::after_thread_sync"))  # fmt: skip
    yield form("tcgen05.access.sync.aligned", "", BLACKWELL, access=("wait::ld", "wait::st"))
    for shape, registers in TMEM_REGISTERS.items():
        yield from _moves(shape, registers)


def _moves(shape: str, registers: int) -> Forms:
    """Loads and stores of `registers` registers for each repetition."""
    vector = f"b32*repeat*{registers}"
    repeats = tuple(f"x{n}" for n in TMEM_REPEATS if n * registers <= TMEM_MAX_REGISTERS)
    half = ", 16" * (shape == "16x32bx2")
    choices = {"shape": (shape,), "repeat": repeats}
    yield form("tcgen05.ld.sync.aligned.shape.repeat{.pack::16b}.b32",
               f"<d:{vector}>, [r]{half}", BLACKWELL, **choices)  # fmt: skip
    if shape in REDUCED_SHAPES:
        yield from _reductions(shape, repeats[1:], half)
    yield form("tcgen05.st.sync.aligned.shape.repeat{.unpack::16b}.b32",
               f"[r]{half}, <d:{vector}>", BLACKWELL, **choices)  # fmt: skip


REDUCED_SHAPES = ("32x32b", "16x32bx2")
"""Shapes whose lanes hold one row each, which a load can reduce."""


def _reductions(shape: str, repeats: tuple[str, ...], half: str) -> Forms:
    """Loads that also give the least or greatest element of each lane."""
    for words, types in (("", ("u32", "s32")), ("{.abs}{.NaN}", ("f32",))):
        yield form(f"tcgen05.ld.red.sync.aligned.shape.repeat.op{words}.type",
                   f"<d:type*repeat>, v:type, [r]{half}",
                   since((8, 8), 103, Feature.TCGEN05_LOAD_REDUCE), shape=(shape,),
                   repeat=repeats, op=("min", "max"), type=types)  # fmt: skip


def _copies() -> Forms:
    for shape, casts in TMEM_COPIES.items():
        multicast = "" if casts == ("",) else ".multicast"
        yield form(f"tcgen05.cp.group.shape{multicast}{{.formats}}", "[r], b:b64", BLACKWELL,
                   group=GROUPS, shape=(shape,), multicast=casts,
                   formats=("b8x16.b6x16_p32", "b8x16.b4x16_p64"))  # fmt: skip
    yield form("tcgen05.shift.group.down", "[r]", BLACKWELL, group=GROUPS)


_SPARSITY = (("", ""), (".sp", ", [r]"))
"""What products of a sparse A are called, and the address of their metadata."""


def _products() -> Forms:
    for (kind, facts), (sparse, metadata) in product(TENSOR_KINDS.items(), _SPARSITY):
        for left in ("a:b64", "[r]"):
            head, matrices = (
                f"tcgen05.mma{sparse}.group.kind",
                f"[r], {left}, b:b64{metadata}, c:b32",
            )
            if facts.scale_vectors:
                yield from _scaled(head, matrices, kind)
                continue
            tail = ", 1?" * facts.scales_d
            groups = tuple(zip(GROUPS, (4, 8), strict=True))
            shifts = (("", _COLLECTORS), (".ashift", _SHIFTED_COLLECTORS))[: 1 + (left == "[r]")]
            for (group, lanes), (shift, collectors) in product(groups, shifts):
                yield form(f"{head}{shift}{{.collector}}",
                           f"{matrices}, <l:b32*{lanes}>?, p:pred{tail}",
                           facts.needs, group=(group,), kind=(f"kind::{kind}",),
                           collector=collectors)  # fmt: skip


def _scaled(head: str, matrices: str, kind: str) -> Forms:
    facts = TENSOR_KINDS[kind]
    for vector in facts.scale_vectors:
        needs = facts.needs.joined(since((8, 8))) if vector.startswith("block") else facts.needs
        scale = f".scale_vec::{vector}" if vector[:1].isdigit() else f".{vector}" * bool(vector)
        yield form(f"{head}.block_scale{scale}{{.collector}}",
                   f"{matrices}, [r], [r], p:pred", needs, group=GROUPS,
                   kind=(f"kind::{kind}",), collector=_COLLECTORS)  # fmt: skip


WEIGHT_STATIONARY = tuple(
    form(f"tcgen05.mma.ws{sparse}.group.kind{{.collector}}",
         f"[r], {left}, b:b64{metadata}, c:b32, p:pred, z:b64?",
         facts.needs, group=("cta_group::1",), kind=(f"kind::{kind}",), collector=_BUFFERS)
    for kind, facts in TENSOR_KINDS.items() if not facts.scale_vectors
    for sparse, metadata in _SPARSITY
    for left in ("a:b64", "[r]")
)  # fmt: skip

FORMS = (*_memory(), *_copies(), *_products(), *WEIGHT_STATIONARY)
