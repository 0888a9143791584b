# pyright: basic
"""Products of products: sums become a factor without leaving the threads that have them."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("cuda.tile")

from kernels.cutile.attention import Attention
from tileas_xdsl.compiler import CompiledKernel

SMALL = Attention(1, 1, 64, 128, 64)


@pytest.fixture(scope="module")
def hopper() -> CompiledKernel:
    return SMALL.problem().compiled("sm_90a")


def loop_of(text: str) -> str:
    """What a kernel does for each tile of keys."""
    return text[text.index("scf.for") : text.index("scf.yield")]


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_scores_stay_where_the_product_leaves_them(target: str) -> None:
    """Masks, maxima, powers and their sums have one layout, values of rows one of their own."""
    kernel = SMALL.problem().compiled(target)
    body = loop_of(kernel.ir("tileas-remove-layout-conversions"))
    made = re.findall(r"= (?:arith|math)\.(?!constant)\w+ .*: tensor<64x64xf32, (#[^>]*>)>", body)
    assert len(made) >= 4
    assert len(set(made)) == 1
    rows = re.findall(r"tensor<64x1xf32, (#[^>]*>)>", body)
    assert len(rows) >= 4
    assert len(set(rows)) == 1
    assert "tensor<64x1xf32>" not in body


def test_factors_go_to_memory_once(hopper: CompiledKernel) -> None:
    """Queries before the loop; in it keys, powers and values."""
    body = loop_of(hopper.ir("tileas-remove-layout-conversions"))
    assert body.count("nv_tileas.convert_layout") == 3


def test_threads_of_a_row_meet_by_shuffles(hopper: CompiledKernel) -> None:
    """Two rows of a thread, two steps among four lanes, for the maximum and for the sum."""
    assert hopper.ptx.count("shfl.sync.bfly") == 2 * 2 * 2
    assert "stmatrix" in hopper.ptx
