"""Tiles made of other tiles, reductions, scans and products of Tile IR, against numpy."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.support.tile_ir import TYPES, Array, entry, run, whole_tiles


def check(body: str, inputs: list[Array], *wanted: Array, tolerance: float = 0.0) -> None:
    found = whole_tiles(body, inputs, [np.zeros_like(array) for array in wanted])
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(
            one.astype(np.float64), other.astype(np.float64), tolerance, tolerance
        )


def random(*shape: int, dtype: Any = np.float32, seed: int = 1) -> Array:
    values = np.random.default_rng(seed).standard_normal(shape) * 8
    return values.astype(dtype)


def test_constants() -> None:
    body = """%r0 = constant <f32: [[1.0, -2.0], [3.5, 4.0]]> : tile<2x2xf32>
    %r1 = constant <i16: -7> : tile<4xi16>
    %r2 = constant <f16: 1.5> : tile<4x2xf16>"""
    numbers = np.array([[1, -2], [3.5, 4]], np.float32)
    check(body, [], numbers, np.full(4, -7, np.int16), np.full((4, 2), 1.5, np.float16))


@pytest.mark.parametrize(("element", "dtype"), [("i8", np.int8), ("i32", np.int32)])
def test_iota(element: str, dtype: Any) -> None:
    check(f"%r0 = iota : tile<64x{element}>", [], np.arange(64, dtype=dtype))


def test_broadcast_repeats_extents_of_one() -> None:
    a = random(4, 1, 8)
    body = "%r0 = broadcast %a0 : tile<4x1x8xf32> -> tile<4x2x8xf32>"
    check(body, [a], np.broadcast_to(a, (4, 2, 8)))


def test_broadcast_of_a_scalar() -> None:
    body = """%s = constant <f32: 2.5> : tile<f32>
    %m = reshape %s : tile<f32> -> tile<1x1xf32>
    %r0 = broadcast %m : tile<1x1xf32> -> tile<4x8xf32>"""
    check(body, [], np.full((4, 8), 2.5, np.float32))


@pytest.mark.parametrize("shape", [(32,), (2, 16), (1, 8, 4), (4, 8, 1), (4, 1, 8, 1)])
def test_reshape(shape: tuple[int, ...]) -> None:
    a = random(4, 8)
    extents = "x".join(map(str, shape))
    body = f"%r0 = reshape %a0 : tile<4x8xf32> -> tile<{extents}xf32>"
    check(body, [a], a.reshape(shape))


def test_reshape_of_one_element() -> None:
    a = random(1, 1)
    body = """%s = reshape %a0 : tile<1x1xf32> -> tile<f32>
    %t = addf %s, %s : tile<f32>
    %r0 = reshape %t : tile<f32> -> tile<1xf32>"""
    check(body, [a], 2 * a.reshape(1))


@pytest.mark.parametrize("order", [(0, 2, 1), (1, 2, 0), (2, 0, 1)])
def test_permute(order: tuple[int, ...]) -> None:
    a = random(2, 4, 8)
    wanted = a.transpose(order)
    extents = "x".join(map(str, wanted.shape))
    body = f"%r0 = permute %a0 {list(order)} : tile<2x4x8xf32> -> tile<{extents}xf32>"
    check(body, [a], wanted)


@pytest.mark.parametrize("axis", [0, 1])
def test_cat(axis: int) -> None:
    a, b = random(4, 8), random(4, 8, seed=2)
    wanted = np.concatenate([a, b], axis)
    extents = "x".join(map(str, wanted.shape))
    types = f"tile<4x8xf32>, tile<4x8xf32> -> tile<{extents}xf32>"
    check(f"%r0 = cat %a0, %a1 dim = {axis} : {types}", [a, b], wanted)


def test_extract_and_insert() -> None:
    a, b = random(8, 16), random(2, 8, seed=2)
    body = """%one = constant <i32: 1> : tile<i32>
    %two = addi %one, %one : tile<i32>
    %r0 = extract %a0[%two, %one] : tile<8x16xf32> -> tile<2x8xf32>
    %r1 = insert %a1, %a0[%two, %one] : tile<2x8xf32>, tile<8x16xf32>"""
    inserted = a.copy()
    inserted[4:6, 8:] = b
    check(body, [a, b], a[4:6, 8:], inserted)


def _combined(kind: str, dims: str, types: str, body: str) -> str:
    identities = "identities=[0.0 : f32]"
    return f"""%r0 = {kind} %a0 {dims} {identities} : {types} (%before: tile<f32>, %next: tile<f32>) {{
      {body}
      yield %s : tile<f32>
    }}"""  # noqa: E501


@pytest.mark.parametrize("axis", [0, 1, 2])
@pytest.mark.parametrize(("name", "of"), [("addf", np.sum), ("maxf", np.max), ("mulf", np.prod)])
def test_reductions(axis: int, name: str, of: Any) -> None:
    a = random(2, 4, 8) / 4
    wanted = of(a, axis=axis)
    extents = "x".join(map(str, wanted.shape))
    text = _combined(
        "reduce",
        f"dim={axis}",
        f"tile<2x4x8xf32> -> tile<{extents}xf32>",
        f"%s = {name} %next, %before : tile<f32>",
    )
    check(text, [a], wanted, tolerance=1e-5)


def test_a_reduction_to_a_scalar() -> None:
    a = random(64)
    body = """%s = reduce %a0 dim=0 identities=[0.0 : f32] : tile<64xf32> -> tile<f32>
      (%before: tile<f32>, %next: tile<f32>) {
      %t = addf %next, %before : tile<f32>
      yield %t : tile<f32>
    }
    %r0 = reshape %s : tile<f32> -> tile<1xf32>"""
    check(body, [a], a.sum(keepdims=True), tolerance=1e-5)


@pytest.mark.parametrize("shape", [(1, 64), (64, 1), (1, 4, 1, 16), (1, 1, 1)])
def test_all_of_a_tile_is_reduced_by_dimensions(shape: tuple[int, ...]) -> None:
    """Dimensions of extent 1 are no reductions, and move nothing before there is a scalar."""
    a, body, name = random(*shape), "", "%a0"
    for k in range(len(shape)):
        before, after = (f"tile<{''.join(f'{n}x' for n in shape[at:])}f32>" for at in (k, k + 1))
        body += f"""%s{k} = reduce {name} dim=0 identities=[0.0 : f32] : {before} -> {after}
        (%before: tile<f32>, %next: tile<f32>) {{
          %t = addf %next, %before : tile<f32>
          yield %t : tile<f32>
        }}
        """
        name = f"%s{k}"
    body += f"%r0 = reshape {name} : tile<f32> -> tile<1xf32>"
    check(body, [a], a.sum().reshape(1), tolerance=1e-5)


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("axis", [0, 1])
def test_scans(axis: int, *, reverse: bool) -> None:
    a = random(4, 8)
    turned = np.flip(a, axis) if reverse else a
    wanted = np.cumsum(turned, axis=axis)
    text = _combined(
        "scan",
        f"dim={axis} reverse={str(reverse).lower()}",
        "tile<4x8xf32> -> tile<4x8xf32>",
        "%s = addf %before, %next : tile<f32>",
    )
    check(text, [a], np.flip(wanted, axis) if reverse else wanted, tolerance=1e-5)


PAIRS = """(%b0: tile<f32>, %n0: tile<f32>, %b1: tile<{1}>, %n1: tile<{1}>) {{
      {0}
      yield %s0, %s1 : tile<f32>, tile<{1}>
    }}"""


def test_a_scan_goes_from_what_came_before_to_the_next() -> None:
    """Maps `x -> m * x + c`, one after another: their order matters, their grouping does not."""
    m, c = random(16) / 8, random(16, seed=2)
    wanted_m, wanted_c = m.copy(), c.copy()
    for k in range(1, 16):
        wanted_m[k] = m[k] * wanted_m[k - 1]
        wanted_c[k] = m[k] * wanted_c[k - 1] + c[k]
    body = """%s0 = mulf %n0, %b0 : tile<f32>
      %part = mulf %n0, %b1 : tile<f32>
      %s1 = addf %part, %n1 : tile<f32>"""
    types = "tile<16xf32>, tile<16xf32> -> tile<16xf32>, tile<16xf32>"
    identities = "identities=[1.0 : f32, 0.0 : f32]"
    text = f"""%r0, %r1 = scan %a0, %a1 dim=0 reverse=false {identities} : {types}
    {PAIRS.format(body, "f32")}"""
    check(text, [m, c], wanted_m, wanted_c, tolerance=1e-4)


@pytest.mark.parametrize("axis", [0, 1])
def test_where_the_largest_element_is(axis: int) -> None:
    a = random(8, 16)
    a[2], a[5] = a[5].copy(), a[5].copy()
    where = np.broadcast_to(np.indices(a.shape)[axis], a.shape).astype(np.int32)
    body = """%more = cmpf greater_than ordered %n0, %b0 : tile<f32> -> tile<i1>
      %same = cmpf equal ordered %n0, %b0 : tile<f32> -> tile<i1>
      %first = cmpi less_than %n1, %b1, signed : tile<i32> -> tile<i1>
      %tie = andi %same, %first : tile<i1>
      %take = ori %more, %tie : tile<i1>
      %s0 = select %take, %n0, %b0 : tile<i1>, tile<f32>
      %s1 = select %take, %n1, %b1 : tile<i1>, tile<i32>"""
    n = a.shape[1 - axis]
    identities = "identities=[0xFF800000 : f32, 0 : i32]"
    types = f"tile<8x16xf32>, tile<8x16xi32> -> tile<{n}xf32>, tile<{n}xi32>"
    text = f"""%r0, %r1 = reduce %a0, %a1 dim={axis} {identities} : {types}
    {PAIRS.format(body, "i32")}"""
    check(text, [a, where.copy()], a.max(axis), a.argmax(axis).astype(np.int32))


@pytest.mark.parametrize(
    ("factor", "accumulator", "tolerance"),
    [
        (np.float16, np.float32, 1e-3),
        (ml_dtypes.bfloat16, np.float32, 1e-3),
        (np.float16, np.float16, 0.5),
        (ml_dtypes.float8_e4m3fn, np.float32, 1e-3),
        (np.float64, np.float64, 1e-9),
    ],
)
def test_products(factor: Any, accumulator: Any, tolerance: float) -> None:
    a, b, c = random(16, 32, dtype=factor), random(32, 8, dtype=factor), random(16, 8)
    c = c.astype(accumulator)
    f, d = TYPES[np.dtype(factor).name], TYPES[np.dtype(accumulator).name]
    wanted = a.astype(np.float64) @ b.astype(np.float64) + c.astype(np.float64)
    body = f"%r0 = mmaf %a0, %a1, %a2 : tile<16x32x{f}>, tile<32x8x{f}>, tile<16x8x{d}>"
    check(body, [a, b, c], wanted.astype(accumulator), tolerance=tolerance)


def test_batched_products() -> None:
    a, b, c = (
        random(2, 16, 16, dtype=np.float16),
        random(2, 16, 8, dtype=np.float16),
        random(2, 16, 8),
    )
    wanted = a.astype(np.float32) @ b.astype(np.float32) + c
    body = "%r0 = mmaf %a0, %a1, %a2 : tile<2x16x16xf16>, tile<2x16x8xf16>, tile<2x16x8xf32>"
    check(body, [a, b, c], wanted, tolerance=1e-3)


@pytest.mark.parametrize(
    ("left", "right"), [("signed", "signed"), ("unsigned", "signed"), ("unsigned", "unsigned")]
)
def test_products_of_bytes(left: str, right: str) -> None:
    rng = np.random.default_rng(5)
    a = rng.integers(-128, 128, (16, 32)).astype(np.int8)
    b = rng.integers(-128, 128, (32, 8)).astype(np.int8)
    c = rng.integers(-1000, 1000, (16, 8)).astype(np.int32)
    read = [v if s == "signed" else v.view(np.uint8) for v, s in ((a, left), (b, right))]
    wanted = read[0].astype(np.int32) @ read[1].astype(np.int32) + c
    body = (
        f"%r0 = mmai %a0, %a1, %a2 {left} {right} : tile<16x32xi8>, tile<32x8xi8>, tile<16x8xi32>"
    )
    check(body, [a, b, c], wanted)


def test_products_of_scaled_blocks() -> None:
    """32 neighbours along K share a power of two."""
    fp8, e8m0 = ml_dtypes.float8_e4m3fn, ml_dtypes.float8_e8m0fnu
    a, b, c = random(128, 64, dtype=fp8), random(64, 32, dtype=fp8, seed=2), random(128, 32)
    rng = np.random.default_rng(3)
    sfa, sfb = ((2.0 ** rng.integers(-2, 3, s)).astype(e8m0) for s in ((128, 2), (2, 32)))
    left = a.astype(np.float64) * np.repeat(sfa.astype(np.float64), 32, 1)
    right = b.astype(np.float64) * np.repeat(sfb.astype(np.float64), 32, 0)
    wanted = (left @ right + c).astype(np.float32)
    f, s = "f8E4M3FN", "f8E8M0FNU"
    types = f"tile<128x64x{f}>, tile<64x32x{f}>, tile<128x32xf32>, tile<128x2x{s}>, tile<2x32x{s}>"
    body = f"%r0 = mmaf_scaled %a0, %a1, %a2, %a3, %a4 : {types}"
    (found,) = whole_tiles(body, [a, b, c, sfa, sfb], [c * 0], "sm_100a")
    np.testing.assert_allclose(found, wanted, 1e-4, 1e-4)


def test_the_grid() -> None:
    text = entry(
        "%p: tile<ptr<i32>>",
        """%nx, %ny, %nz = get_num_tile_blocks : tile<i32>
    %a = muli %z, %ny : tile<i32>
    %b = addi %a, %y : tile<i32>
    %c = muli %b, %nx : tile<i32>
    %d = addi %c, %x : tile<i32>
    %q = offset %p, %d : tile<ptr<i32>>, tile<i32> -> tile<ptr<i32>>
    %t = store_ptr_tko weak %q, %d : tile<ptr<i32>>, tile<i32> -> token""",
    )
    found = run(text, np.zeros(24, np.int32), grid=(4, 3, 2))[0]
    np.testing.assert_array_equal(found, np.arange(24))
