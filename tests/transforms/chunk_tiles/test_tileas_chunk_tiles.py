"""Tiles that do not fit registers, computed chunk by chunk: the same results, and no spills."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

import tileas_xdsl as tileas
from tests.support.assembling import needs_ptxas
from tileas_xdsl.compiler import CompiledKernel
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of

pytest.importorskip("cuda.tile")

from tests.transforms.chunk_tiles import chunked_kernels as kernels

RNG = np.random.default_rng(8)


def random(*shape: int, element: Any = np.float32) -> NDArray[Any]:
    return RNG.standard_normal(shape).astype(element)


def softmax(x: NDArray[Any]) -> NDArray[Any]:
    powers = np.exp(x - x.max(axis=1, keepdims=True))
    return powers / powers.sum(axis=1, keepdims=True)


def compiled(name: str, *args: NDArray[Any] | int, target: str = "sm_90a") -> CompiledKernel:
    return tileas.compile(getattr(kernels, name), *args, target=target)


def is_chunked(kernel: CompiledKernel) -> bool:
    """Whether a program without loops has one."""
    return any(op.name == "scf.for" for op in kernel.module_after("tileas-choose-tma").walk())


def check(
    name: str, target: str, *args: NDArray[Any] | int, wanted: NDArray[Any]
) -> CompiledKernel:
    """The last array is what the kernel writes, on the emulator, without findings."""
    kernel = compiled(name, *args, target=target)
    found = kernel.emulate(*args, order="random")
    assert [str(finding) for finding in found.findings] == []
    tolerance = 2e-2 if wanted.dtype == np.float16 else 1e-4
    written = [array for array in found.arrays if isinstance(array, np.ndarray)][-1]
    np.testing.assert_allclose(written, wanted, atol=tolerance, rtol=tolerance)
    return kernel


@pytest.mark.slow
def test_rows_of_a_softmax() -> None:
    x = random(500, 256)
    kernel = check("softmax", "sm_90a", x, np.full_like(x, np.nan), wanted=softmax(x))
    assert is_chunked(kernel)


@pytest.mark.slow
def test_coordinates_are_those_of_the_whole_tile() -> None:
    x, places = random(65536), np.arange(65536)
    wanted = np.where(places % 3 == 0, np.exp(x), x * places).astype(np.float32)
    kernel = check("positions", "sm_90a", x, np.full_like(x, np.nan), wanted=wanted)
    assert is_chunked(kernel)


@pytest.mark.slow
def test_a_store_that_waits_for_all_of_its_load_is_not_cut() -> None:
    x = random(256, 512)
    assert not is_chunked(check("in_place", "sm_90a", x, wanted=x * 2 + 1))


@pytest.mark.parametrize("target", ["sm_90a", pytest.param("sm_100a", marks=pytest.mark.slow)])
def test_a_product_of_256_rows_and_columns(target: str) -> None:
    a, b = random(256, 64, element=np.float16), random(64, 256, element=np.float16)
    wanted = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
    check("product", target, a, b, np.full((256, 256), np.nan, np.float16), wanted=wanted)


@pytest.mark.parametrize(
    ("target", "instruction"),
    [("sm_90a", "wgmma"), pytest.param("sm_100a", "tcgen05", marks=pytest.mark.slow)],
)
def test_a_product_of_512_columns(target: str, instruction: str) -> None:
    a, b = random(128, 32, element=np.float16), random(32, 512, element=np.float16)
    wanted = (a.astype(np.float32) @ b.astype(np.float32)).astype(np.float16)
    kernel = check(
        "wide_product", target, a, b, np.full((128, 512), np.nan, a.dtype), wanted=wanted
    )
    assert f"{instruction}.mma" in kernel.ptx


@pytest.mark.parametrize("target", ["sm_90a", pytest.param("sm_100a", marks=pytest.mark.slow)])
def test_a_long_product_fills_the_stages_of_a_pipeline(target: str) -> None:
    a, b = random(64, 104, element=np.float16), random(64, 104, element=np.float16)
    wanted = a.astype(np.float32) @ b.astype(np.float32).T + 1
    kernel = check("long_product", target, a, b, np.full_like(wanted, np.nan), wanted=wanted)
    assert is_chunked(kernel)
    assert "mbarrier.try_wait" in kernel.ptx


def attention_of(size: int) -> tuple[list[NDArray[Any] | int], NDArray[Any]]:
    """Arguments of causal attention of 256 rows, and what it writes."""
    q, k, v = (random(256, size, element=np.float16) for _ in range(3))
    scores = q.astype(np.float32) @ k.astype(np.float32).T * np.float32(0.1)
    scores = np.where(np.tri(256, dtype=bool), scores, -np.inf)
    wanted = (softmax(scores) @ v.astype(np.float32)).astype(np.float16)
    return [q, k, v, np.full_like(q, np.nan), size], wanted


@pytest.mark.slow
@needs_ptxas
@pytest.mark.parametrize(("target", "size"), [("sm_90a", 128), ("sm_90a", 64), ("sm_100a", 128)])
def test_attention_of_256_rows(target: str, size: int) -> None:
    args, wanted = attention_of(size)
    kernel = check("attention", target, *args, wanted=wanted)
    assert ("tcgen05.mma" in kernel.ptx) == (target == "sm_100a")
    assert kernel.assemble().spills == 0


def test_scores_and_sums_that_fill_two_warpgroups_are_cut() -> None:
    """256x128 scores and 256x64 sums: 192 registers of a thread, of 232 beside a producer."""
    args, _ = attention_of(64)
    cut = compiled("attention", *args).module_after("tileas-chunk-tiles")
    loops = [op for op in cut.walk() if op.name == "scf.for"]
    halves, *over_keys = loops
    assert all(op.parent_op() is halves for op in over_keys)
    assert {shape_of(op.results[1].type) for op in over_keys} == {(128, 64)}


def recurrence_of(rows: int) -> tuple[list[NDArray[Any]], NDArray[Any]]:
    """Arguments of linear attention in chunks of 64 rows, and what it writes."""
    q, k, v = (random(rows, columns, element=np.float16) / 8 for columns in (256, 256, 128))
    state, wanted = np.zeros((256, 128), np.float32), np.zeros((rows, 128), np.float16)
    for n in range(0, rows, 64):
        x, y, z = (array[n : n + 64].astype(np.float32) for array in (q, k, v))
        wanted[n : n + 64] = (x @ y.T) @ z + x @ state
        state = state * 0.5 + (y * 0.5).T @ z
    return [q, k, v, np.full_like(wanted, np.nan)], wanted


@pytest.mark.slow
@needs_ptxas
@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_columns_of_a_state_are_cut_to_32_where_64_do_not_fit(target: str) -> None:
    args, wanted = recurrence_of(128)
    kernel = check("recurrence", target, *args, wanted=wanted)
    loops = [op for op in kernel.module_after("tileas-chunk-tiles").walk() if op.name == "scf.for"]
    assert [shape_of(value.type) for op in loops for value in op.results] == [(256, 32)]
    assert kernel.assemble(strict=False).spills < 1024


def test_sums_that_are_computed_further_behind_a_loop_are_not_cut() -> None:
    """They fill 128 registers of two warpgroups; what comes behind is computed as it is stored."""
    kernel = compiled("gated_sums", *[np.zeros((128, 128), np.float16)] * 4)
    assert ".reqntid 384," in kernel.ptx


def test_two_warpgroups_share_what_one_does_not_hold() -> None:
    a, *others = (random(*shape, element=np.float16) for shape in ((64, 32), (32, 256), (32, 256)))
    first, second = (a.astype(np.float32) @ x.astype(np.float32) for x in others)
    wanted = first * np.exp(-second * second)
    kernel = check(
        "two_products", "sm_90a", a, *others, np.full_like(wanted, np.nan), wanted=wanted
    )
    assert ".reqntid 256," in kernel.ptx


def test_sums_of_256_rows_are_two_accumulators_beside_one_product_of_scores() -> None:
    q, k, v = (random(*shape, element=np.float16) for shape in ((16, 64), (128, 64), (128, 256)))
    wanted = softmax(q.astype(np.float32) @ k.astype(np.float32).T) @ v.astype(np.float32)
    out = np.full((16, 256), np.nan, np.float16)
    kernel = check("decoding", "sm_100a", q, k, v, out, wanted=wanted.astype(np.float16))
    products = [op for op in kernel.module_after("tileas-chunk-tiles").walk() if "dot" in op.name]
    assert [op.result_types[0].get_shape() for op in products] == [(64, 16), (128, 16), (128, 16)]
    assert "mma.sync" not in kernel.ptx


@pytest.mark.slow
@needs_ptxas
def test_chunks_spill_nothing() -> None:
    x = random(512, 256)
    assert compiled("softmax", x, x).assemble().spills == 0
