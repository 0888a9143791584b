"""Forms of TMA that move more than boxes: emulator, interpreter and numpy agree."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from support.assembling import needs_ptxas

from kernels import Combine, Gemm, Kernel, Permute, Sizes, Unroll
from kernels.compiled import ORDERS
from kernels.elements import Array
from kernels.mutations import all_of, replacing
from tests.support.orders import some
from tileas_xdsl.compiler import compile as compile_kernel
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.interpreters.tile.faults import SimulationError


def inputs(kernel: Kernel, sizes: Sizes | None = None) -> Sequence[Array]:
    return kernel.make_inputs(np.random.default_rng(17), sizes or kernel.sizes)


def check(
    kernel: Kernel, target: str, sizes: Sizes | None = None, *, host_code: bool = False
) -> None:
    """The same result from the interpreter and from the emulator in two orders, and no finding."""
    sizes = sizes or kernel.sizes
    made = compile_kernel(kernel.text(), target, host_code=host_code)
    given, grid = inputs(kernel, sizes), kernel.grid(sizes)
    assert kernel.check(given, made.simulate(*given, grid=grid).arrays).is_right
    for order, seed in some(ORDERS, (kernel, target, sizes), 2):
        run = made.emulate(*given, grid=grid, order=order, seed=seed)
        assert [str(finding) for finding in run.findings] == []
        assert run.finished
        assert kernel.check(given, run.arrays).is_right


ROWS = (
    Permute("f16", 16, 64),
    Permute("f32", 8, 32),
    Permute("bf16", 32, 128),
    Permute("f32", 4, 8),
)


def around(kernel: Permute) -> Sizes:
    """A matrix that ends within tiles."""
    return {"m": 3 * kernel.rows + 5, "n": 2 * kernel.columns + kernel.columns // 2}


@pytest.mark.sample(2)
@pytest.mark.parametrize("kernel", ROWS, ids=str)
def test_rows_are_gathered_and_scattered(kernel: Permute) -> None:
    check(kernel, "sm_100a", around(kernel))


def image(batch: int, height: int, width: int, channels: int) -> Sizes:
    return {"batch": batch, "height": height, "width": width, "channels": channels}


SAME = Unroll(columns=64)
PIXELS = {
    "3x3-same": (SAME, image(2, 7, 9, 64)),
    "3x2-valid": (
        Unroll("bf16", 3, 2, top=0, left=0, bottom=0, right=0, pixels=16, columns=16),
        image(3, 6, 5, 32),
    ),
    "2x3-ragged": (
        Unroll("f32", 2, 3, top=0, left=2, bottom=1, right=0, pixels=16, columns=32),
        image(2, 5, 6, 40),
    ),
    "1x1": (
        Unroll("f32", 1, 1, top=0, left=0, bottom=0, right=0, pixels=8, columns=8),
        image(1, 4, 4, 8),
    ),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("name", PIXELS)
def test_pixels_are_unrolled(name: str, target: str) -> None:
    kernel, sizes = PIXELS[name]
    check(kernel, target, sizes)


@pytest.mark.sample(3)
@needs_ptxas
@pytest.mark.parametrize("kernel", [*ROWS, *(kernel for kernel, _ in PIXELS.values())], ids=str)
def test_ptxas_is_content(kernel: Kernel) -> None:
    for arch in {kernel.target, "sm_100a"}:
        assembled = compile_kernel(kernel.text(), arch).assemble()
        assert assembled.messages == ()
        assert (assembled.spills, assembled.stack) == (0, 0)


def test_what_the_ptx_says() -> None:
    """An instruction for each four rows of a panel; offsets of pixels in 16 bits."""
    text = compile_kernel(Permute("f16", 32, 128).text(), "sm_100a").ptx
    head = "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier"
    assert text.count(head) == 32 // 4 * 2
    assert text.count("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group") == 16
    text = compile_kernel(SAME.text()).ptx
    assert text.count("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier") == 1


def findings(kernel: Kernel, old: str, new: str) -> str:
    """What the emulator says of PTX in which something was changed."""
    made = compile_kernel(kernel.text(), kernel.target)
    assert old in made.ptx
    made.ptx = made.ptx.replace(old, new)
    run = made.emulate(*inputs(kernel), grid=kernel.grid(kernel.sizes))
    assert run.findings
    return " ".join(line for f in run.findings for line in (f.message, *f.notes))


def test_bytes_that_were_not_announced_are_found() -> None:
    for kernel, size in ((Permute(), 2048), (Unroll(), 2048)):
        found = findings(kernel, f", {size};", f", {size + 16};")
        assert "deadlock" in found, found


def test_rows_need_the_fence_of_their_writers() -> None:
    assert "proxy" in findings(Permute(), "fence.proxy.async.shared::cta;", "")


CORNERS = (
    ", pixel_lower = array<i32: -1, -1>, pixel_upper = array<i32: -1, -1>, "
    "filter = array<i32: 3, 3>"
)


@pytest.mark.parametrize(
    ("kernel", "target", "old", "new", "says"),
    [
        (
            Permute(),
            "sm_90a",
            "",
            "",
            "by their indices, which needs sm_100a, not sm_90a",
        ),
        (
            Permute(),
            "sm_100a",
            "index, !few, !barrier",
            "index, tensor<12xi32>, !barrier",
            "12xi32",
        ),
        (Permute(), "sm_100a", "tx_count = 2048", "tx_count = 2040", "tx_count is 2040"),
        (
            Permute("f32", 8, 4),
            "sm_100a",
            "",
            "",
            "moves rows of 16 bytes, but 4 of them are a multiple of 128",
        ),
        (
            Unroll(),
            "sm_90a",
            CORNERS,
            "",
            "loads pixels, but its descriptor says no corners of them",
        ),
    ],
)
def test_what_is_refused(kernel: Kernel, target: str, old: str, new: str, says: str) -> None:
    text = kernel.text()
    assert old in text
    with pytest.raises(DiagnosticError, match=says):
        compile_kernel(text.replace(old, new) if old else text, target)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("addi %column, %left", "addi %column, %columns", "begins at pixel 32 of dimension 2"),
        ("stage[%k, %n", "stage[%columns, %n", "takes tap 32 of a filter that has 9"),
    ],
)
def test_what_the_interpreter_refuses(old: str, new: str, says: str) -> None:
    kernel = Unroll()
    text = kernel.text()
    assert old in text
    with pytest.raises((SimulationError, DiagnosticError), match=says):
        compile_kernel(text.replace(old, new)).simulate(
            *inputs(kernel), grid=kernel.grid(kernel.sizes)
        )


SUMS = (
    Combine("f16"),
    Combine("bf16", "min"),
    Combine("f32"),
    Combine("i32"),
    Combine("i32", "max"),
    Combine("i32", "umax"),
    Combine("i64", "umin"),
    Combine("i32", "xor"),
)


@pytest.mark.sample(8)
@pytest.mark.parametrize("kernel", SUMS, ids=str)
@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_tiles_are_reduced(kernel: Combine, target: str) -> None:
    check(kernel, target)
    if kernel.element == "i32":
        made = compile_kernel(kernel.text(), target)
        assert ("u32" if kernel.mode == "umax" else "s32") == made.abi.tensor_maps[0].element


@pytest.mark.parametrize("mode", ["add", "umax"])
def test_host_code_encodes_maps_of_sums(mode: str) -> None:
    check(Combine("i32", mode), "sm_100a", host_code=True)


def test_host_code_encodes_maps_of_rows() -> None:
    check(Permute("f16", 32, 128), "sm_100a", host_code=True)


@pytest.mark.parametrize("name", ["3x3-same", "2x3-ragged"])
def test_host_code_encodes_maps_of_pixels(name: str) -> None:
    kernel, sizes = PIXELS[name]
    check(kernel, "sm_90a", sizes, host_code=True)


@needs_ptxas
@pytest.mark.parametrize("mode", ["add", "max", "umin", "and"])
def test_ptxas_takes_reductions(mode: str) -> None:
    for target in ("sm_90a", "sm_100a"):
        assert compile_kernel(Combine("i32", mode, 8).text(), target).assemble().messages == ()


def test_signs_of_one_descriptor_agree() -> None:
    text = Combine("i32", "umin").text()
    first = next(line for line in text.splitlines() if "tiled_atomic_rmw" in line)
    again = (
        first.replace("%done =", "%again =")
        .replace("umin", "max")
        .replace("#combine", "#nv_tileas<atom tma_redg_2d<box = [32, 16], op = max>>")
    )
    with pytest.raises(DiagnosticError, match="compares integers otherwise than others"):
        compile_kernel(text.replace(first, f"{first}\n{again}"))


def test_products_are_added_to_what_is_there() -> None:
    """The sums of a GEMM go from the registers of the tensor core to a reduction."""
    gemm = Gemm(bm=64, bn=64, bk=64, consumers=1, stages=2, epilogue="tma")
    text = all_of(
        replacing("#nv_tileas<atom tma_store_2d", "#nv_tileas<atom tma_redg_2d"),
        replacing("nv_tileas.async.tiled_tma_store", "nv_tileas.async.tiled_atomic_rmw add"),
    )(gemm.text())
    a, b, c = gemm.make_inputs(np.random.default_rng(2), {"m": 100, "n": 72, "k": 128})
    c[:] = np.random.default_rng(3).standard_normal(c.shape).astype(c.dtype)
    expected = c.astype(np.float64) + a.astype(np.float64) @ b.astype(np.float64)
    made = compile_kernel(text)
    found = made.simulate(a, b, c, grid=(2, 2)).arrays[2]
    np.testing.assert_allclose(found, expected, rtol=2.0**-9, atol=2.0**-9)
    for order, seed in ORDERS:
        run = made.emulate(a, b, c, grid=(2, 2), order=order, seed=seed)
        assert [str(finding) for finding in run.findings] == []
        np.testing.assert_allclose(run.arrays[2], expected, rtol=2.0**-9, atol=2.0**-9)


def test_rows_that_are_all_the_same() -> None:
    """Numbers that are a constant are in no memory."""
    kernel = Permute()
    text = kernel.text()
    loads = [line for line in text.splitlines() if "%which = " in line]
    made = compile_kernel(
        text.replace(loads[0], "%which = arith.constant dense<3> : tensor<16xi32>"), "sm_100a"
    )
    a, b, taken, put = inputs(kernel)
    same = (a, b, np.full_like(taken, 3), put)
    grid = kernel.grid(kernel.sizes)
    for run in (
        made.simulate(a, b, taken, put, grid=grid),
        made.emulate(a, b, taken, put, grid=grid),
    ):
        assert kernel.check(same, (a, run.arrays[1], same[2], put)).is_right
