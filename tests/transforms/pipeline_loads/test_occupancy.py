"""Registers leave room for 32 warps of a multiprocessor, or two blocks that multiply; no spills."""

from __future__ import annotations

import re

import numpy as np
import pytest

from kernels.cutile.layer_norm import layer_norm, problem
from kernels.cutile.rms_norm import rms_norm
from kernels.cutile.softmax import softmax
from tests.cutile_products import routed, scaled
from tests.support.assembling import needs_ptxas
from tests.transforms.pipeline_loads.streamed_kernels import divergences
from tileas_xdsl.compiler import CompiledKernel, compile


def _softmax(element: str, columns: int, target: str = "sm_90a") -> CompiledKernel:
    matrix = f"{element}[?, ?%8]"
    signature = f"x: {matrix}, y: {matrix}, rows=1, columns={columns}"
    return compile(softmax, target=target, signature=signature)


def _blocks(kernel: CompiledKernel) -> int:
    found = re.search(r"\.minnctapersm (\d+)", kernel.ptx)
    assert found is not None
    return int(found[1])


@needs_ptxas
@pytest.mark.parametrize(
    ("columns", "blocks", "target"),
    [(4096, 8, "sm_90a"), (16384, 3, "sm_90a"), (16384, 2, "sm_100a")],
)
def test_blocks_of_softmax_share_a_multiprocessor(columns: int, blocks: int, target: str) -> None:
    """32 elements a thread: masks of stores are not kept from those of loads.

    Three rows of 64 KiB fit the shared memory of a multiprocessor; what the model knows of an H200
    lets it keep them there, and have a third block in place of registers for two.
    """
    kernel = _softmax("f32", columns, target)
    assembled = kernel.assemble()
    assert _blocks(kernel) == blocks
    assert assembled.registers <= 64
    assert assembled.spills == 0


def test_rows_that_fill_registers_are_alone() -> None:
    """64 elements of a thread leave no room for another block of 16 warps."""
    assert _blocks(_softmax("f32", 32768)) == 1


@needs_ptxas
def test_blocks_of_few_warps_share_a_multiprocessor_where_registers_may_suffice() -> None:
    """Eight warps, that load, reduce and store in turn, wait all at once."""
    rows = "bf16[?, ?%8]"
    signature = f"x: {rows}, y: {rows}, loss: f32[?, ?%8], gradient: {rows}, columns=4096"
    kernel = compile(divergences, target="sm_90a", signature=signature)
    assembled = kernel.assemble()
    assert (kernel.abi.threads, _blocks(kernel)) == (256, 2)
    assert assembled.registers <= 128
    assert assembled.spills == 0


@needs_ptxas
def test_weights_on_their_way_to_rows_take_no_registers() -> None:
    matrix = "bf16[?, ?%8]"
    signature = f"x: {matrix}, weight: bf16[?%8], y: {matrix}, rows=1, columns=4096"
    kernel = compile(rms_norm, target="sm_90a", signature=signature)
    assert _blocks(kernel) == 8
    assert kernel.assemble().spills == 0


@needs_ptxas
def test_scales_of_columns_leave_room_for_two_blocks_that_multiply() -> None:
    """A broadcast is made where it is read: 128 sums of a thread are all that it keeps."""
    matrix = "f16[?, ?%8]"
    signature = f"a: {matrix}, b: {matrix}, scale: f32[?], c: {matrix}, tm=128, tn=128, tk=64"
    kernel = compile(scaled, target="sm_90a", signature=signature)
    assert _blocks(kernel) == 2
    assert kernel.assemble().spills == 0


@needs_ptxas
def test_two_warpgroups_share_the_columns_of_what_one_has_no_registers_for() -> None:
    """64 rows of 256 logits, their powers and their ones: 128 registers each in one warpgroup."""
    signature = "x: bf16[?, ?%8], w: bf16[?, ?%8], shares: f32[?, ?%4], counts: i32[?]"
    kernel = compile(routed, target="sm_90a", signature=f"{signature}, tm=64, tn=256, tk=64")
    assert kernel.abi.threads == 3 * 128
    assert kernel.assemble().spills == 0


@needs_ptxas
@pytest.mark.parametrize(("columns", "blocks"), [(4096, 8), (16384, 2)])
def test_squares_for_a_sum_alone_take_no_registers(columns: int, blocks: int) -> None:
    matrix, line, means = "f16[?, ?%8]", "f16[?%8]", "means: f32[?], scales: f32[?]"
    signature = f"x: {matrix}, w: {line}, b: {line}, y: {matrix}, {means}"
    kernel = compile(
        layer_norm, target="sm_90a", signature=f"{signature}, rows=1, columns={columns}"
    )
    assert _blocks(kernel) == blocks
    assert kernel.assemble().registers <= 64


@needs_ptxas
def test_a_row_that_fits_is_loaded_once() -> None:
    """64 elements a thread; counted with weights and squares they would be cut in chunks."""
    matrix, line, means = "f16[?, ?%8]", "f16[?%8]", "means: f32[?], scales: f32[?]"
    signature = f"x: {matrix}, w: {line}, b: {line}, y: {matrix}, {means}"
    kernel = compile(layer_norm, target="sm_90a", signature=f"{signature}, rows=1, columns=32768")
    assert "scf.for" not in kernel.ir("tileas-chunk-tiles")
    assert kernel.assemble().spills == 0


@pytest.mark.parametrize("n", [104, 98])
def test_one_comparison_decides_for_all_positions_below_a_multiple(n: int) -> None:
    """A thread has four columns: one test where 4 divides their number, two where only 2 does.

    There it has two words, 64 columns apart, and the second one of the rows, of both lines and of
    what is stored has a test of its own: the distance to the end of the row with a constant.
    """
    found = problem("f16", 9, n, 4, 128)
    arguments = found.make(np.random.default_rng(n))
    kernel = compile(layer_norm, *arguments, target="sm_90a")
    run = kernel.emulate(*arguments, grid=found.grid)
    assert not run.findings
    assert found.check(arguments, run.arrays).is_right
    tests = re.findall(r"setp\.lt\.s32 %p\d+, %r\d+, (?:%r|-)", kernel.ptx)
    assert len(tests) == {104: 1, 98: 2 + 4}[n]


def test_warpgroups_are_as_many_as_have_rows_of_every_product() -> None:
    """The first loop could have two, for the sums of 128 rows; the second one has 64 rows."""
    pytest.importorskip("cuda.tile")
    from tests.threads.dot.operands import computed_operands

    signature = "a: f16[?, ?%8], b: f16[?, ?%8], out: f32[?, ?%8], rows: i32"
    kernel = compile(computed_operands.two_heights, target="sm_90a", signature=signature)
    assert "wgmma.mma_async.sync.aligned.m64n8k16" in kernel.ptx
    assert "wgmma.mma_async.sync.aligned.m64n64k16" in kernel.ptx
