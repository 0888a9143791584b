"""How wide the runs of a tile are that threads copy: as address, strides and columns say."""

from __future__ import annotations

import pytest
from xdsl.dialects.builtin import ModuleOp

from tests.support.ir import parse
from tileas_xdsl.analysis.memory.copied_chunks import copied_bytes
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp

PROGRAM = """
func.func @load(%a: !nv_tileaa.ptr<f16, 1>, %b: memref<MEMREF>, %m: i32, %n: i32, %s: i32) {
  %zero = arith.constant 0 : index
  %base = nv_tileaa.assume %a, #nv_tileaa.div_by<ADDRESS> : !nv_tileaa.ptr<f16, 1>
  %columns = nv_tileaa.assume %n, #nv_tileaa.div_by<COLUMNS> : i32
  %stride = nv_tileaa.assume %s, #nv_tileaa.div_by<STRIDE> : i32
  %made = nv_tileaa.make_memref %base, sizes[%m : i32, %columns : i32], strides[%stride : i32] : !nv_tileaa.ptr<f16, 1> -> memref<?x?xf16, strided<[?, INNER]>>
  %v = nv_tileas.view ARRAY -> !nv_tileas.tiled_view<64x32xf16, gmem>
  %x = nv_tileas.tiled_load %v[%zero, %zero] {atom = #nv_tileas<atom ldg>ATTRIBUTES} : !nv_tileas.tiled_view<64x32xf16, gmem> -> tensor<64x32xf16>
  "test.op"(%x) : (tensor<64x32xf16>) -> ()
  func.return
}
"""  # noqa: E501


def program(
    *,
    address: int = 16,
    columns: int = 8,
    stride: int = 8,
    inner: int = 1,
    static: str = "",
    attributes: str = "",
) -> ModuleOp:
    array = "%made : memref<?x?xf16, strided<[?, INNER]>>"
    if static:
        array = "%b : memref<MEMREF>"
    text = PROGRAM.replace("ARRAY", array).replace("MEMREF", static or "64x32xf16")
    text = text.replace("ADDRESS", str(address)).replace("COLUMNS", str(columns))
    text = text.replace("STRIDE", str(stride)).replace("INNER", str(inner))
    return parse(text.replace("ATTRIBUTES", attributes))


def copied(module: ModuleOp) -> int:
    (load,) = (op for op in module.walk() if isinstance(op, TiledLoadOp))
    return copied_bytes(load)


@pytest.mark.parametrize(
    ("address", "columns", "stride", "size"),
    [
        (16, 8, 8, 16),
        (16, 4, 8, 8),
        (16, 8, 4, 8),
        (8, 8, 8, 8),
        (16, 2, 4, 4),
        (4, 2, 2, 4),
        (2, 8, 8, 0),
        (16, 1, 8, 0),
        (16, 8, 1, 0),
    ],
)
def test_the_least_divisor_decides(address: int, columns: int, stride: int, size: int) -> None:
    assert copied(program(address=address, columns=columns, stride=stride)) == size


@pytest.mark.parametrize(
    ("attributes", "size"),
    [
        ("", 16),
        (", padding_value = 0.0 : f16", 16),
        (", padding_value = 1.0 : f16", 0),
    ],
)
def test_a_copy_fills_with_zeros_alone(attributes: str, size: int) -> None:
    assert copied(program(attributes=attributes)) == size


def test_rows_with_gaps_between_elements_are_not_copied() -> None:
    assert copied(program(inner=2)) == 0


def test_an_array_that_is_an_argument_is_aligned_as_is_promised() -> None:
    assert copied(program(static="64x28xf16")) == 0
