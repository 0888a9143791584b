"""A GEMM whose blocks share tiles along K: the emulator and numpy agree, however K is shared."""

from __future__ import annotations

import numpy as np
import pytest

from kernels.compiled import ORDERS, TWO_ORDERS, compiled, emulated
from kernels.kernel import Sizes
from kernels.streamk_gemm import StreamkGemm
from tileas_xdsl.compiler import compile
from tileas_xdsl.pipelines import PIPELINES

KERNELS = (
    StreamkGemm(),
    StreamkGemm(blocks=7, raster="n"),
    StreamkGemm(element="bf16", blocks=5),
    StreamkGemm(blocks=3),
)
FIRST = "arith.cmpi ult, %first, %one : i32"
"""Whether a part is the first one of its tile."""

SIZES: tuple[Sizes, ...] = (
    {"m": 128, "n": 96, "k": 160},
    {"m": 64, "n": 32, "k": 320},
    {"m": 192, "n": 128, "k": 64},
)


FEW = (*((kernel, SIZES[0]) for kernel in KERNELS), *((KERNELS[0], sizes) for sizes in SIZES[1:]))


def check(kernel: StreamkGemm, sizes: Sizes, order: tuple[str, int]) -> None:
    found = emulated(kernel, sizes, order)
    assert [str(finding) for finding in found.emulation.findings] == []
    assert found.is_right, found.deviation


@pytest.mark.parametrize(("kernel", "sizes"), FEW, ids=str)
@pytest.mark.sample(4)
def test_it_computes_what_numpy_does(kernel: StreamkGemm, sizes: Sizes) -> None:
    """Whole tiles, tiles in two parts, and one tile that all blocks share; counters are 0 again."""
    check(kernel, sizes, TWO_ORDERS[0])


@pytest.mark.slow
@pytest.mark.parametrize("sizes", SIZES, ids=str)
@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_it_does_in_every_order(kernel: StreamkGemm, sizes: Sizes) -> None:
    for order in ORDERS:
        check(kernel, sizes, order)


def test_sums_are_the_same_bits_in_every_order() -> None:
    kernel, sizes = KERNELS[0], {"m": 64, "n": 32, "k": 320}
    runs = [emulated(kernel, sizes, order).emulation.arrays[2] for order in TWO_ORDERS]
    np.testing.assert_array_equal(runs[0], runs[1])


BY_HAND = """
    %own = cutlass.tile_scheduler.work_tile_info_get_value %p, %w["m_idx"] : !params -> i32
    %beside = cutlass.tile_scheduler.params_get_value %p["num_tiles_m"] : !params
    %column = arith.muli %tn, %beside : i32
    %tile = arith.addi %column, %own : i32
    %size = arith.constant 2048 : i32
    %behind_tiles = arith.muli %tile, %size : i32
    %sums = cute.add_offset %workspace, %behind_tiles : !sums, i32 -> !sums
    cutlass.tile_scheduler.fixup_wait %p, %w, %workspace thread %t at 1 threads 128
      tile_bytes 8192 : !params, !sums
    %zero = arith.constant 0 : i32
    %adds = arith.cmpi ne, %first, %zero : i32
    scf.if %adds {
      cutlass.block_striped.load_add %rc, %sums thread %t of 128 width 2 : !held, !sums
    }
    cutlass.block_striped.store %rc, %sums thread %t of 128 width 2 : !held, !sums
    cutlass.tile_scheduler.fixup_increment %p, %w, %workspace thread %t at 1 threads 128
      tile_bytes 8192 : !params, !sums
"""


def test_the_steps_of_a_fixup_by_hand() -> None:
    """Who waits, adds, stores and counts by operations of their own has the same sums.

    K is shared by all tiles here: there is room for the sums of each.
    """
    kernel, sizes = KERNELS[0], KERNELS[0].sizes
    line = next(x for x in kernel.text().splitlines() if "tile_scheduler.fixup" in x)
    text = kernel.text().replace(line, BY_HAND)
    made = compile(text, kernel.target, passes=PIPELINES[kernel.pipeline].passes)
    inputs = kernel.make_inputs(np.random.default_rng(3), sizes)
    found = made.emulate(*inputs, grid=kernel.grid(sizes))
    assert [str(finding) for finding in found.findings] == []
    assert kernel.check(inputs, found.arrays).is_right


@pytest.mark.parametrize(
    ("wrong", "right"),
    [
        ("cutlass.tile_scheduler.fixup ", "// "),
        ("cutlass.tile_scheduler.compute_epilogue %p, %w : !params", FIRST),
        ("thread %t at 1 threads 128", "thread %t at 1 threads 96"),
    ],
)
def test_it_needs_the_whole_protocol(wrong: str, right: str) -> None:
    """Without sums of others, the sums of the first part for the whole, too small a group."""
    kernel, sizes = KERNELS[0], KERNELS[0].sizes
    assert wrong in kernel.text()
    text = kernel.text().replace(wrong, right)
    made = compile(text, kernel.target, passes=PIPELINES[kernel.pipeline].passes)
    inputs = kernel.make_inputs(np.random.default_rng(1), sizes)
    found = made.emulate(*inputs, grid=kernel.grid(sizes), limit=200_000)
    assert found.findings or not kernel.check(inputs, found.arrays).is_right


def test_who_finds_counters_of_another_launch_waits() -> None:
    """A counter that is not 0 at first is never what a part waits for."""
    kernel = KERNELS[0]
    inputs = kernel.make_inputs(np.random.default_rng(1), kernel.sizes)
    inputs[3][np.isnan(inputs[3]).sum() :].view(np.int32)[:] = 1
    found = compiled(kernel).emulate(*inputs, grid=kernel.grid(kernel.sizes))
    assert not found.finished
