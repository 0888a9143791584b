"""Facts of atoms: their layouts cover the operands, their targets and values are those of PTX."""

from __future__ import annotations

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import Builtin
from xdsl.ir import Attribute
from xdsl.parser import Parser

from tileas_xdsl.dialects.cute import Cute
from tileas_xdsl.dialects.cute.atom.interfaces import (
    AtomType,
    CopyAtomType,
    MmaAtomType,
    MmaOperand,
)
from tileas_xdsl.dialects.cute.types.tiled_atoms import TiledMmaType
from tileas_xdsl.dialects.cute_nvgpu import CuteNvgpu
from tileas_xdsl.dialects.cute_nvgpu.integer_aliases import IntegerAlias
from tileas_xdsl.layout import table

SS = "ab_major = (k, k), elem_type = (f16, f16, f32), frag_kind = ss"
RS = SS.replace("ss", "rs")

MMAS = (
    "atom.universal_fma<1x1x1, (f32, f32) -> f32 >",
    "sm80.mma<16x8x16, elem_type = (f16, f16, f32) >",
    "sm80.mma<16x8x8, elem_type = (tf32, tf32, f32) >",
    "sm80.mma<16x8x32, elem_type = (si8, si8, i32) >",
    "sm80.mma<8x8x4, elem_type = (f64, f64, f64) >",
    "sm89.mma<16x8x32, elem_type = (f8E4M3FN, f8E4M3FN, f32) >",
    f"sm90.mma<64x24x16, {SS}>",
    f"sm90.mma<64x24x16, {RS}>",
    f"sm100.mma<128x64x16, num_cta = 1, {SS}, c_scale_exp = 0>",
    f"sm100.mma<256x64x16, num_cta = 2, {SS}, c_scale_exp = 0>",
)


def parsed(text: str) -> Attribute:
    ctx = Context()
    for dialect in (Builtin, Cute, CuteNvgpu):
        ctx.load_dialect(dialect)
    return Parser(ctx, text).parse_type()


def extents(atom: MmaAtomType) -> dict[MmaOperand, tuple[int, int]]:
    m, n, k = atom.shape_mnk
    return {
        MmaOperand.A: (m, k), MmaOperand.B: (n, k), MmaOperand.C: (m, n), MmaOperand.D: (m, n),
    }  # fmt: skip


@pytest.mark.parametrize("text", MMAS)
def test_threads_and_values_cover_every_operand(text: str) -> None:
    """Each element is held by a thread, and for operands that are not shared by one of them."""
    atom = parsed(f"!cute_nvgpu.{text}")
    assert isinstance(atom, MmaAtomType)
    for operand, (rows, columns) in extents(atom).items():
        layout = atom.operand_layout(operand)
        assert layout is not None, operand
        assert layout[0].size() == atom.threads
        indices = np.asarray(table(layout)).ravel()
        assert set(indices.tolist()) == set(range(rows * columns)), (text, operand)
        held = rows * columns // atom.threads
        shared = layout[1].size() > held
        assert shared or len(indices) == rows * columns


def test_sparse_products_have_no_layout_of_what_is_left_out() -> None:
    text = "sm80.sparse_mma<16x8x32, elem_type = (f16, f16, f32), metadata = ordered >"
    atom = parsed(f"!cute_nvgpu.{text}")
    assert isinstance(atom, MmaAtomType)
    assert atom.operand_layout(MmaOperand.B) is None
    stored = atom.operand_layout(MmaOperand.A)
    assert stored is not None
    assert stored.size() == 16 * 32 // 2


@pytest.mark.parametrize("mode", ["n", "t"])
@pytest.mark.parametrize("count", [1, 2, 4])
def test_both_sides_of_ldmatrix_are_of_one_size(count: int, mode: str) -> None:
    """32 lanes with 32 bits of each matrix; the side of memory names rows, some twice."""
    text = f'val_type = f16, mode = <"(8,8)">, sz_pattern = u16, num_matrices = {count}, {mode}'
    atom = parsed(f"!cute_nvgpu.atom.ldsm<{text}>")
    assert isinstance(atom, CopyAtomType)
    assert atom.copy_bits == 32 * count
    registers, rows = atom.destination_layout, atom.source_layout
    assert registers is not None
    assert rows is not None
    bits = np.asarray(table(registers)).ravel()
    assert sorted(bits.tolist()) == list(range(32 * 32 * count))
    assert set(np.asarray(table(rows)).ravel().tolist()) == set(bits.tolist())


@pytest.mark.parametrize(
    ("shape", "registers"), [("32 DP, 32 bit, x4", 4), ("16 DP, 256 bit, x2", 8)]
)
def test_loads_of_tensor_memory_count_registers(shape: str, registers: int) -> None:
    atom = parsed(f"!cute_nvgpu.atom.tmem_load<f32, {shape}>")
    assert isinstance(atom, CopyAtomType)
    assert atom.copy_bits == 32 * registers
    assert atom.threads == 32


def test_an_atom_is_tiled() -> None:
    atom = "!cute_nvgpu.sm80.mma<16x8x16, elem_type = (f16, f16, f32) >"
    tiled = parsed(f'!cute.tiled_mma<{atom}, atom_layout_MNK = <"(2,2,1):(1,2,0)">>')
    assert isinstance(tiled, TiledMmaType)
    assert str(tiled.atom) == atom


def test_values_come_in_the_order_of_the_instruction() -> None:
    atom = parsed(f"!cute_nvgpu.sm100.mma<128x64x16, num_cta = 1, {SS}, c_scale_exp = 0>")
    assert isinstance(atom, AtomType)
    assert [field.name for field in atom.state] == ["accum_c", "neg_a", "neg_b"]
    load = parsed(
        "!cute_nvgpu.atom.tma_load<f16, copy_bits = 131072, mode = gather4, num_cta = 1, "
        'g_stride = <"()"> mcast = true tma_gbasis = <"(64,128):(1@1,1@0)">>'
    )
    assert isinstance(load, AtomType)
    names = [field.name for field in load.state]
    assert names == ["tma_descriptor_ptr", "tma_bar", "mcast_mask", "cache_policy"]
    assert load.minimum_targets == ("sm_100f", "sm_110f")


def test_types_that_differ_are_not_equal() -> None:
    """Every parameter takes part in comparisons."""
    texts = [f"!cute_nvgpu.{text}" for text in MMAS]
    assert len({parsed(text) for text in texts}) == len(texts)
    assert all(parsed(text) == parsed(text) for text in texts)
    assert len([a for a in CuteNvgpu.attributes if not issubclass(a, IntegerAlias)]) == 27
