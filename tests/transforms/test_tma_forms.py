"""Forms of TMA that move more than boxes: emulator, interpreter and numpy agree."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.assembling import needs_ptxas
from support.form_kernels import permuted, totals, unrolled
from support.plain_kernels import Launch

from kernels import Gemm
from kernels.mutations import all_of, replacing
from tileas_xdsl.compiler import compile as compile_kernel
from tileas_xdsl.diagnostics.emission import DiagnosticError
from tileas_xdsl.interpreters.tile.faults import SimulationError

ORDERS = (("eager", 0), ("lazy", 0), ("random", 1), ("random", 2))


def rng() -> np.random.Generator:
    return np.random.default_rng(17)


ROWS = {
    "f16-16x64": lambda: permuted(rng(), "f16", 16, 64),
    "f32-8x32": lambda: permuted(rng(), "f32", 8, 32),
    "f16-32x128": lambda: permuted(rng(), "f16", 32, 128),
    "f32-4x8": lambda: permuted(rng(), "f32", 4, 8),
}


def check(launch: Launch, target: str, result: int, *, host_code: bool = False) -> None:
    """The same result from the interpreter and from the emulator in every order, and no finding."""
    made = compile_kernel(launch.text, target, host_code=host_code)
    simulated = made.simulate(*launch.arguments, grid=launch.grid)
    np.testing.assert_array_equal(simulated.arrays[result], launch.expected)
    for order, seed in ORDERS:
        run = made.emulate(*launch.arguments, grid=launch.grid, order=order, seed=seed)
        assert [str(finding) for finding in run.findings] == []
        assert run.finished
        np.testing.assert_array_equal(run.arrays[result], launch.expected)


@pytest.mark.parametrize("name", ROWS)
def test_rows_are_gathered_and_scattered(name: str) -> None:
    check(ROWS[name](), "sm_100a", 1)


PIXELS = {
    "3x3-same": lambda: unrolled(rng(), "f16", (2, 7, 9, 64), ((3, 3), (1, 1)), (1, 1), (32, 64)),
    "3x2-valid": lambda: unrolled(rng(), "f16", (3, 6, 5, 32), ((3, 2), (0, 0)), (0, 0), (16, 16)),
    "2x3-ragged": lambda: unrolled(rng(), "f32", (2, 5, 6, 40), ((2, 3), (1, 0)), (0, 2), (16, 32)),
    "1x1": lambda: unrolled(rng(), "f32", (1, 4, 4, 8), ((1, 1), (0, 0)), (0, 0), (8, 8)),
}


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("name", PIXELS)
def test_pixels_are_unrolled(name: str, target: str) -> None:
    check(PIXELS[name](), target, 1)


@needs_ptxas
@pytest.mark.parametrize("name", [*ROWS, *PIXELS])
def test_ptxas_is_content(name: str) -> None:
    target = "sm_100a" if name in ROWS else "sm_90a"
    launch = {**ROWS, **PIXELS}[name]()
    for arch in {target, "sm_100a"}:
        assembled = compile_kernel(launch.text, arch).assemble()
        assert assembled.messages == ()
        assert (assembled.spills, assembled.stack) == (0, 0)


def test_what_the_ptx_says() -> None:
    """An instruction for each four rows of a panel; offsets of pixels in 16 bits."""
    text = compile_kernel(ROWS["f16-32x128"]().text, "sm_100a").ptx
    head = "cp.async.bulk.tensor.2d.shared::cluster.global.tile::gather4.mbarrier"
    assert text.count(head) == 32 // 4 * 2
    assert text.count("cp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group") == 16
    text = compile_kernel(PIXELS["3x3-same"]().text).ptx
    assert text.count("cp.async.bulk.tensor.4d.shared::cluster.global.im2col.mbarrier") == 1


def findings(launch: Launch, target: str, old: str, new: str) -> str:
    """What the emulator says of PTX in which something was changed."""
    made = compile_kernel(launch.text, target)
    assert old in made.ptx
    made.ptx = made.ptx.replace(old, new)
    run = made.emulate(*launch.arguments, grid=launch.grid)
    assert run.findings
    return " ".join(line for f in run.findings for line in (f.message, *f.story))


def test_bytes_that_were_not_announced_are_found() -> None:
    rows, pixels = ROWS["f16-16x64"](), PIXELS["3x3-same"]()
    for launch, target, size in ((rows, "sm_100a", 2048), (pixels, "sm_90a", 4096)):
        found = findings(launch, target, f", {size};", f", {size + 512};")
        assert "deadlock" in found, found


def test_rows_need_the_fence_of_their_writers() -> None:
    found = findings(ROWS["f16-16x64"](), "sm_100a", "fence.proxy.async.shared::cta;", "")
    assert "proxy" in found


@pytest.mark.parametrize(
    ("make", "target", "old", "new", "says"),
    [
        (ROWS["f16-16x64"], "sm_90a", "", "", "moves rows by their numbers, which sm_90a cannot"),
        (
            ROWS["f16-16x64"],
            "sm_100a",
            "tensor<16xi32>, !nv_tileas.mem_token",
            "tensor<12xi32>, !nv_tileas.mem_token",
            "12xi32",
        ),
        (ROWS["f16-16x64"], "sm_100a", "tx_count = 2048", "tx_count = 2040", "tx_count is 2040"),
        (
            lambda: permuted(rng(), "f32", 8, 4),
            "sm_100a",
            "",
            "",
            "moves rows of 16 bytes, but 4 of them are a multiple of 128",
        ),
        (
            PIXELS["3x3-same"],
            "sm_90a",
            ", pixel_lower = array<i32: -1, -1>, pixel_upper = array<i32: -1, -1>, "
            "filter = array<i32: 3, 3>",
            "",
            "loads pixels, but its descriptor says no corners of them",
        ),
    ],
)
def test_what_is_refused(
    make: Callable[[], Launch], target: str, old: str, new: str, says: str
) -> None:
    text = make().text
    assert old in text
    with pytest.raises(DiagnosticError, match=says):
        compile_kernel(text.replace(old, new) if old else text, target)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("addi %column, %left", "addi %column, %columns", "begins at pixel 64 of dimension 2"),
        ("stage[%k, %n", "stage[%columns, %n", "takes tap 64 of a filter that has 9"),
    ],
)
def test_what_the_interpreter_refuses(old: str, new: str, says: str) -> None:
    launch = PIXELS["3x3-same"]()
    assert old in launch.text
    with pytest.raises((SimulationError, DiagnosticError), match=says):
        compile_kernel(launch.text.replace(old, new)).simulate(*launch.arguments, grid=launch.grid)


SUMS = [
    ("f16", "add"),
    ("f16", "min"),
    ("f32", "add"),
    ("i32", "add"),
    ("i32", "max"),
    ("i32", "umax"),
    ("i32", "umin"),
    ("i32", "xor"),
]


@pytest.mark.parametrize(("element", "mode"), SUMS)
@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_tiles_are_reduced(element: str, mode: str, target: str) -> None:
    launch = totals(rng(), element, mode, 16, 32)
    check(launch, target, 1)
    if element == "i32":
        made = compile_kernel(launch.text, target)
        assert ("u32" if mode in ("umin", "umax") else "s32") == made.abi.tensor_maps[0].element


@pytest.mark.parametrize("mode", ["add", "umax"])
def test_host_code_encodes_maps_of_sums(mode: str) -> None:
    check(totals(rng(), "i32", mode, 16, 32), "sm_100a", 1, host_code=True)


def test_host_code_encodes_maps_of_rows() -> None:
    check(ROWS["f16-32x128"](), "sm_100a", 1, host_code=True)


def test_host_code_refuses_maps_of_pixels() -> None:
    with pytest.raises(DiagnosticError, match="expect lower MakeTiledTMADescOp"):
        compile_kernel(PIXELS["1x1"]().text, host_code=True)


@needs_ptxas
@pytest.mark.parametrize("mode", ["add", "max", "umin", "and"])
def test_ptxas_takes_reductions(mode: str) -> None:
    launch = totals(rng(), "i32", mode, 8, 32)
    for target in ("sm_90a", "sm_100a"):
        assert compile_kernel(launch.text, target).assemble().messages == ()


def test_signs_of_one_descriptor_agree() -> None:
    text = totals(rng(), "i32", "umin", 16, 32).text
    first = next(line for line in text.splitlines() if "tiled_atomic_rmw" in line)
    again = first.replace("%u =", "%u2 =").replace("umin", "max").replace("op = min", "op = max")
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
    launch = ROWS["f16-16x64"]()
    loads = [line for line in launch.text.splitlines() if "%which = " in line]
    text = launch.text.replace(loads[0], "%which = arith.constant dense<3> : tensor<16xi32>")
    a, b, _, put = launch.arguments
    expected = b.copy()
    expected[put[(put >= 0) & (put < len(b))]] = 2 * a[3]
    check(Launch(text, launch.arguments, launch.grid, expected), "sm_100a", 1)
