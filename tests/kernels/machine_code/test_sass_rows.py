"""How rows reach registers, in SASS, of widths that are in no table."""

from __future__ import annotations

from collections import Counter

import pytest
from support.assembling import needs_nvdisasm

pytest.importorskip("cuda.tile")

import cuda.tile as ct

from kernels.cutile.layer_norm import layer_norm
from kernels.cutile.reductions import sum_of_columns
from kernels.cutile.softmax import softmax, softmax_online
from tileas_xdsl.backend.ptxas import Assembled
from tileas_xdsl.backend.sass import disassemble
from tileas_xdsl.compiler import compile

WIDE, NARROW = "LDG.E.128", "LDG.E.U16"


def assembled(kernel: object, signature: str) -> tuple[Assembled, Counter[str]]:
    made = compile(kernel, target="sm_90a", signature=signature).assemble()
    (code,) = disassemble(made.cubin).values()
    return made, Counter(one.opcode for one in code.instructions)


@needs_nvdisasm
@pytest.mark.parametrize(
    ("stride", "singles"), [("?%8", 0), ("?%2", 16), ("?", 16)], ids=lambda value: str(value)
)
def test_rows_are_moved_by_vectors_wherever_they_begin(stride: str, singles: int) -> None:
    """A row of a thread is two vectors, loaded around its ends; what is stored there are elements.

    So is what is loaded of a vector that reaches behind the array, and of the end of a row that
    fills its tile, which shares a vector with the beginning.
    """
    rows = f"f16[?, {stride}]"
    made, counts = assembled(softmax, f"x: {rows}, y: {rows}, rows=1, columns=2048")
    assert made.spills == 0
    moved = {name: n for name, n in counts.items() if name[:3] in ("LDG", "STG")}
    narrow = {NARROW: singles + 6, NARROW.replace("LDG", "STG"): singles} if singles else {}
    assert moved == {WIDE: 2, "STG.E.128": 2, **narrow}


@needs_nvdisasm
def test_accesses_in_loops_have_one_form() -> None:
    """Two take registers: a log softmax in tiles of 2,048 had 115 in place of 71."""
    rows = "f16[?, ?]"
    signature = f"x: {rows}, y: {rows}, rows=1, columns=2048"
    made = compile(softmax_online, target="sm_90a", signature=signature).assemble()
    (code,) = disassemble(made.cubin).values()
    assert all(one.guarded for one in code.instructions if one.opcode == NARROW)


@ct.kernel
def picked(x, rows, y, tile: ct.Constant[int]):
    """An element of some row of each column."""
    j = ct.bid(0)
    columns = j * tile + ct.arange(tile, dtype=ct.int32)
    ct.store(y, (j,), ct.gather(x, (ct.load(rows, (j,), (tile,)), columns)))


@needs_nvdisasm
def test_indices_of_32_bits_are_compared_and_multiplied_as_such() -> None:
    """Comparisons of 64 bits end with `.EX`; products of 64 bits are an unsigned one and sums."""
    _, counts = assembled(picked, "x: f32[?, ?], rows: i32[?], y: f32[?], tile=256")
    assert not [name for name in counts if name.endswith(".EX")]
    assert counts["IMAD.WIDE"] == 8  # one for each element of a lane, of the one warp
    assert counts["IMAD.WIDE.U32"] == 0


@ct.kernel
def gathered_softmax(x, y, columns: ct.Constant[int]):
    """Rows by their elements' indices, as in programs that came from pointers."""
    at = ct.arange(columns, dtype=ct.int32)
    e = ct.gather(x, (ct.bid(0), at), check_bounds=False).astype(ct.float32)
    e = ct.exp(e - ct.max(e, 0, keepdims=True))
    ct.scatter(y, (ct.bid(0), at), (e / ct.sum(e, 0, keepdims=True)).astype(y.dtype))


@needs_nvdisasm
def test_rows_by_index_are_moved_as_wide_as_rows_by_tile() -> None:
    """Of 4,096 elements in 128 threads; sums are exchanged between warps alone."""
    rows = "bf16[?, ?%8]"
    made, counts = assembled(gathered_softmax, f"x: {rows}, y: {rows}, columns=4096")
    assert (made.spills, counts[WIDE], counts["STG.E.128"]) == (0, 4, 4)
    assert counts["STS"] + counts["STS.128"] == 2


@needs_nvdisasm
def test_weights_of_a_norm_take_no_block_its_room() -> None:
    """They are loaded once what they are for is known: 24 warps of a multiprocessor have room."""
    signature = (
        "x: f16[?, ?%8], w: f16[?%8], b: f16[?%8], y: f16[?, ?%8], means: f32[?], scales: f32[?], "
        "rows=1, columns=4096"
    )
    made, counts = assembled(layer_norm, signature)
    assert made.spills == 0
    assert made.registers <= 80
    assert counts[WIDE] == 12


@needs_nvdisasm
def test_weights_of_rows_that_begin_anywhere_are_read_as_vectors() -> None:
    """Of shared memory, by words, of which one more is read for each vector."""
    signature = (
        "x: f16[?, ?], w: f16[?], b: f16[?], y: f16[?, ?], means: f32[?], scales: f32[?], "
        "rows=1, columns=4096"
    )
    made, counts = assembled(layer_norm, signature)
    assert made.spills == 0
    # Of 4,095 columns 0.84 of a copy, and 0.83 with 64 registers and a line for each way to begin.
    assert made.registers <= 72
    # The next row is copied meanwhile: its number is read, and ptxas puts three loads that never
    # run in front of copies, here and in front of the loop.
    assert counts["LDS"] == 2 * 4 * 5 + 1 + 2 * 3
    assert counts["LDS.128"] == 2 + 4


@needs_nvdisasm
@pytest.mark.parametrize(("element", "columns", "rounds"), [("f16", 16, 8), ("f32", 32, 2)])
def test_columns_are_summed_from_accesses_of_16_bytes(
    element: str, columns: int, rounds: int
) -> None:
    """A warp takes several rows at once; what its lanes have is exchanged behind the loop.

    Rounds load together, and the ones that are left behind them one by one.
    """
    width = 16 if element == "f16" else 8
    signature = f"x: {element}[?, ?%{width}], y: f32[?], rows=128, columns={columns}"
    made, counts = assembled(sum_of_columns, signature)
    assert made.spills == 0
    loads = 128 * columns * (2 if element == "f16" else 4) // (128 * 16)
    assert {name: n for name, n in counts.items() if name.startswith("LDG")} == {
        WIDE: loads * (rounds + 1)
    }
