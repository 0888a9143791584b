"""Resident CTAs of kernels that load, compute each element, and store."""

import re
from typing import Any

import pytest

pytest.importorskip("cuda.tile")

from kernels.cutile.activations import gelu_erf, gelu_tanh, silu
from kernels.cutile.softmax import softmax
from tests.support.assembling import needs_ptxas
from tileas_xdsl.compiled_kernel import CompiledKernel
from tileas_xdsl.compiler import compile

VECTORS = "x: f16[?%16], y: f16[?%16], tile={}"


def _asked(kernel: CompiledKernel) -> int:
    """The CTAs of a multiprocessor that ptxas leaves registers for."""
    found = re.search(r"\.minnctapersm (\d+)", kernel.ptx)
    assert found is not None
    return int(found[1])


@pytest.mark.parametrize(("tile", "ctas"), [(1024, 16), (2048, 12), (4096, 6)])
def test_enough_bytes_are_on_their_way(tile: int, ctas: int) -> None:
    """48 KiB of 16-bit elements, or as much as 64 warps have."""
    kernel = compile(gelu_tanh, target="sm_90a", signature=VECTORS.format(tile))
    assert _asked(kernel) == ctas


@needs_ptxas
@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
@pytest.mark.parametrize("tile", [1024, 2048, 4096])
@pytest.mark.parametrize("kernel", [gelu_tanh, gelu_erf], ids=["tanh", "erf"])
def test_registers_suffice(kernel: Any, tile: int, target: str) -> None:
    """The divisions of gelu by the error function need no path for extreme operands."""
    made = compile(kernel, target=target, signature=VECTORS.format(tile))
    assert _asked(made) * tile >= 16 * 1024
    assert made.assemble().spills == 0


def test_a_branch_of_all_elements_needs_registers() -> None:
    """The divisions of a sigmoid have such a path."""
    kernel = compile(silu, target="sm_90a", signature=VECTORS.format(2048))
    assert _asked(kernel) < 12


def test_rows_that_are_reduced_do_not_stream() -> None:
    signature = "x: f16[?, ?%16], y: f16[?, ?%16], rows=1, columns=1024"
    assert _asked(compile(softmax, target="sm_90a", signature=signature)) * 2 <= 32
