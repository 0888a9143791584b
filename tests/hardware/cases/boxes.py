"""TMA tile copies: boxes of every rank, element, stride and swizzle, in and out of bounds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from math import prod

import numpy as np
from hardware.cases.case import Array, Case, kernel_text, pointers
from hardware.cases.inputs import inputs_of, rng_of
from support.pixel_copies import COPIES

from tileas_xdsl.interpreters.ptx import TensorMapArg
from tileas_xdsl.target.tma.tensor_map import ELEMENTS, SWIZZLES, TensorMap
from tileas_xdsl.target.tma.tensor_map_rules import problems

SWIZZLE_NAMES = ("none", "32B", "64B", "128B")
ELEMENT_NAMES = ("u8", "u16", "s32", "u64", "f16", "bf16", "f32", "tf32", "f64")
PER_SWIZZLE = 16
"""Number of random maps per swizzle, each with two box coordinates."""

MAP = ".param .align 64 .b8 T[128]"

START = """
.reg .b32 %t, %s, %i, %a, %v; .reg .b64 %m, %b, %g; .reg .pred %p, %more;
.shared .align 1024 .b8 box[{size}]; .shared .align 8 .b8 bar[8];
mov.u32 %t, %tid.x; mov.b64 %m, T; cvta.param.u64 %m, %m; ld.param.u64 %b, [B]; mov.u32 %s, box;
setp.ne.u32 %p, %t, 0; @%p bra MADE; mbarrier.init.shared::cta.b64 [bar], 1;
fence.mbarrier_init.release.cluster;
MADE: bar.sync 0;
"""

WORDS = """
mov.u32 %i, %t;
L{name}: setp.ge.u32 %more, %i, {words}; @%more bra M{name};
  mad.lo.u32 %a, %i, 4, %s; mad.wide.u32 %g, %i, 4, %b; {move}
  add.u32 %i, %i, 32; bra L{name};
M{name}: """

TO_GLOBAL = "ld.shared.b32 %v, [%a]; st.global.b32 [%g], %v;"
TO_SHARED = "ld.global.b32 %v, [%g]; st.shared.b32 [%a], %v;"


def random_map(rng: np.random.Generator, swizzle: str, element: str) -> TensorMap:
    """Return a valid tensor map of a small tensor, whose box is at most 12 KiB."""
    size = ELEMENTS[element].bits // 8
    while True:
        rank = int(rng.integers(1, 6))
        span = SWIZZLES[swizzle].span or 16 * int(rng.integers(1, 9))
        steps = (1, *(int(rng.choice([1, 1, 2, 3])) for _ in range(rank - 1)))
        box = (span // size, *(int(rng.integers(1, 9)) for _ in range(rank - 1)))
        dims = tuple(int(rng.integers(1, 40)) for _ in range(rank))
        strides: list[int] = []
        pitch = dims[0] * size
        for dim in dims[1:]:
            pitch = -(-pitch // 16) * 16 + 16 * int(rng.integers(0, 3))
            strides.append(pitch)
            pitch *= dim
        fill = ELEMENTS[element].is_float and bool(rng.integers(0, 2))
        found = TensorMap(element, 0, dims, tuple(strides), box, steps, swizzle=swizzle,
                          nan_fill=fill)  # fmt: skip
        if box_bytes(found) <= 12288 and tensor_bytes(found) < 1 << 18 and not [*problems(found)]:
            return found


def box_bytes(m: TensorMap) -> int:
    """Return the size of the box in shared memory, in bytes."""
    counts = [-(-b // s) for b, s in zip(m.box, m.element_strides or (1,) * m.rank, strict=True)]
    return prod(counts) * ELEMENTS[m.element].bits // 8


def tensor_bytes(m: TensorMap) -> int:
    """Return the number of bytes from the first element of the tensor to the end of its last."""
    last = sum((d - 1) * s for d, s in zip(m.dims[1:], m.strides, strict=True))
    return last + m.dims[0] * ELEMENTS[m.element].bits // 8


def tensor_of(m: TensorMap, rng: np.random.Generator) -> TensorMapArg:
    """Return a tensor map over an array of random bytes."""
    size = -(-tensor_bytes(m) // 16) * 16
    return TensorMapArg(m, elements(m.element, size, rng))


def elements(element: str, size: int, rng: np.random.Generator) -> Array:
    """Return `size` bytes of random elements, including special values."""
    name = element if ELEMENTS[element].is_float and element != "tf32" else "b32"
    found = inputs_of(name, f"elements {rng.integers(1 << 32)}", size).view(np.uint8)
    return np.ascontiguousarray(found[:size])


def load_body(m: TensorMap, at: Sequence[int]) -> str:
    """Return a kernel body that loads one box and copies its bytes to global memory."""
    size = box_bytes(m)
    place = ", ".join(map(str, at))
    copy = (
        f"cp.async.bulk.tensor.{m.rank}d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
    )
    return f"""{START.format(size=max(size, 16))}
    @%p bra W; mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], {size};
    {copy} [%s], [%m, {{{place}}}], [bar];
    W: mbarrier.try_wait.parity.shared::cta.b64 %more, [bar], 0; @!%more bra W;
    {WORDS.format(name="OUT", words=size // 4, move=TO_GLOBAL)} ret;
    """


def store_body(m: TensorMap, at: Sequence[int], reduction: str = "") -> str:
    """Return a kernel body that stores a box of given bytes, or reduces it into the tensor."""
    size, place = box_bytes(m), ", ".join(map(str, at))
    head = f"cp{'.reduce' * bool(reduction)}.async.bulk.tensor.{m.rank}d.global.shared::cta"
    return f"""{START.format(size=max(size, 16))}
    {WORDS.format(name="IN", words=size // 4, move=TO_SHARED)}
    fence.proxy.async.shared::cta; bar.sync 0; @%p ret;
    {head}{reduction and "." + reduction}.tile.bulk_group [%m, {{{place}}}], [%s];
    cp.async.bulk.commit_group; cp.async.bulk.wait_group 0; ret;
    """


def random_place(m: TensorMap, rng: np.random.Generator) -> tuple[int, ...]:
    """Return random box coordinates around the tensor, often half out of bounds."""
    at = (int(rng.integers(-b, d + 2)) for d, b in zip(m.dims, m.box, strict=True))
    return aligned(m, at)


def aligned(m: TensorMap, at: Iterable[int]) -> tuple[int, ...]:
    """Round the innermost coordinate down to a multiple of 16 bytes."""
    first, *others = at
    unit = 128 // ELEMENTS[m.element].bits
    return first // unit * unit, *others


def _named(m: TensorMap, at: Sequence[int]) -> str:
    dims, box = ("x".join(map(str, x)) for x in (m.dims, m.box))
    steps = "x".join(map(str, m.element_strides or ()))
    fill = " NaN" * m.nan_fill
    return f"{m.element} {dims}, box {box}, steps {steps}, {m.swizzle}{fill}, at {tuple(at)}"


def box_cases() -> Iterator[Case]:
    """Yield loads and stores of random boxes for every swizzle."""
    for swizzle in SWIZZLE_NAMES:
        for number in range(PER_SWIZZLE):
            rng = rng_of(f"box {swizzle} {number}")
            m = random_map(rng, swizzle, ELEMENT_NAMES[number % len(ELEMENT_NAMES)])
            inside = aligned(m, (int(rng.integers(0, d)) for d in m.dims))
            for where, at in (("around", random_place(m, rng)), ("inside", inside)):
                out = np.zeros(-(-box_bytes(m) // 16) * 16, np.uint8)
                text = kernel_text(load_body(m, at), f"{MAP}, {pointers('B')}")
                arguments = (tensor_of(m, rng), out)
                yield Case("TMA loads", f"{_named(m, at)} {where}", text, arguments)
            yield _store("TMA stores", m, inside, rng)


def _store(
    family: str, m: TensorMap, at: Sequence[int], rng: np.random.Generator, reduction: str = ""
) -> Case:
    data = elements(m.element, -(-box_bytes(m) // 16) * 16, rng)
    text = kernel_text(store_body(m, at, reduction), f"{MAP}, {pointers('B')}")
    name = f"{reduction} {_named(m, at)}".strip()
    is_whole = m.dims[0] * ELEMENTS[m.element].bits % 128 == 0
    allowed = () if is_whole else ("row-end",)
    return Case(family, name, text, (tensor_of(m, rng), data), allowed=allowed)


REDUCTIONS = {
    "add": ("s32", "u32", "u64", "f16", "bf16", "f32"),
    **dict.fromkeys(("min", "max"), ("s32", "u32", "s64", "u64", "f16", "bf16")),
    **dict.fromkeys(("and", "or", "xor"), ("s32", "u64")),
    **dict.fromkeys(("inc", "dec"), ("u32",)),
}


def reduction_cases() -> Iterator[Case]:
    """Yield TMA reductions that update each address once, so that the order is irrelevant."""
    for reduction, names in REDUCTIONS.items():
        for element in names:
            rng = rng_of(f"reduce {reduction} {element}")
            m = replace(random_map(rng, "none", element), nan_fill=False)
            at = aligned(m, (int(rng.integers(0, max(1, d // 2))) for d in m.dims))
            yield _store("TMA reductions", m, at, rng, reduction)


def pixel_cases() -> Iterator[Case]:
    """Yield im2col loads and stores."""
    for copy in COPIES:
        arguments = (
            TensorMapArg(copy.tensor_map(), copy.tensor()),
            copy.in_shared_memory(copy.column()),
        )
        known = {} if copy.nan_fill else {int(copy.operation == "load"): copy.expected()}
        yield Case("TMA pixels", str(copy), copy.ptx(), arguments, wanted=known)
