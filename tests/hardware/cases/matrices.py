"""Warp and warpgroup MMAs, and matrix moves between registers and shared memory."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
from hardware.cases.case import Case, kernel_text, pointers
from hardware.cases.inputs import rng_of
from support.matrix_kernels import (
    MMA,
    MatrixKernel,
    moved_matrices,
    warp_product,
    warpgroup_product,
)
from support.one_product import FORMS, RESULTS, SHARED_BYTES, Form, M, map_of, operands
from support.one_product import product as product_of
from xdsl.context import Context

from tileas_xdsl.backend.ptx.convert_cute_nvgpu_to_ptx import ConvertCuteNvgpuToPtx
from tileas_xdsl.backend.ptx.printer import ptx_text

MODES = ("none", "32B", "64B", "128B")
MAJORS = tuple(product(("k", "mn"), repeat=2))
TYPES = (
    *(("f32", "f16", "f16"), ("f16", "f16", "f16"), ("f32", "bf16", "bf16")),
    ("f32", "tf32", "tf32"),
    *((d, a, b) for d in ("f16", "f32") for a in ("e4m3", "e5m2") for b in ("e4m3", "e5m2")),
    *(("s32", a, b) for a in ("s8", "u8") for b in ("s8", "u8")),
)
"""Element types of D, A and B."""


def _case(family: str, name: str, kernel: MatrixKernel, **options: Any) -> Case:
    text = kernel_text(kernel.body, pointers(kernel.names))
    return Case(family, name, text, tuple(kernel.arguments), wanted=kernel.wanted, **options)


def matrix_cases() -> Iterator[Case]:
    """Yield cases of `ldmatrix`, `stmatrix` and `mma`."""
    for count, trans in product((1, 2, 4), ("", ".trans")):
        rng = rng_of(f"ldmatrix {count}{trans}")
        yield _case("ldmatrix, stmatrix", f"x{count}{trans}", moved_matrices(count, trans, rng))
    for form in MMA:
        name = " ".join(form)
        yield _case("mma", name, warp_product(*form, rng_of(name)))


def descriptor_cases() -> Iterator[Case]:
    """Yield `wgmma` cases of every swizzle and major mode of both operands."""
    for left, right, majors in product(MODES, MODES, MAJORS):
        name = f"{left} {majors[0]}, {right} {majors[1]}"
        types = ("f32", "bf16", "bf16")
        kernel = warpgroup_product(types, 64, (left, right), majors, rng_of(name))
        yield _case("wgmma descriptors", name, kernel, block=128)


def wgmma_cases() -> Iterator[Case]:
    """Yield `wgmma` cases of every type and many N, with A in shared memory and in registers."""
    for types, in_registers in product(TYPES, (False, True)):
        for mode in MODES:
            name = f"{'.'.join(types)} {mode}{' registers' * in_registers}"
            yield _wgmma(name, types, 32, mode, in_registers=in_registers)
    for n in range(8, 257, 8):
        yield _wgmma(f"f16 n{n}", TYPES[0], n, "128B")
    for n in (8, 24, 32, 48, 96, 160, 256):
        yield _wgmma(f"s8 n{n}", ("s32", "s8", "s8"), n, "128B")
    for signs in product((1, -1), repeat=2):
        yield _wgmma(f"f16 signs {signs}", TYPES[0], 16, "64B", signs=signs)


def _wgmma(name: str, types: tuple[str, str, str], n: int, mode: str, **options: Any) -> Case:
    kernel = warpgroup_product(types, n, (mode, mode), ("k", "k"), rng_of(name), **options)
    return _case("wgmma", name, kernel, block=128)


def printed_cases() -> Iterator[Case]:
    """Yield complete matrix products through tensor maps, as printed by the compiler."""
    for form in FORMS:
        a, b = operands(form, rng_of(str(form)))
        c = np.zeros((M, form.n), RESULTS[form.accumulator])
        wanted = (a.astype(np.float64) @ b.astype(np.float64).T).astype(c.dtype)
        arguments = (map_of(form, "a", a), map_of(form, "b", b), a, c)
        yield Case(
            "products of TMA and wgmma",
            str(form),
            _printed(form),
            arguments,
            block=128,
            shared=SHARED_BYTES,
            wanted={3: wanted},
        )


def _printed(form: Form) -> str:
    module = product_of(form)
    ConvertCuteNvgpuToPtx().apply(Context(), module)
    return ptx_text(module, "sm_90a")
