"""What reaches the tensor core of operands that products take from global memory, in SASS."""

from __future__ import annotations

import pytest
from support.assembling import needs_nvdisasm

pytest.importorskip("cuda.tile")

import cuda.tile as ct

from kernels.cutile.matmul import KERNELS
from tileas_xdsl.backend.sass import Kernel, disassemble
from tileas_xdsl.compiler import compile

ARRAYS = "a: {0}[?, ?%16], b: {0}[?, ?%16], c: {1}[?, ?%16], tm={2}, tn={3}, tk={4}"
PRODUCTS = ("HGMMA", "QGMMA", "IGMMA", "UTCHMMA", "UTCQMMA")
BY_BYTES = ("STS.U8", "STS.U16", "LDS.U8", "LDS.U16", "LDG", "STS", "LDS")
BY_THREADS = ("LDG", "STS", "LDS", "LDSM", "STSM")


def code(kernel: str, target: str, *tiles: object) -> Kernel:
    made = compile(KERNELS[kernel], target=target, signature=ARRAYS.format(*tiles)).assemble()
    assert made.spills == 0
    (found,) = disassemble(made.cubin).values()
    return found


@pytest.mark.sample(3)
@needs_nvdisasm
@pytest.mark.parametrize(
    ("kernel", "target", "tiles"),
    [
        ("matmul_at", "sm_90a", ("bf16", "f32", 64, 128, 32)),
        ("matmul_at", "sm_100a", ("f8E4M3FN", "f16", 128, 64, 128)),
        ("matmul_bt", "sm_90a", ("f8E4M3FN", "f16", 128, 256, 128)),
        ("matmul_bt", "sm_90a", ("f8E5M2", "bf16", 64, 32, 64)),
        ("matmul", "sm_90a", ("bf16", "bf16", 16, 128, 64)),
        ("matmul_bt", "sm_100a", ("f16", "f16", 32, 64, 64)),
    ],
    ids=str,
)
def test_operands_are_read_as_they_are_stored(
    kernel: str, target: str, tiles: tuple[object, ...]
) -> None:
    """TMA fills the stages; no thread loads, stores or reads an element of A or B."""
    found = code(kernel, target, *tiles)
    loops = [loop for word in PRODUCTS for loop in found.loops_with(word)]
    assert loops
    assert found.counts["LDG"] == 0
    for loop in loops:
        assert [word for word in BY_THREADS if loop.count(word)] == []


@needs_nvdisasm
@pytest.mark.parametrize(
    ("kernel", "tiles", "matrices"),
    [
        ("matmul", ("f8E4M3FN", "f16", 128, 128, 128), 4),
        ("matmul_at", ("f8E5M2", "f32", 64, 64, 64), 4),
    ],
    ids=str,
)
def test_bytes_are_transposed_as_pairs(
    kernel: str, tiles: tuple[object, ...], matrices: int
) -> None:
    """Matrices of 512 bytes; no thread moves less than a word of an operand."""
    found = code(kernel, "sm_90a", *tiles)
    (loop,) = [loop for word in PRODUCTS for loop in found.loops_with(word)]
    assert [word for word in BY_BYTES if loop.count(word)] == []
    assert (loop.count("LDSM"), loop.count("STSM")) == (matrices, matrices)
    assert loop.count("PRMT") == 4 * matrices


@ct.kernel
def by_weights_of_8_bits(x, w, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]):
    """C = X W^T, where W is stored in 8 bits."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for k in range(ct.num_tiles(x, axis=1, shape=(tm, tk))):
        weights = ct.load(w, (j, k), (tn, tk)).astype(x.dtype)
        acc = ct.mma(ct.load(x, (i, k), (tm, tk)), ct.transpose(weights), acc)
    ct.store(c, (i, j), acc.astype(c.dtype))


@needs_nvdisasm
def test_operands_computed_from_bytes_stay_in_registers() -> None:
    """Of 128x64 in 128 threads, 64 elements each: pairs of i8 are loaded, and nothing is stored."""
    signature = "x: f16[?, ?%16], w: i8[?, ?%16], c: f16[?, ?%16], tm=128, tn=128, tk=64"
    made = compile(by_weights_of_8_bits, target="sm_90a", signature=signature).assemble()
    (found,) = disassemble(made.cubin).values()
    (loop,) = found.loops_with("HGMMA")
    assert (made.spills, loop.count("LDS"), loop.count("LDS.U16")) == (0, 32, 32)
    assert (loop.count("STS"), loop.count("BAR")) == (0, 0)


@ct.kernel
def by_gathered_rows(
    x, rows, w, c, tm: ct.Constant[int], tn: ct.Constant[int], tk: ct.Constant[int]
):
    """C = X[rows] W, where each step of K has rows of its own."""
    i, j = ct.bid(0), ct.bid(1)
    acc = ct.zeros((tm, tn), dtype=ct.float32)
    for step in range(rows.shape[0]):
        row = ct.load(rows, (step, i), (1, tm)).reshape((tm,))
        for k in range(ct.num_tiles(x, axis=1, shape=(tm, tk))):
            columns = k * tk + ct.arange(tk, dtype=ct.int32)
            a = ct.gather(x, (row[:, None], columns[None, :]))
            acc = ct.mma(a, ct.load(w, (k, j), (tk, tn)), acc)
    ct.store(c, (i, j), acc.astype(c.dtype))


@needs_nvdisasm
def test_gathered_rows_cost_their_copies_few_instructions() -> None:
    """Eight copies of 16 bytes a thread, at constants from one place of shared memory."""
    signature = "x: f16[?, ?%8], rows: i32[?, ?%4], w: f16[?, ?%8], c: f16[?, ?%8]"
    kernel = compile(
        by_gathered_rows, target="sm_90a", signature=f"{signature}, tm=128, tn=128, tk=64"
    )
    made = kernel.assemble()
    (found,) = disassemble(made.cubin).values()
    inner = min(found.loops_with("LDGSTS"), key=lambda loop: len(loop.instructions))
    assert (made.spills, inner.count("LDGSTS")) == (0, 8)
    assert inner.count("LDGSTS") * 13 > len(inner.instructions)
    places = {one.operands.split("+")[0] for one in inner.instructions if one.mnemonic == "LDGSTS"}
    assert len(places) == 1
