"""Tiled copies and MMAs: which elements of a tile each thread has.

Views of coordinates say it in their types: where they begin, and where each element is from there.
"""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.dialects.cute.atom.cute_atoms import OPERAND_LAYOUTS, parse_with_atoms
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.cute.atom.interfaces import MmaOperand
from tileas_xdsl.dialects.cute.types.views import CoordTensorType
from tileas_xdsl.layout import Layout, make_identity_layout, make_layout_tv
from tileas_xdsl.layout.int_tuple import idx2crd, show

COPY = "!test_cute.copy<#builtin.int<{}>>"


def inferred(text: str, name: str) -> Any:
    """The type of the result of the operation called `name`."""
    module = parse_with_atoms(text)
    assert isinstance(module, ModuleOp)
    verify_module(module)
    return next(op for op in module.walk() if op.name == name).results[0].type


def coordinates(type_: CoordTensorType) -> list[tuple[int, ...]]:
    """All elements of a view of coordinates, as coordinates of two modes."""
    layout = type_.layout
    assert isinstance(layout, Layout)
    found: list[tuple[int, ...]] = []
    for index in range(layout.size()):
        offset = layout(index)
        steps = [0 if offset == 0 else offset.coefficient(str(axis)) for axis in range(2)]
        found.append(tuple(o + s for o, s in zip(type_.origin, steps, strict=True)))
    return found


def partition(op: str, tiled: str, shape: tuple[int, int], thread: int, more: str = "") -> Any:
    layout = make_identity_layout(shape)
    view = f'!cute.coord_tensor<"(0,0)", "{layout}">'
    coord = f'!cute.coord<"{thread}">'
    text = f"""
    func.func @f(%t: {tiled}, %v: {view}) {{
      %c = cute.static : {coord}
      %p = {op}(%t, %v, %c) {more} : !cute.view
      func.return
    }}"""
    return inferred(text, op)


@pytest.mark.parametrize("side", ["S", "D"])
def test_a_tiled_copy_gives_each_thread_its_values_of_every_tile(side: str) -> None:
    tiler, layout = make_layout_tv(Layout((4, 8), (8, 1)), Layout((2, 1)))
    tiles = ";".join(f"{extent}:1" for extent in tiler)
    tiled = (
        f"!cute.tiled_copy<{COPY.format(1)}, "
        f'layout_copy_tv = <"{layout}">, tiler_mn = <"[{tiles}]">>'
    )
    seen: Counter[tuple[int, ...]] = Counter()
    for thread in range(32):
        type_ = partition(f"cute.tiled.copy.partition_{side}", tiled, (16, 16), thread)
        found = coordinates(type_)
        seen.update(found)
        first = [idx2crd(layout(thread, value), tiler) for value in range(2)]
        assert found[:2] == first
        assert type_.layout.shape[1:] == (2, 2)
    assert seen == Counter({(i, j): 1 for i in range(16) for j in range(16)})


@pytest.mark.parametrize(
    ("operand", "shape", "atoms"),
    [
        ("A", (32, 32), "(1,1,1):(0,0,0)"),
        ("A", (32, 16), "(2,2,1):(1,2,0)"),
        ("B", (16, 32), "(2,1,1):(1,0,0)"),
        ("C", (32, 16), "(2,1,1):(1,0,0)"),
        ("D", (16, 16), "(1,2,1):(0,1,0)"),
    ],
)
def test_a_tiled_mma_gives_each_thread_its_part_of_an_operand(
    operand: str, shape: tuple[int, int], atoms: str
) -> None:
    tiled = f'!cute.tiled_mma<!test_cute.mma, atom_layout_MNK = <"{atoms}">>'
    count = {"(1,1,1)": 1, "(2,2,1)": 4}.get(atoms.split(":")[0], 2)
    seen: Counter[tuple[int, ...]] = Counter()
    name = "cute.tiled.mma.partition"
    more = f'<{{operand_id = "{operand}"}}>'
    for thread in range(32 * count):
        seen.update(coordinates(partition(name, tiled, shape, thread, more)))
    copies = set(seen.values())
    assert len(copies) == 1, "all elements have as many owners"
    assert len(seen) == shape[0] * shape[1]
    along = {"A": 0, "B": 1}.get(operand)
    assert copies == {1 if along is None else _owners(atoms, along)}


def _owners(atoms: str, axis: int) -> int:
    """How many atoms share an operand: those along the other axis."""
    extents = [int(x) for x in atoms.split(":")[0].strip("()").split(",")]
    return extents[1 - axis]


def test_values_of_a_thread_are_where_the_atom_has_them() -> None:
    tiled = '!cute.tiled_mma<!test_cute.mma, atom_layout_MNK = <"(2,1,1):(1,0,0)">>'
    layout = OPERAND_LAYOUTS[MmaOperand.C]
    for thread in (0, 5, 31, 32, 63):
        type_ = partition(
            "cute.tiled.mma.partition", tiled, (32, 8), thread, '<{operand_id = "C"}>'
        )
        atom, lane = divmod(thread, 32)
        expected = [idx2crd(layout(lane, value), (16, 8)) for value in range(4)]
        assert coordinates(type_) == [(i + 16 * atom, j) for i, j in expected]


def test_shapes_and_registers_of_operands() -> None:
    tiled = '!cute.tiled_mma<!test_cute.mma, atom_layout_MNK = <"(2,1,1):(1,0,0)">>'
    text = f"""
    func.func @f(%t: {tiled}, %m: !test_cute.mma) {{
      %s = cute.static : !cute.shape<"(64,32)">
      %p = cute.tiled.mma.partition_shape(%t, %s) <{{operand_id = "A"}}>
        : ({tiled}, !cute.shape<"(64,32)">) -> !cute.shape<"((2,2,2),2,2)">
      %r = cute.mma.make_fragment(%m, %p) <{{operand_id = "A"}}> : !cute.view
      func.return
    }}"""
    shape = inferred(text, "cute.tiled.mma.partition_shape").data
    assert show(shape) == "((2,2,2),2,2)"
    registers = inferred(text, "cute.mma.make_fragment")
    assert str(registers) == '!cute.memref<f16, rmem, "((2,2,2),2,2):((1,2,4),8,16)">'


def test_registers_are_retiled_for_a_copy() -> None:
    tiled = (
        f"!cute.tiled_copy<{COPY.format(64)}, "
        'layout_copy_tv = <"(32,4):(4,1)">, tiler_mn = <"[128:1]">>'
    )
    text = f"""
    func.func @f(%t: {tiled}, %v: !cute.memref<f16, rmem, "(8,2):(1,8)">) {{
      %r = cute.tiled.copy.retile(%t, %v) : !cute.view
      func.return
    }}"""
    retiled = inferred(text, "cute.tiled.copy.retile")
    assert str(retiled) == '!cute.memref<f16, rmem, "((4,2),2):((1,4),8)">'


def test_only_copies_and_products_are_tiled() -> None:
    for text in (
        '!cute.tiled_copy<i32, layout_copy_tv = <"(32,2):(2,1)">, tiler_mn = <"[64:1]">>',
        '!cute.tiled_mma<i32, atom_layout_MNK = <"(1,1,1):(0,0,0)">>',
        '!cute.tiled_mma<!test_cute.mma, atom_layout_MNK = <"(1,1):(0,0)">>',
    ):
        with pytest.raises(DiagnosticError):
            parse_with_atoms(f"func.func private @f({text})")
