# pyright: basic
"""What a thread combines before it exchanges with others."""

import pytest

pytest.importorskip("cuda.tile")

from kernels.cutile.rms_norm import rms_norm
from tileas_xdsl.compiler import compile
from tileas_xdsl.threads.reduce.combiner import PARTIAL_SUMS


@pytest.mark.parametrize("columns", [512, 1024])
def test_products_are_added_as_they_are_computed(columns: int) -> None:
    """All squares of a thread but the first few: elements times scales and weights are not."""
    given = f"x: f32[?, ?%16], weight: f32[?%16], y: f32[?, ?%16], rows=1, columns={columns}"
    kernel = compile(rms_norm, target="sm_90a", signature=given)
    elements = columns // kernel.abi.threads
    assert kernel.ptx.count("fma.rn.f32") == elements - PARTIAL_SUMS
    assert kernel.ptx.count("mul.rn.f32") == 2 * elements + PARTIAL_SUMS
