"""Kernels without products leave registers for 32 warps of a multiprocessor, without spills."""

from __future__ import annotations

import re

import pytest

from kernels.cutile.rms_norm import rms_norm
from kernels.cutile.softmax import softmax
from tests.support.assembling import needs_ptxas
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
@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_eight_blocks_of_four_warps_share_a_multiprocessor(target: str) -> None:
    kernel = _softmax("f32", 4096, target)
    assembled = kernel.assemble()
    assert _blocks(kernel) == 8
    assert assembled.registers <= 64
    assert assembled.spills == 0


def test_rows_that_fill_registers_are_alone() -> None:
    """64 elements of a thread leave no room for another block of 16 warps."""
    assert _blocks(_softmax("f32", 32768)) == 1


@needs_ptxas
def test_weights_take_registers_too() -> None:
    matrix = "bf16[?, ?%8]"
    signature = f"x: {matrix}, weight: bf16[?%8], y: {matrix}, rows=1, columns=4096"
    kernel = compile(rms_norm, target="sm_90a", signature=signature)
    assert 4 <= _blocks(kernel) < 8
    assert kernel.assemble().spills == 0


def test_warpgroups_are_as_many_as_have_rows_of_every_product() -> None:
    """The first loop could have two, for the sums of 128 rows; the second one has 64 rows."""
    pytest.importorskip("cuda.tile")
    from tests.threads.dot import computed_operands

    signature = "a: f16[?, ?%8], b: f16[?, ?%8], out: f32[?, ?%8], rows: i32"
    kernel = compile(computed_operands.two_heights, target="sm_90a", signature=signature)
    assert "wgmma.mma_async.sync.aligned.m64n8k16" in kernel.ptx
    assert "wgmma.mma_async.sync.aligned.m64n64k16" in kernel.ptx
