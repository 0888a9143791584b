"""`tileas-materialize-constants`: interpreted results are the same with constants expanded."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from tests.support.tile_ir import TYPES, Array, text_of_tiles
from tileas_xdsl.compiler import compile


def literal(values: Array) -> str:
    """An array as Tile IR writes it."""
    if values.ndim:
        return f"[{', '.join(map(literal, values))}]"
    if values.dtype == np.bool_:
        return str(bool(values)).lower()
    return str(int(values)) if values.dtype.kind == "i" else repr(float(values))


def constant(values: Array) -> str:
    element = TYPES[values.dtype.name]
    extents = "".join(f"{n}x" for n in values.shape)
    return f"constant <{element}: {literal(values)}> : tile<{extents}{element}>"


def check(body: str, inputs: list[Array], wanted: Array) -> str:
    out = np.zeros_like(wanted)
    kernel = compile(text_of_tiles(body, inputs, [out]))
    simulated, run = kernel.simulate(*inputs, out), kernel.emulate(*inputs, out)
    assert [str(finding) for finding in run.findings] == []
    for found in (simulated.arrays[-1], run.arrays[-1]):
        assert found.tobytes() == wanted.tobytes()
    return kernel.ptx


@pytest.mark.sample(12)
@pytest.mark.parametrize("shape", [(4,), (2, 4), (64,), (2, 8, 16)])
@pytest.mark.parametrize(
    "dtype",
    [np.int8, np.int64, np.float32, np.float64, np.float16, ml_dtypes.float8_e4m3fn],
)
def test_elements(dtype: Any, shape: tuple[int, ...]) -> None:
    values = (np.random.default_rng(1).standard_normal(shape) * 60).astype(dtype)
    ptx = check(f"%r0 = {constant(values)}", [], values)
    assert (".global .align 16 .b8 constant_0[" in ptx) == (values.size > 8)


@pytest.mark.parametrize("shape", [(8,), (8, 16)])
def test_truth_values(shape: tuple[int, ...]) -> None:
    rng = np.random.default_rng(2)
    mask, a, b = rng.random(shape) < 0.5, *rng.standard_normal((2, *shape)).astype(np.float32)
    extents = "x".join(map(str, shape))
    body = f"""%m = {constant(mask)}
    %r0 = select %m, %a0, %a1 : tile<{extents}xi1>, tile<{extents}xf32>"""
    check(body, [a, b], np.where(mask, a, b))


def test_constants_are_there_once_and_where_they_are_used() -> None:
    """Along another axis, in products, and of the same elements twice."""
    rng = np.random.default_rng(3)
    a = rng.standard_normal((64, 16)).astype(np.float16)
    b = rng.standard_normal((16, 16)).astype(np.float16)
    tile, sums = "tile<16x16xf16>", "tile<64x16xf32>"
    body = f"""%b = {constant(b)}
    %c = {constant(b)}
    %d = permute %c [1, 0] : {tile} -> {tile}
    %s = constant <f32: 0.0> : {sums}
    %e = mmaf %a0, %b, %s : tile<64x16xf16>, {tile}, {sums}
    %r0 = mmaf %a0, %d, %e : tile<64x16xf16>, {tile}, {sums}"""
    wide, factor = a.astype(np.float64), b.astype(np.float64)
    out = np.zeros((64, 16), np.float32)
    kernel = compile(text_of_tiles(body, [a], [out]))
    found = kernel.emulate(a, out)
    assert [str(finding) for finding in found.findings] == []
    np.testing.assert_allclose(found.arrays[1], wide @ factor + wide @ factor.T, 1e-3, 1e-3)
    assert kernel.ptx.count(".global .align 16 .b8 constant_") == 1


def test_registers_that_are_chosen() -> None:
    values = np.random.default_rng(4).integers(-(2**31), 2**31, (8, 16)).astype(np.int32)
    lines = f"""
#stg = #nv_tileas<atom stg>
#rows = #nv_tileas.blocked<"(8,(4,4)):(4@thread,(1@thread,1@value))">
func.func @k(%out: memref<8x16xi32>) attributes {{nv_tileaa.kernel_spec = SPEC}} {{
  %z = arith.constant 0 : index
  %c = arith.constant dense<{literal(values)}> : tensor<8x16xi32, #rows>
  %v = nv_tileas.view %out : memref<8x16xi32> -> !nv_tileas.tiled_view<8x16xi32, gmem>
  nv_tileas.tiled_store %c, %v[%z, %z] {{atom = #stg}}
    : tensor<8x16xi32, #rows>, !nv_tileas.tiled_view<8x16xi32, gmem>
  func.return
}}"""
    text = lines.replace("SPEC", "#nv_tileaa.kernel_spec<num_warps = 1>")
    out = np.zeros_like(values)
    for found in (compile(text).simulate(out), compile(text).emulate(out)):
        assert found.arrays[0].tolist() == values.tolist()
