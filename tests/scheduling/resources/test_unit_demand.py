"""Cycles of the units that a macro operation takes."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

from kernels.simulating import parse
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.memory.element_access import StoreOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.scheduling.loops.macro_operations import (
    MacroKind,
    MacroOperation,
    stored_bytes,
)
from tileas_xdsl.scheduling.resources.unit_demand import UnitDemand, work_of, written_cycles
from tileas_xdsl.target.costs.latencies import latencies
from tileas_xdsl.target.costs.units import Unit

CLOCK = latencies("sm_100a")

PRODUCT = """
!a = tensor<128x64xf16, #nv_tileas<space smem>>
!b = tensor<64x256xf16, #nv_tileas<space smem>>
func.func @product(%va: !nv_tileas.tiled_view<128x64xf16, gmem>,
                   %vb: !nv_tileas.tiled_view<64x256xf16, gmem>, %c: tensor<128x256xf32>) {
  %zero = arith.constant 0 : index
  %a = nv_tileas.tiled_load %va[%zero, %zero] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<128x64xf16, gmem> -> !a
  %b = nv_tileas.tiled_load %vb[%zero, %zero] {atom = #nv_tileas<atom tma_load_2d>} : !nv_tileas.tiled_view<64x256xf16, gmem> -> !b
  %d = nv_tileas.dot %a, %b, %c {atom = #nv_tileas<atom tcgen05_f16_f16_f32<cta_group = CTAS>>} : !a, !b, tensor<128x256xf32> -> tensor<128x256xf32>
  func.return
}
"""  # noqa: E501


def _node(module: ModuleOp, kind: MacroKind, index: int = 0) -> MacroOperation:
    wanted = {MacroKind.DOT: DotOp, MacroKind.TMA_LOAD: TiledLoadOp}[kind]
    op = [one for one in module.walk() if isinstance(one, wanted)][index]
    return MacroOperation(kind, (op,))


@pytest.mark.parametrize(("ctas", "b_bytes"), [(1, 32768), (2, 16384)])
def test_each_of_two_ctas_has_half_of_b(ctas: int, b_bytes: int) -> None:
    """128 rows are one instruction, which reads A (16 KB) and B once; two CTAs share B."""
    module = parse(PRODUCT.replace("CTAS", str(ctas)))
    product = work_of(_node(module, MacroKind.DOT), CLOCK, 1)
    assert product.units[Unit.SHARED_MEMORY] == (16384 + b_bytes) // CLOCK.shared_rate
    of_a, of_b = (work_of(_node(module, MacroKind.TMA_LOAD, k), CLOCK, 1) for k in (0, 1))
    assert of_a.units[Unit.TMA] == ceil_div(16384, CLOCK.operand_rate)
    assert of_b.units[Unit.TMA] == ceil_div(b_bytes, CLOCK.operand_rate)


@pytest.mark.parametrize(("ctas", "b_bytes"), [(1, 32768), (2, 16384)])
def test_what_tma_loads_is_written_to_shared_memory(ctas: int, b_bytes: int) -> None:
    module = parse(PRODUCT.replace("CTAS", str(ctas)))
    nodes = [_node(module, MacroKind.TMA_LOAD, k) for k in (0, 1)]
    nodes.append(_node(module, MacroKind.DOT))
    assert written_cycles(nodes, CLOCK) == (16384 + b_bytes) // CLOCK.shared_rate


STORES = """
func.func @stores(%p: !nv_tileaa.ptr<f32, 1>, %number: f32, %is_some: i1,
                  %to: tensor<64x!nv_tileaa.ptr<f16, 1>>, %tile: tensor<64xf16>) {
  nv_tileas.store %number, %p mask %is_some : i1 {atom = #nv_tileas<atom stg>} : f32, !nv_tileaa.ptr<f32, 1>
  nv_tileas.store %tile, %to {atom = #nv_tileas<atom stg>} : tensor<64xf16>, tensor<64x!nv_tileaa.ptr<f16, 1>>
  func.return
}
"""  # noqa: E501


def test_numbers_are_stored_like_tiles() -> None:
    """A scatter of one number is in no tile; pointers and masks are not what is stored."""
    number, tile = (op for op in parse(STORES).walk() if isinstance(op, StoreOp))
    assert (stored_bytes(number), stored_bytes(tile)) == (4, 128)
    demand = work_of(MacroOperation(MacroKind.STORE, (number,)), CLOCK, 1)
    assert demand.units[Unit.GLOBAL_MEMORY] == 1


CONVERSIONS = """
func.func @conversions(%x: tensor<64x64xf16>) {
  %y = nv_tileas.convert_layout %x : tensor<64x64xf16> -> tensor<64x64xf16>
  %z = nv_tileas.convert_layout %x : tensor<64x64xf16> -> tensor<64x64xf16, #nv_tileas<space smem>>
  %u = nv_tileas.convert_layout %z : tensor<64x64xf16, #nv_tileas<space smem>> -> tensor<64x64xf16>
  func.return
}
"""


def test_what_threads_leave_in_shared_memory_is_fenced() -> None:
    """A matrix unit reads it in another proxy, and threads write when all know it was read."""
    back, there, out = _conversions()
    assert back.units[Unit.SHARED_MEMORY] == 2 * there.units[Unit.SHARED_MEMORY]
    assert there.units == out.units
    fenced = 2 * CLOCK.barrier + CLOCK.proxy_fence
    assert there.latency - out.latency == fenced
    assert back.latency == 2 * out.latency + CLOCK.barrier


def _conversions() -> list[UnitDemand]:
    ops = [op for op in parse(CONVERSIONS).walk() if isinstance(op, ConvertLayoutOp)]
    return [work_of(MacroOperation(MacroKind.CONVERT, (op,)), CLOCK, 1) for op in ops]


@pytest.mark.parametrize(("columns", "vectors"), [(16, 1), (32, 2), (128, 8)])
def test_vectors_within_shared_memory_follow_one_another(columns: int, vectors: int) -> None:
    """`ldmatrix`, `prmt`, `stmatrix`: the next `ldmatrix` does not pass that `stmatrix`."""
    one, found = (_within(extent) for extent in (16, columns))
    shared = found.units[Unit.SHARED_MEMORY] - one.units[Unit.SHARED_MEMORY]
    chain = CLOCK.shared_latency + 4 * CLOCK.scalar
    assert found.latency - one.latency == shared + (vectors - 1) * chain


def _within(columns: int) -> UnitDemand:
    tile = f"tensor<128x{columns}xf8E4M3FN, #nv_tileas<space smem>>"
    module = parse(
        f"func.func @k(%x: {tile}) {{ %y = nv_tileas.convert_layout %x : {tile} -> {tile}\n"
        "func.return }"
    )
    (op,) = (one for one in module.walk() if isinstance(one, ConvertLayoutOp))
    return work_of(MacroOperation(MacroKind.CONVERT, (op,)), CLOCK, 1)


TRANSPOSED = """
func.func @transposed(%x: tensor<64x128xELEMENT>) {
  %t = nv_tileas.generate : tensor<128x64xELEMENT> {
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %x[%j, %i] : tensor<64x128xELEMENT>
    nv_tileas.yield %e : ELEMENT
  }
  %s = nv_tileas.convert_layout %t : tensor<128x64xELEMENT> -> tensor<128x64xELEMENT, #nv_tileas<space smem>>
  func.return
}
"""  # noqa: E501


@pytest.mark.parametrize(("element", "size"), [("f32", 2 * 32768), ("f16", 16384)])
def test_transposed_words_take_two_wavefronts_for_one(element: str, size: int) -> None:
    """As the emulator counts them of tf32 in 256x128x32 tiles; halves go by `stmatrix`."""
    module = parse(TRANSPOSED.replace("ELEMENT", element))
    (op,) = (one for one in module.walk() if isinstance(one, ConvertLayoutOp))
    found = work_of(MacroOperation(MacroKind.CONVERT, (op,)), CLOCK, 1)
    assert found.units[Unit.SHARED_MEMORY] == size // CLOCK.shared_rate
