"""Layout and shape operations on arrays: bits by bits, encodings, slices and their bounds."""

from __future__ import annotations

from itertools import product
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from support.ir import parse
from xdsl.ir import Operation

from tileas_xdsl.dialects.nv_tileas.shapes.layout import (
    ConvertLayoutOp,
    ExpandDimsOp,
    ReinterpretOp,
    ShuffleOp,
    ViewOp,
)
from tileas_xdsl.dialects.nv_tileas.shapes.slices import ExtractSliceOp, InsertSliceOp
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.numerics.element_types import Array, dtype_of
from tileas_xdsl.interpreters.tile.tensor_ops import layout_encoding as encodings
from tileas_xdsl.interpreters.tile.tensor_ops.reshaping import RESHAPES

RNG = np.random.default_rng(1)


def only(text: str, kind: type[Any]) -> Any:
    return next(op for op in parse(text).walk() if isinstance(op, kind))


def run(op: Operation, *operands: Any) -> Array:
    (result,) = RESHAPES[type(op)](op, operands)
    return result


def test_every_operation_of_the_kind_has_a_meaning():
    assert set(RESHAPES) == {
        ConvertLayoutOp,
        ExpandDimsOp,
        ExtractSliceOp,
        InsertSliceOp,
        ReinterpretOp,
        ShuffleOp,
        ViewOp,
    }


# Encodings


def moved(source: str, result: str, name: str = "convert_layout") -> Operation:
    kind = ConvertLayoutOp if name == "convert_layout" else ShuffleOp
    return only(
        f"""func.func @f(%t: {source}) {{
          %0 = nv_tileas.{name} %t : {source} -> {result}
          func.return
        }}""",
        kind,
    )


def tile(shape: str, encoding: str | None = None) -> str:
    return f"tensor<{shape}>" if encoding is None else f"tensor<{shape}, #nv_tileas{encoding}>"


GOOD = [
    "<space smem>",
    ".shared<(16,8),(8,1)>",
    ".shared<(16,8),(9,1)>",
    ".shared<(16,8),(8,1),swizzle<1,4,3>>",
    '.blocked<"(16,8):(1@thread,1@value)">',
    '.blocked<"((8,2),8):((4@thread,8@value),1@value)">',
    '.blocked<"(16,8,2):(1@thread,1@value,16@thread)">',
    '.blocked<"(16,8,2):(1@thread,1@value,0)">',
    '.dot_operand<"((8,2),(2,4)):((4@thread,2@value),(1@value,1@thread))">',
    '.linear<"(16,8):(1@lane,1@column)">',
]


@pytest.mark.parametrize("encoding", GOOD)
@pytest.mark.parametrize("is_source", [False, True])
def test_a_layout_of_the_tile_keeps_its_values(encoding: str, is_source: bool):
    types = tile("16x8xf16", encoding), tile("16x8xf16")
    values = RNG.standard_normal((16, 8)).astype(np.float16)
    assert run(moved(*(types if is_source else types[::-1])), values) is values


BAD = [
    (".shared<(8,16),(16,1)>", "it maps 8x16"),
    (".shared<(16,8,2),(8,1,128)>", "it maps 16x8x2"),
    (".shared<(16,8),(4,1)>", r"elements \[1, 0\] and \[0, 4\] are both at offset 4"),
    ('.blocked<"(16,4):(1@thread,1@value)">', "it maps 16x4"),
    ('.blocked<"(16,8,2,2):(1@thread,1@value,0,0)">', "it maps 16x8x2x2"),
    ('.blocked<"(16,8):(1@thread,0)">', r"elements \[0, 0\] and \[0, 1\] are both at thread 0"),
    ('.dot_operand<"(16,8):(1@thread,1@thread)">',
     r"elements \[1, 0\] and \[0, 1\] are both at thread 1"),
    ('.blocked<"(16,8,2):(1@thread,1@value,1@value)">',
     r"elements \[0, 1\] and \[0, 0\] are both at thread 0, value 1"),
    ('.linear<"(16,8):(1@lane,-1@column)">', "stride -1@column is negative"),
]  # fmt: skip


@pytest.mark.parametrize(("encoding", "problem"), BAD)
def test_what_is_no_layout_of_the_tile_is_a_fault(encoding: str, problem: str):
    op = moved(tile("16x8xf16"), tile("16x8xf16", encoding))
    values = RNG.standard_normal((16, 8)).astype(np.float16)
    for _ in range(2):
        with pytest.raises(
            SimulationError, match="is no layout of a 16x8 tile: " + problem
        ) as info:
            run(op, values)
    assert "nv_tileas.convert_layout" in str(info.value)


def test_a_slice_has_the_encoding_of_its_tile():
    whole, part = '.blocked<"(16,8):(1@thread,1@value)">', tile("4x8xf16", None)
    values = RNG.standard_normal((4, 8)).astype(np.float16)
    assert run(moved(tile("4x8xf16", whole), part), values) is values
    with pytest.raises(SimulationError, match="no layout of a 4x8 tile: it maps 16x8"):
        run(moved(part, tile("4x8xf16", whole)), values)
    with pytest.raises(SimulationError, match="no layout of a 32x8 tile: it maps 16x8"):
        run(moved(tile("32x8xf16", whole), tile("32x8xf16")), np.zeros((32, 8), np.float16))


def test_registers_are_shuffled_without_a_change():
    there, here = (f'.blocked<"(16,8):({a},{b})">' for a, b in
                   (("1@thread", "1@value"), ("1@value", "1@thread")))  # fmt: skip
    op = moved(tile("16x8xf32", there), tile("16x8xf32", here), "shuffle")
    values = RNG.standard_normal((16, 8)).astype(np.float32)
    assert run(op, values) is values
    bad = tile("16x8xf32", '.blocked<"(16,8):(1@value,1@value)">')
    with pytest.raises(SimulationError, match="are both at value 1"):
        run(moved(tile("16x8xf32", there), bad, "shuffle"), values)


def test_an_encoding_is_checked_once(monkeypatch: pytest.MonkeyPatch):
    op = moved(tile("16x8xf64"), tile("16x8xf64", ".shared<(16,8),(8,1)>"))
    values = RNG.standard_normal((16, 8))
    run(op, values)
    monkeypatch.setattr(encodings, "encoding_problem", None)
    assert run(op, values) is values


# Shapes


@pytest.mark.parametrize(("axis", "shape"), [(0, (1, 3, 4)), (1, (3, 1, 4)), (2, (3, 4, 1))])
def test_a_new_dimension(axis: int, shape: tuple[int, ...]):
    extents = "x".join(map(str, shape))
    op = only(
        f"""func.func @f(%t: tensor<3x4xbf16>) {{
          %0 = nv_tileas.expand_dims %t {{axis = {axis} : i32}}
            : tensor<3x4xbf16> -> tensor<{extents}xbf16>
          func.return
        }}""",
        ExpandDimsOp,
    )
    values = RNG.standard_normal((3, 4)).astype(ml_dtypes.bfloat16)
    result = run(op, values)
    assert (result.shape, result.dtype) == (shape, values.dtype)
    assert result.ravel().tolist() == values.ravel().tolist()


def reinterpret_op(source: str, result: str) -> ReinterpretOp:
    return only(
        f"""func.func @f(%t: {source}) {{
          %0 = nv_tileas.reinterpret %t : {source} -> {result}
          func.return
        }}""",
        ReinterpretOp,
    )


WIDTHS = {
    "i1": 1, "i4": 4, "f4E2M1FN": 4, "f6E2M3FN": 6, "f6E3M2FN": 6, "i8": 8, "f8E4M3FN": 8,
    "f8E5M2": 8, "f16": 16, "bf16": 16, "i16": 16, "i24": 24, "f32": 32, "i32": 32, "f64": 64,
    "i64": 64,
}  # fmt: skip


def number_of(values: Any, width: int) -> int:
    """All bits of a tile as one number, the first element in the lowest."""
    stored = np.ascontiguousarray(values).view(f"u{values.dtype.itemsize}").ravel()
    return sum((int(x) % (1 << width)) << (width * k) for k, x in enumerate(stored))


@pytest.mark.parametrize(("there", "here"), list(product(WIDTHS, repeat=2)))
def test_bits_are_kept_and_packed_from_the_lowest(there: str, here: str):
    bits = 2 * 192
    source, result = f"tensor<2x{bits // 2 // WIDTHS[there]}x{there}>", bits // WIDTHS[here]
    op = reinterpret_op(source, f"tensor<{result}x{here}>")
    dtype = dtype_of(op.source.type.element_type)
    width, size = WIDTHS[there], 8 * dtype.itemsize
    patterns = RNG.integers(0, 1 << min(width, 62), (2, bits // 2 // width)).astype(np.uint64)
    if width < size and dtype.kind == "i":
        patterns |= (patterns >> np.uint64(width - 1)) * np.uint64((1 << size) - (1 << width))
    values = patterns.astype(f"u{dtype.itemsize}").view(dtype)
    made = run(op, values)
    assert made.dtype == dtype_of(op.result.type.element_type)
    assert made.shape == (result,)
    assert number_of(made, WIDTHS[here]) == number_of(values, width)
    if made.dtype.kind == "i":
        assert np.all(made.astype(int) >= -(1 << (WIDTHS[here] - 1)))
        assert np.all(made.astype(int) < (1 << (WIDTHS[here] - 1)))


def test_two_fp4_numbers_are_one_byte():
    op = reinterpret_op("tensor<4xf4E2M1FN>", "tensor<2xi8>")
    values = np.array([0.5, -6, 1, 6]).astype(ml_dtypes.float4_e2m1fn)
    assert run(op, values).astype(np.uint8).tolist() == [0xF1, 0x72]


def test_an_open_extent_is_what_the_bits_fill():
    values = RNG.integers(0, 99, (3, 4)).astype(np.int32)
    result = run(reinterpret_op("tensor<3x4xi32>", "tensor<?x2xi16>"), values)
    assert result.shape == (12, 2)
    assert np.array_equal(result.ravel()[::2], values.ravel())
    with pytest.raises(SimulationError, match=r"which .* cannot hold"):
        run(reinterpret_op("tensor<3x4xi32>", "tensor<?x5xi16>"), values)
    with pytest.raises(SimulationError, match="the source has 384 bits"):
        run(reinterpret_op("tensor<?x4xi32>", "tensor<5x4xi32>"), values)
    with pytest.raises(SimulationError, match="more than one extent open"):
        run(reinterpret_op("tensor<3x4xi32>", "tensor<?x?xi16>"), values)


@pytest.mark.parametrize("shape", [(6, 2), (12,), (2, 2, 3)])
def test_a_shape_alone_may_change(shape: tuple[int, ...]):
    values = RNG.standard_normal((4, 3)).astype(np.float32).T.copy().T
    extents = "x".join(map(str, shape))
    result = run(reinterpret_op("tensor<4x3xf32>", f"tensor<{extents}xf32>"), values)
    assert np.array_equal(result, np.array(values.ravel()).reshape(shape))


def view_op(result: str, indices: str = "", attributes: str = "") -> ViewOp:
    return only(
        f"""func.func @f(%t: tensor<8x4xf16>, %i: index, %j: index) {{
          %0 = nv_tileas.view %t{indices} {attributes} : tensor<8x4xf16> -> {result}
          func.return
        }}""",
        ViewOp,
    )


def test_views_begin_at_an_element():
    values = RNG.standard_normal((8, 4)).astype(np.float16)
    flat = values.ravel()
    assert np.array_equal(run(view_op("tensor<8x4xf16>"), values), values)
    by_offset = view_op("tensor<2x4xf16>", attributes="{offset = 24}")
    assert np.array_equal(run(by_offset, values), values[6:])
    by_number = view_op("tensor<2x3xf16>", "[%i]")
    assert np.array_equal(run(by_number, values, 9), flat[9:15].reshape(2, 3))
    by_indices = view_op("tensor<4x4xf16>", "[%i, %j]")
    assert np.array_equal(run(by_indices, values, 3, 2), flat[14:30].reshape(4, 4))


@pytest.mark.parametrize(
    ("indices", "given_", "message"),
    [
        ("[%i]", (25,), "shows elements 25 to 32 of a tile of 32 elements"),
        ("[%i]", (-1,), "shows elements -1 to 6 of a tile of 32 elements"),
        ("[%i, %j]", (6, 1), "shows elements 25 to 32 of a tile of 32 elements"),
        ("[%i, %j]", (8, 0), "index 8 of dimension 0 is not within 8"),
        ("[%i, %j]", (0, -1), "index -1 of dimension 1 is not within 4"),
    ],
)
def test_views_end_within_the_tile(indices: str, given_: tuple[int, ...], message: str):
    values = RNG.standard_normal((8, 4)).astype(np.float16)
    with pytest.raises(SimulationError, match=message):
        run(view_op("tensor<2x4xf16>", indices), values, *given_)


def test_a_view_has_known_extents():
    op = view_op("tensor<?x4xf16>", "[%i]")
    with pytest.raises(SimulationError, match="shows a tile of known extents"):
        run(op, np.zeros((8, 4), np.float16), 0)


# Slices


def slice_op(kind: type[Any], part: str, shape: str, whole: str = "16x8") -> Any:
    types = f"%t: tensor<{whole}xf32>, %p: tensor<{shape}xf32>"
    line = f"nv_tileas.extract_slice %t{part} : tensor<{whole}xf32> -> tensor<{shape}xf32>"
    if kind is InsertSliceOp:
        tiles = f"tensor<{shape}xf32> into tensor<{whole}xf32>"
        line = f"nv_tileas.insert_slice %p into %t{part} : {tiles}"
    return only(
        f"""func.func @f({types}, %i: index, %n: index, %s: index) {{
          %0 = {line}
          func.return
        }}""",
        kind,
    )


@given(st.data())
def test_slices_are_what_their_coordinates_say(data: st.DataObject):
    offsets, sizes, strides = [], [], []
    for extent in (16, 8):
        offsets.append(data.draw(st.integers(0, extent - 1)))
        strides.append(data.draw(st.integers(1, 4)))
        sizes.append(data.draw(st.integers(1, 1 + (extent - 1 - offsets[-1]) // strides[-1])))
    open_places = data.draw(st.booleans())
    part = str(offsets) + str(sizes) + str(strides)
    shape, numbers = "x".join(map(str, sizes)), ()
    if open_places:
        part = f"[%i, {offsets[1]}][{sizes[0]}, %n][%s, {strides[1]}]"
        shape, numbers = f"{sizes[0]}x?", (offsets[0], sizes[1], strides[0])
    whole = RNG.standard_normal((16, 8)).astype(np.float32)
    piece = RNG.standard_normal(sizes).astype(np.float32)
    before = whole.copy()
    taken = run(slice_op(ExtractSliceOp, part, shape), whole, *numbers)
    put = run(slice_op(InsertSliceOp, part, shape), piece, whole, *numbers)
    assert np.array_equal(whole, before)
    assert taken.shape == tuple(sizes)
    wanted = whole.copy()
    for i, j in np.ndindex(*sizes):
        place = offsets[0] + i * strides[0], offsets[1] + j * strides[1]
        assert taken[i, j] == whole[place]
        wanted[place] = piece[i, j]
    assert np.array_equal(put, wanted)


OUTSIDE = [
    ((9, 8, 1), "reaches element 16 of dimension 0, whose extent is 16"),
    ((2, 8, 2), "reaches element 16 of dimension 0, whose extent is 16"),
    ((-1, 8, 1), "the offset of dimension 0 is at least 0, not -1"),
    ((0, 0, 1), "the size of dimension 0 is at least 1, not 0"),
    ((0, 2, 0), "the stride of dimension 0 is at least 1, not 0"),
    ((9, 2, -1), "the stride of dimension 0 is at least 1, not -1"),
]


@pytest.mark.parametrize("kind", [ExtractSliceOp, InsertSliceOp])
@pytest.mark.parametrize(("numbers", "message"), OUTSIDE)
def test_slices_stay_within_the_tile(kind: type[Any], numbers: tuple[int, ...], message: str):
    op = slice_op(kind, "[%i, 0][%n, 8][%s, 1]", "?x8")
    whole = np.ones((16, 8), np.float32)
    operands = (whole,) if kind is ExtractSliceOp else (np.ones((numbers[1], 8), np.float32), whole)
    with pytest.raises(SimulationError, match=message) as info:
        run(op, *operands, *numbers)
    assert kind.name in str(info.value)


def test_what_is_inserted_has_the_extents_of_the_slice():
    op = slice_op(InsertSliceOp, "[%i, 0][%n, 8][%s, 1]", "?x8")
    with pytest.raises(SimulationError, match="the slice is 4x8, but the source 3x8"):
        run(op, np.ones((3, 8), np.float32), np.ones((16, 8), np.float32), 0, 4, 2)
