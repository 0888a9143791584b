"""Products by mma.sync and fma, of any shape and type, in emulator and interpreter, are numpy's."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from support.assembling import needs_ptxas

from kernels.cutile.matmul import matmul
from kernels.elements import accumulated
from tests.support.tile_ir import TYPES, Array, text_of_tiles
from tileas_xdsl.compiler import CompiledKernel, compile

TARGETS = ("sm_90a", "sm_100a")

E4M3, E5M2, BF16 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e5m2, ml_dtypes.bfloat16

Shape = tuple[int, ...]
"""Batch where there is one, then M, N, K."""

SUMS: dict[Any, Any] = {np.float64: np.float64, np.int8: np.int32}
"""Result element types by operand element type, if not f32."""

CASES: list[tuple[str, Any, Any, Shape]] = [
    ("mma.sync.aligned.m16n8k16", np.float16, np.float32, (16, 8, 16)),
    ("mma.sync.aligned.m16n8k16", BF16, np.float32, (32, 32, 64)),
    ("mma.sync.aligned.m16n8k8", np.float16, np.float16, (128, 4, 8)),
    ("mma.sync.aligned.m16n8k16", np.float16, np.float32, (1, 32, 64)),
    ("mma.sync.aligned.m16n8k16", np.float16, np.float32, (4, 16, 16, 16)),
    ("mma.sync.aligned.m16n8k32", E4M3, np.float32, (32, 16, 64)),
    ("mma.sync.aligned.m16n8k16", E5M2, np.float16, (16, 2, 16)),
    ("mma.sync.aligned.m16n8k32", np.int8, np.int32, (32, 32, 32)),
    ("mma.sync.aligned.m16n8k8", np.float64, np.float64, (32, 16, 8)),
    ("fma.rn.f32", np.float32, np.float32, (32, 32, 16)),
    ("fma.rn.f32", np.float32, np.float32, (1, 64, 8)),
    ("fma.rn.f32", np.float32, np.float32, (2, 8, 16, 8)),
    ("fma.rn.f32", np.float16, np.float16, (16, 16, 4)),
    ("fma.rn.f32", E4M3, np.float32, (8, 8, 8)),
    ("fma.rn.f64", np.float64, np.float64, (8, 8, 2)),
    ("mul.lo.s32", np.int8, np.int32, (16, 16, 8)),
    ("wgmma.mma_async.sync.aligned.m64n32k32", E4M3, np.float32, (64, 32, 64)),
    ("wgmma.mma_async.sync.aligned.m64n32k16", BF16, np.float32, (32, 64, 64)),
    ("wgmma.mma_async.sync.aligned.m64n48k32", np.int8, np.int32, (64, 16, 32)),
]


def factors(shape: Shape, element: Any, result: Any, seed: int) -> tuple[Array, Array, Array]:
    """A, B and C of small integers, all of whose sums are exact."""
    *batch, m, n, k = shape
    rng = np.random.default_rng(seed)
    shapes = ((*batch, m, k), (*batch, k, n), (*batch, m, n))
    a, b, c = (rng.integers(-3, 4, extents) for extents in shapes)
    return a.astype(element), b.astype(element), c.astype(result)


def product(a: Array, b: Array, c: Array, target: str, words: str = "") -> CompiledKernel:
    """Return D = A B + C of one tile each; `words` gives the signedness of integers."""
    tiles = ", ".join(
        f"tile<{'x'.join(map(str, one.shape))}x{TYPES[one.dtype.name]}>" for one in (a, b, c)
    )
    name = f"mmai %a0, %a1, %a2 {words or 'signed signed'}" if a.dtype == np.int8 else ""
    body = f"%r0 = {name or 'mmaf %a0, %a1, %a2'} : {tiles}"
    return compile(text_of_tiles(body, [a, b, c], [c]), target)


def wide(array: Array) -> Array:
    """Elements in which all sums are exact."""
    return array.astype(np.int64 if array.dtype.kind in "iu" else np.float64)


def check(kernel: CompiledKernel, factors: tuple[Array, ...], expected: Array) -> None:
    """Both levels leave the product, whatever was there before."""
    c = factors[2]
    unset = np.full_like(c, 77)
    run = kernel.emulate(*factors, unset, grid=1, order="random", seed=3)
    assert run.findings == []
    for found in (run.arrays[3], kernel.simulate(*factors, unset, grid=1).arrays[3]):
        np.testing.assert_array_equal(wide(np.asarray(found)), wide(expected.astype(c.dtype)))


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    "position", range(len(CASES)), ids=lambda k: f"{CASES[k][0]} {CASES[k][3]}"
)
def test_each_kind_of_product(position: int) -> None:
    instruction, element, result, shape = CASES[position]
    family = instruction.split(".")[0]
    target = TARGETS[0] if family == "wgmma" else TARGETS[position % 2]
    a, b, c = factors(shape, element, result, position)
    kernel = product(a, b, c, target)
    assert instruction.split("m64n")[0] in kernel.ptx
    check(kernel, (a, b, c), wide(a) @ wide(b) + wide(c))


@pytest.mark.sample(5)
@pytest.mark.parametrize("words", ["unsigned signed", "signed unsigned", "unsigned unsigned"])
@pytest.mark.parametrize(
    ("shape", "instruction"),
    [
        ((16, 8, 32), "mma.sync.aligned.m16n8k32.row.col.s32."),
        ((16, 8, 4), "mul.lo.s32"),
        ((64, 16, 64), "wgmma.mma_async.sync.aligned.m64n16k32.s32."),
    ],
)
def test_bytes_without_a_sign(words: str, shape: Shape, instruction: str) -> None:
    rng = np.random.default_rng(4)
    m, n, k = shape
    a, b = (rng.integers(-128, 128, s).astype(np.int8) for s in ((m, k), (k, n)))
    c = rng.integers(-1000, 1000, (m, n)).astype(np.int32)
    read = [
        one.view(np.uint8) if word == "unsigned" else one
        for one, word in zip((a, b), words.split(), strict=True)
    ]
    kernel = product(a, b, c, "sm_90a", words)
    assert instruction in kernel.ptx
    check(kernel, (a, b, c), wide(read[0]) @ wide(read[1]) + wide(c))


def test_f32_is_not_rounded_to_tf32() -> None:
    """Every sum is as near as f32 allows."""
    rng = np.random.default_rng(6)
    a, b, c = (rng.standard_normal(s).astype(np.float32) for s in ((16, 32), (32, 16), (16, 16)))
    kernel = product(a, b, c, "sm_100a")
    expected = wide(a) @ wide(b) + wide(c)
    bound = accumulated(33, np.abs(wide(a)) @ np.abs(wide(b)) + np.abs(wide(c)))
    for run in (kernel.emulate, kernel.simulate):
        found = np.asarray(run(a, b, c, np.zeros_like(c), grid=1).arrays[3])
        assert (np.abs(wide(found) - expected) <= bound).all()


@needs_ptxas
def test_a_loop_of_products_of_f64_reads_stages_that_tma_fills() -> None:
    """With the deepest instruction, no element read twice and nothing spilled beside 128 sums."""
    rng = np.random.default_rng(7)
    a, b = (rng.integers(-9, 9, shape).astype(np.float64) for shape in ((128, 40), (40, 136)))
    kernel = compile(matmul, a, b, c := np.full((128, 136), np.nan), 128, 128, 16)
    consumer = kernel.ptx.partition("setmaxnreg.inc")[2].partition("cp.async.bulk.tensor")[0]
    assert kernel.ptx.count("mbarrier::complete_tx::bytes") == 1 + 8
    assert consumer.count("mma.sync.aligned.m16n8k16.row.col.f64") == 16
    assert consumer.count("ld.shared.v2.f64") + consumer.count("ld.shared.f64") == 8 + 32
    assert kernel.assemble().spills == 0
    run = kernel.emulate(a, b, c, 128, 128, 16, grid=(1, 2))
    assert run.findings == []
    np.testing.assert_array_equal(run.arrays[2], a @ b)


@needs_ptxas
def test_machine_code_spills_nothing() -> None:
    for element, shape in ((np.float16, (32, 64, 64)), (np.float32, (64, 64, 32))):
        kernel = product(*factors(shape, element, np.float32, 1), "sm_90a")
        assert kernel.assemble().spills == 0


ELEMENTS = (np.float16, BF16, np.float32, np.float64, E4M3, E5M2, np.int8)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(60))
def test_random_products(seed: int) -> None:
    rng = np.random.default_rng(100 + seed)
    element = ELEMENTS[seed % len(ELEMENTS)]
    extents = [int(1 << rng.integers(0, 8)) for _ in range(3)]
    batch = [int(1 << rng.integers(0, 3))] if rng.integers(0, 3) == 0 else []
    while np.prod(batch + extents) > 1 << 17:
        extents[int(np.argmax(extents))] //= 2
    result = SUMS.get(element, np.float32)
    a, b, c = factors((*batch, *extents), element, result, seed)
    check(product(a, b, c, TARGETS[seed % 2]), (a, b, c), wide(a) @ wide(b) + wide(c))
