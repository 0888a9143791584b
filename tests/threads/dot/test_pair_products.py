"""Products of two blocks: what is refused, and places of sums that are used again."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from support.stripping import strip

from kernels import Gemm
from kernels.compiled import TWO_ORDERS, emulated
from kernels.mutations import Edit, after, all_of, in_agent, replacing
from kernels.simulating import parse
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.errors import DiagnosticError


def _gemm(**parameters: object) -> Gemm:
    sizes = {"bm": 128, "bn": 128, "bk": 64, "consumers": 1, "b": "nk"}
    return Gemm(**{**sizes, "instruction": "tcgen05", **parameters})  # pyright: ignore


PAIR = _gemm(pair=2)


def _read_b(cut: str, rows: int) -> Edit:
    """The consumer's threads store twice the first rows of B, cut out of it or not."""
    tile = f"tensor<{rows}x64xf16>"
    lines = [
        *([cut] if cut else ["%some = nv_tileas.convert_layout %sb : !bt -> !bt"]),
        f"%by_threads = nv_tileas.convert_layout %some : {tile} -> {tile}",
        f"%twice = arith.addf %by_threads, %by_threads : {tile}",
        f"nv_tileas.tiled_store %twice, %again[%zero, %zero] {{atom = #stg}} : {tile}, !again",
    ]
    view = f"!nv_tileas.tiled_view<{rows}x64xf16, gmem>"
    return all_of(
        in_agent(1, after("%of_rows =", *lines)),
        after("create_none", "%again = nv_tileas.view %b : !ma -> !again"),
        after("!window =", f"!again = {view}"),
    )


SOME_COLUMNS = all_of(
    replacing("!b = tensor<64x128xf16", "!b = tensor<64x64xf16"),
    replacing("#nv_tileas.shared<(64,128),(1,64)>", "#nv_tileas.shared<(64,64),(1,64)>"),
    replacing(
        "%of_rows = nv_tileas.view %sb : !bt -> !b",
        "%part = nv_tileas.extract_slice %sb[0, 0][64, 64][1, 1] : !bt -> !part\n"
        "%of_rows = nv_tileas.view %part : !part -> !b",
    ),
    replacing("!acc = tensor<128x128xf32>", "!acc = tensor<128x64xf32>\n!part = tensor<64x64xf16>"),
    replacing("tensor<128x128xf32>", "tensor<128x64xf32>", times=1),
    replacing("tiled_view<128x128xf32", "tiled_view<128x64xf32"),
)

PARTS_OF_SUMS = all_of(
    replacing("nv_tileas.tiled_store %acc,",
              "%part = nv_tileas.extract_slice %acc[0, 0][64, 64][1, 1] : !out -> !part\n"
              "nv_tileas.tiled_store %part,", times=2),
    replacing("{atom = #stg} : !out,", "{atom = #stg} : !part,", times=2),
    replacing("!window =", "!part = tensor<64x64xf32>\n!window ="),
    replacing("tiled_view<64x128xf32", "tiled_view<64x64xf32"),
)  # fmt: skip

REFUSED: Mapping[str, tuple[Gemm, Edit | None, str]] = {
    "64 rows, in parts": (
        _gemm(pair=2, consumers=2),
        PARTS_OF_SUMS,
        "of two blocks has 64 rows in each, and its sums are read a part at a time",
    ),
    "B as K x N": (
        _gemm(cluster=2, b="kn"),
        replacing("tcgen05_f16_f16_f32", "tcgen05_f16_f16_f32<cta_group = 2>"),
        "for products of two blocks loads A, or half of B by multicast to both",
    ),
    "A is shared": (
        _gemm(cluster=2),
        replacing("tcgen05_f16_f16_f32", "tcgen05_f16_f16_f32<cta_group = 2>"),
        "for products of two blocks loads A, or half of B by multicast to both",
    ),
    "B is not shared": (
        _gemm(cluster=2),
        all_of(
            replacing("tcgen05_f16_f16_f32", "tcgen05_f16_f16_f32<cta_group = 2>"),
            replacing("%la = nv_tileas.async.tiled_tma_load %of_a, %mine[%row, %k]",
                      "%la = nv_tileas.async.tiled_tma_load %of_a, %sa[%m, %k]"),
            replacing("num_multicast = 2 : i32, tx_count = 8192 : i32} : !desc, tensor<64x64xf16>",
                      "tx_count = 16384 : i32} : !desc, !a"),
            replacing("tma_load_2d<box = [64, 64], multicast>", "tma_load_2d<box = [64, 128]>"),
            replacing("{atom = #load_a, num_multicast = 2 : i32}", "{atom = #load_a}"),
            replacing("%box_a = arith.constant 64", "%box_a = arith.constant 128"),
        ),
        "for products of two blocks loads A, or half of B by multicast to both",
    ),
    "some columns of B": (
        PAIR,
        SOME_COLUMNS,
        "of two blocks reads stages, A or some of its rows and all of B",
    ),
    "a quarter of B": (
        PAIR,
        all_of(
            replacing("[64, 64][1, 1] : !bt -> tensor<64x64xf16>",
                      "[32, 64][1, 1] : !bt -> tensor<32x64xf16>"),
            replacing("!desc, tensor<64x64xf16>", "!desc, tensor<32x64xf16>"),
            replacing("%box_b = arith.constant 64", "%box_b = arith.constant 32"),
            replacing("num_multicast = 2 : i32, tx_count = 8192",
                      "num_multicast = 2 : i32, tx_count = 4096"),
            replacing("#load_b = #nv_tileas<atom tma_load_2d<box = [64, 64],",
                      "#load_b = #nv_tileas<atom tma_load_2d<box = [64, 32],"),
        ),
        "loads 32x64 of B for products of two blocks; each loads 64x64 of 128x64",
    ),
    "threads read B": (
        PAIR,
        _read_b("", 128),
        "of two blocks shares its stages with threads, which lack half of B",
    ),
    "threads read some of B": (
        PAIR,
        _read_b(
            "%some = nv_tileas.extract_slice %sb[0, 0][64, 64][1, 1] : !bt -> tensor<64x64xf16>", 64
        ),
        "of two blocks shares its stages with threads, which lack half of B",
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_refused(name: str) -> None:
    kernel, edit, message = REFUSED[name]
    text = kernel.text() if edit is None else edit(kernel.text())
    with pytest.raises(DiagnosticError, match=message):
        compile(parse(text), kernel.target)


@pytest.mark.parametrize(
    "name", ["64 rows, in parts", "some columns of B", "threads read some of B"]
)
def test_they_compile_alone_where_nobody_asks_for_two(name: str) -> None:
    kernel, edit, _ = REFUSED[name]
    module = parse(kernel.text() if edit is None else edit(kernel.text()))
    assert strip(module) >= 2
    assert "cta_group::2" not in compile(module, kernel.target).ptx


def test_two_agents_have_64_rows_each() -> None:
    """The sums of each are in all lanes: half of their columns below the others."""
    kernel = _gemm(pair=2, consumers=2)
    for order in TWO_ORDERS:
        found = emulated(kernel, {"m": 256, "n": 136, "k": 72}, order)
        assert [str(finding) for finding in found.emulation.findings] == []
        assert found.is_right, (order, found.deviation)


def test_sums_of_two_blocks_are_used_again() -> None:
    """Three tiles one after another take two places: the third waits for warps of both blocks."""
    kernel = _gemm(pair=2, persistent=2, group=2, bn=32)
    sizes = {"m": 256, "n": 96, "k": 16}
    for order in TWO_ORDERS:
        found = emulated(kernel, sizes, order)
        assert [str(finding) for finding in found.emulation.findings] == []
        assert found.is_right, (order, found.deviation)
