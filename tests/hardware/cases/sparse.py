"""Products with a sparse A: of warps and of warpgroups."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

from hardware.cases.case import Case, kernel_text, pointers
from hardware.cases.inputs import rng_of
from support.matrix_kernels import BITS, MatrixKernel
from support.sparse_kernels import sparse_warp_product, sparse_warpgroup_product

SMALL = tuple(product(("s8", "u8"), repeat=2))
BYTES = tuple(product(("e4m3", "e5m2"), repeat=2))

WARP_FORMS = (
    *((k, (d, "f16", "f16")) for k in (16, 32) for d in ("f16", "f32")),
    *((k, ("f32", "bf16", "bf16")) for k in (16, 32)),
    *((k, ("f32", "tf32", "tf32")) for k in (8, 16)),
    *((k, ("s32", a, b)) for k in (32, 64) for a, b in SMALL),
    *((64, ("f32", a, b)) for a, b in BYTES),
)
"""K, and types of D, A and B."""

WARPGROUP_FORMS = (
    *(("f16", "f16", "f16"), ("f32", "f16", "f16")),
    *(("f32", "bf16", "bf16"), ("f32", "tf32", "tf32")),
    *((d, a, b) for d in ("f16", "f32") for a, b in BYTES),
    *(("s32", a, b) for a, b in SMALL),
)


def selectors(k: int, element: str) -> range:
    """Return the selectors of a form: lanes of four, or pairs of them, that have metadata."""
    chunks = k // (2 if element == "tf32" else 4)
    return range(16 // chunks)


def _case(family: str, name: str, kernel: MatrixKernel, block: int = 32) -> Case:
    text = kernel_text(kernel.body, pointers(kernel.names), version="8.8")
    return Case(
        family, name, text, tuple(kernel.arguments), block=block, wanted=kernel.wanted,
        by_ptxas=True,
    )  # fmt: skip


def sparse_cases() -> Iterator[Case]:
    """Yield `mma.sp` and `wgmma.mma_async.sp` of every type, with every selector."""
    for k, types in WARP_FORMS:
        for selector, ordered in product(selectors(k, types[1]), (False, True)):
            name = f"k{k} {'.'.join(types)} {selector}{' ordered' * ordered}"
            kernel = sparse_warp_product(k, types, selector, rng_of(name), ordered=ordered)
            yield _case("mma.sp", name, kernel)
    for types in WARPGROUP_FORMS:
        bits = BITS[types[1]]
        for selector, in_registers in product(range(1 if bits == 8 else 2), (False, True)):
            for n, modes in ((8, ("none", "none")), (32, ("32B", "64B")), (32, ("128B", "128B"))):
                name = f"{'.'.join(types)} n{n} {'/'.join(modes)} {selector}"
                name += " registers" * in_registers
                kernel = sparse_warpgroup_product(
                    types, n, modes, ("k", "k"), selector, rng_of(name), in_registers=in_registers
                )
                yield _case("wgmma.sp", name, kernel, 128)
    types = ("f32", "f16", "f16")
    for majors, mode in product((("mn", "k"), ("k", "mn"), ("mn", "mn")), ("none", "64B", "128B")):
        name = f"{majors} {mode}"
        kernel = sparse_warpgroup_product(types, 64, (mode, mode), majors, 0, rng_of(name))
        yield _case("wgmma.sp", name, kernel, 128)
    for signs in ((1, -1), (-1, -1)):
        name = f"signs {signs}"
        kernel = sparse_warpgroup_product(
            types, 16, ("128B", "128B"), ("k", "k"), 1, rng_of(name), signs=signs
        )
        yield _case("wgmma.sp", name, kernel, 128)
