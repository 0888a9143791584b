"""Operands A as K x M and B as N x K: their majors, and what is rejected."""

from __future__ import annotations

import re

import numpy as np
import pytest

from kernels import Gemm
from kernels.mutations import all_of, replacing
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.emission import OpError

KERNEL = Gemm(bm=64, bn=64, bk=64, consumers=1, form="scalar", b="nk")


def test_the_instruction_reads_b_k_major() -> None:
    """Of the last two immediates of wgmma, the second says that B is MN-major."""
    for b, immediate in (("nk", "0"), ("kn", "1")):
        ptx = compile(Gemm(bm=64, bn=64, bk=64, consumers=1, b=b).text()).ptx
        products = re.findall(r"wgmma\.mma_async[^;]*?, (\d), (\d);", ptx)
        assert products
        assert set(products) == {("0", immediate)}


@pytest.mark.parametrize("first", [0, 64])
def test_some_columns_of_b(first: int) -> None:
    """A slice of rows of the tile in memory, transposed: the columns from `first` on."""
    kernel = Gemm(bm=64, bn=128, bk=64, consumers=1, form="scalar", b="nk")
    text = all_of(
        replacing("128xf16, #nv_tileas.shared<(64,128)", "64xf16, #nv_tileas.shared<(64,64)"),
        replacing("!acc = tensor<64x128xf32>", "!acc = tensor<64x64xf32>"),
        replacing("!out = tensor<64x128xf32>", "!out = tensor<64x64xf32>"),
        replacing("tiled_view<64x128xf32, gmem>", "tiled_view<64x64xf32, gmem>"),
        replacing(
            "%of_rows = nv_tileas.view %sb : !bt -> !b",
            f"%rows = nv_tileas.extract_slice %sb[{first}, 0][64, 64][1, 1] : "
            "!bt -> tensor<64x64xf16>\n"
            "    %of_rows = nv_tileas.view %rows : tensor<64x64xf16> -> !b",
        ),
    )(kernel.text())
    a, b, c = kernel.make_inputs(np.random.default_rng(2), {"m": 64, "n": 128, "k": 128})
    made = compile(text)
    expected = a.astype(np.float64) @ b.astype(np.float64).T[:, first : first + 64]
    emulated, simulated = made.emulate(a, b, c, grid=1), made.simulate(a, b, c, grid=1)
    assert emulated.findings == []
    for found in (emulated.arrays[2], simulated.arrays[2]):
        np.testing.assert_allclose(np.asarray(found)[:, :64], expected, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("kernel", "old", "new", "message"),
    [
        (
            Gemm(bm=64, bn=64, bk=64, consumers=1, form="scalar", element="e4m3"),
            "",
            "",
            "the tensor core cannot read its operand: sm_90a reads 8-bit operands K-major only",
        ),
        (
            KERNEL,
            "        %started = nv_tileas.async.dot %mine, %of_rows",
            "        %again = nv_tileas.view %of_rows : !b -> !b\n"
            "        %started = nv_tileas.async.dot %mine, %again",
            "a transposed tile is A or B of a product; other uses are not lowered yet",
        ),
        (
            KERNEL,
            "        %started = nv_tileas.async.dot %mine, %of_rows, %before {atom = #mma} "
            ": !half, !b",
            "        %put = nv_tileas.convert_layout %of_rows : !b -> "
            "tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>\n"
            "        %started = nv_tileas.async.dot %mine, %put, %before {atom = #mma} : !half, "
            "tensor<64x64xf16, #nv_tileas.shared<(64,64),(64,1),swizzle<3,4,3>>>",
            "transposes 64x64, 16 bits, 1 panels of 64, 128B in shared memory; bytes are",
        ),
        (
            Gemm(bm=128, bn=256, consumers=1, form="scalar", b="nk"),
            "",
            "",
            "takes 256 registers of a thread, which has at most 255: use a tile of 16384 elements "
            "where this one has 32768, or 8 warps where 4 hold it now",
        ),
    ],
)
def test_what_is_refused(kernel: Gemm, old: str, new: str, message: str) -> None:
    with pytest.raises(OpError, match=message):
        compile(replacing(old, new)(kernel.text()))
