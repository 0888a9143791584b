"""The GEMMs for sm_100a, from the text that sm_90a has: products in tensor memory."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from support.assembling import needs_nvdisasm, needs_ptxas

from kernels import Gemm, Sizes
from kernels.compiled import ORDERS, TWO_ORDERS, compiled, emulated
from kernels.elements import ELEMENTS
from kernels.simulating import run
from tests.support.orders import some
from tileas_xdsl.backend.sass import disassemble


def _gemm(bm: int = 128, bn: int = 128, bk: int = 64, **parameters: Any) -> Gemm:
    return Gemm(bm=bm, bn=bn, bk=bk, instruction="tcgen05", **parameters)


GEMMS = [
    _gemm(consumers=1),
    _gemm(element="bf16", form="scalar"),
    _gemm(consumers=1, element="bf16", output="bf16", epilogue="tma", stages=5),
    _gemm(element="e4m3", b="nk", bk=128, output="f16", epilogue="tma"),
    _gemm(consumers=1, element="e4m3", cluster=2, form="scalar"),
    _gemm(consumers=1, bn=256, output="f16"),
    _gemm(bn=256, element="bf16", stages=4, epilogue="tma", output="bf16", cluster=2),
    _gemm(bm=256, stages=3),
    _gemm(consumers=1, persistent=2, epilogue="tma"),
    _gemm(persistent=4, cluster=2, group=2, element="e4m3", b="nk", output="f16", epilogue="tma"),
    _gemm(consumers=1, pair=2, b="nk"),
    _gemm(bm=256, stages=2, pair=2, b="nk", element="e4m3", form="scalar"),
    _gemm(
        consumers=1, bn=256, pair=2, b="nk", element="bf16", output="bf16", epilogue="tma",
        persistent=4, group=2,
    ),
]  # fmt: skip
PAIRS = GEMMS[-3:]
RAGGED: Sequence[Sizes] = (
    {"m": 128, "n": 256, "k": 192},
    {"m": 300, "n": 272, "k": 208},
    {"m": 1, "n": 16, "k": 16},
)


def _name(part: Gemm | Sizes) -> str:
    return str(part) if isinstance(part, Gemm) else "x".join(map(str, part.values()))


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("kernel", "sizes"),
    [(kernel, RAGGED[number % len(RAGGED)]) for number, kernel in enumerate(GEMMS)],
    ids=_name,
)
def test_the_ptx_computes_what_numpy_does(kernel: Gemm, sizes: Sizes) -> None:
    for order in some(TWO_ORDERS, (kernel, sizes)):
        found = emulated(kernel, sizes, order)
        assert [str(finding) for finding in found.emulation.findings] == []
        assert found.is_right, (order, found.deviation)


@pytest.mark.slow
@pytest.mark.parametrize("sizes", RAGGED, ids=_name)
@pytest.mark.parametrize("kernel", GEMMS, ids=_name)
def test_the_ptx_computes_it_in_every_order(kernel: Gemm, sizes: Sizes) -> None:
    for order in ORDERS:
        found = emulated(kernel, sizes, order)
        assert [str(finding) for finding in found.emulation.findings] == []
        assert found.is_right, (order, found.deviation)


@pytest.mark.parametrize("kernel", [GEMMS[0], GEMMS[3], GEMMS[8], *PAIRS], ids=_name)
def test_the_ptx_and_the_interpreter_agree(kernel: Gemm) -> None:
    """But for sums, whose order is free: those differ by what rounding explains."""
    sizes = {"m": 130, "n": 80, "k": 144}
    tiles = run(kernel, sizes).simulation.arrays
    ptx = emulated(kernel, sizes).emulation.arrays
    for one, other in zip(tiles, ptx, strict=True):
        a, b = (np.asarray(array).astype(np.float64) for array in (one, other))
        np.testing.assert_allclose(a, b, rtol=0, atol=2.0**-7 * np.abs(a).max())


@needs_ptxas
@pytest.mark.parametrize("kernel", GEMMS, ids=_name)
@pytest.mark.sample(7)
def test_ptxas_is_content(kernel: Gemm) -> None:
    """It says nothing and spills nothing."""
    made = compiled(kernel)
    assembled = made.assemble()
    assert assembled.messages == ()
    assert (assembled.spills, assembled.stack) == (0, 0)
    assert 0 < assembled.registers <= 65536 // made.abi.threads


def test_both_targets_have_one_source() -> None:
    """The texts differ in the name of the instruction alone."""
    for kernel in (_gemm(), _gemm(persistent=2, epilogue="tma")):
        text = kernel.text()
        assert "tcgen05" in text
        hopper = Gemm(bm=128, bn=128, bk=64, persistent=kernel.persistent, epilogue=kernel.epilogue)
        assert hopper.text() == text.replace("tcgen05", "wgmma")


def test_sums_are_double_buffered_where_tiles_follow_one_another() -> None:
    """The columns are twice those of a tile in a persistent kernel, and no more elsewhere."""
    for kernel, columns in ((GEMMS[0], 128), (GEMMS[8], 256), (GEMMS[9], 512), (PAIRS[2], 512)):
        found = re.findall(r"tcgen05\.alloc\S+ \[[^]]+\], (\d+)", compiled(kernel).ptx)
        assert list(map(int, found)) == [columns], kernel


def test_products_are_issued_by_a_warp_of_the_producer() -> None:
    """So that the warps of the consumer have nothing to do with the loop over K."""
    text = compiled(GEMMS[8]).ptx
    products, reads = text.index("tcgen05.mma"), text.index("tcgen05.ld")
    roles = [match.start() for match in re.finditer("setmaxnreg", text)]
    assert roles[0] < products < roles[1] < reads
    assert "tcgen05.mma" not in text[roles[1] :]


@pytest.mark.parametrize("kernel", PAIRS, ids=_name)
def test_one_of_two_blocks_issues_for_both(kernel: Gemm) -> None:
    """Everything that a pair does together is `cta_group::2`; each block loads half of B."""
    text = compiled(kernel).ptx
    assert "cta_group::1" not in text
    steps = kernel.bk * ELEMENTS[kernel.element].bits // 256
    assert text.count("cta_group::2.kind") == steps * kernel.consumers
    assert "multicast::cluster.b64" in text
    loads = [line for line in text.splitlines() if "cp.async.bulk.tensor.2d.shared" in line]
    assert loads
    assert all("cta_group::2" in line and "multicast" not in line for line in loads)


@needs_nvdisasm
@pytest.mark.parametrize(
    ("kernel", "mnemonic"), [(GEMMS[0], "UTCHMMA"), (GEMMS[3], "UTCQMMA"), (GEMMS[8], "UTCHMMA")]
)
def test_the_main_loop_is_tight(kernel: Gemm, mnemonic: str) -> None:
    """Four products a k-block, one commit, two waits at most, and nothing in local memory."""
    machine_code = disassemble(compiled(kernel).cubin())["gemm"]
    loops = machine_code.loops_with(mnemonic)
    assert len(loops) == kernel.consumers
    for loop in loops:
        assert loop.count(mnemonic) == 4
        assert loop.count("UTCBAR") == 1
        assert loop.count("SYNCS") <= 2
    mnemonics = {i.mnemonic for i in machine_code.instructions}
    assert {"UTCATOMSWS", "LDTM"} <= mnemonics
    assert not mnemonics & {"LDL", "STL"}
