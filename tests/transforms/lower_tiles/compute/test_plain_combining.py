"""Reductions and scans in threads: the emulator, the tile interpreter and numpy agree."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from xdsl.utils.arg_spec import ArgSpec

from tests.support.plain_kernels import NUMPY, kernel, load
from tests.transforms.lower_tiles.compute.combined_kernels import Combined
from tileas_xdsl.analysis.layouts.axis_layouts import AxisSplit
from tileas_xdsl.compiler import compile
from tileas_xdsl.target.mma.warp_tiles import accumulator_layout

LOWERING = [ArgSpec("convert-tileas-to-cute-nvgpu", {}), ArgSpec("convert-cute-nvgpu-to-ptx", {})]
"""Without the passes that choose layouts."""

REDUCTIONS = [
    Combined("affine", (16, 32), 0),
    Combined("affine", (16, 32), 1, warps=5),
    Combined("affine", (2, 4, 2, 16), 2),
    Combined("affine", (1024,), 0),
    Combined("affine", (8,), 0, warps=1),
    Combined("largest", (8, 64), 1),
    Combined("largest", (64, 4), 0, warps=8),
    Combined("sum", (4, 16, 8), 1),
    Combined("half", (4, 16, 8), 0, warps=2),
    Combined("later", (32, 16), 0),
]

SCANS = [
    Combined("affine", (16, 32), 0, scans=True),
    Combined("affine", (16, 32), 1, scans=True, backward=True),
    Combined("affine", (2, 4, 2, 16), 1, warps=2, scans=True, backward=True),
    Combined("affine", (1024,), 0, scans=True),
    Combined("affine", (1024,), 0, scans=True, backward=True),
    Combined("largest", (2, 128), 1, warps=8, scans=True),
    Combined("sum", (512,), 0, warps=3, scans=True),
    Combined("half", (64, 2), 0, scans=True, backward=True),
    Combined("later", (16, 32), 1, scans=True),
]


@pytest.mark.sample(6)
@pytest.mark.parametrize("case", [*REDUCTIONS, *SCANS], ids=str)
def test_neighbours_are_combined_in_order(case: Combined) -> None:
    sources = case.sources(np.random.default_rng(5))
    expected = case.expected(sources)
    arguments = [*sources, *map(np.zeros_like, expected)]
    targets = ("sm_90a", "sm_100a") if case is REDUCTIONS[0] or case is SCANS[0] else ("sm_90a",)
    for target in targets:
        made = compile(case.text, target)
        run = made.emulate(*arguments, order="random")
        assert [str(finding) for finding in run.findings] == []
        for found in (run.arrays, made.simulate(*arguments).arrays):
            _compare(found[len(sources) :], expected, case.combiner.tolerance)


def _compare(found: list[np.ndarray], expected: list[np.ndarray], tolerance: float) -> None:
    for one, other in zip(found, expected, strict=True):
        if tolerance:
            np.testing.assert_allclose(one, other, rtol=tolerance, atol=10 * tolerance)
        else:
            np.testing.assert_array_equal(one, other)


def test_splits_hold_every_element_where_they_say() -> None:
    rng = np.random.default_rng(1)
    for _ in range(60):
        shape = tuple((1 << rng.integers(0, 5, int(rng.integers(1, 5)))).tolist())
        axis, warps = int(rng.integers(0, len(shape))), int(rng.integers(1, 9))
        split = AxisSplit.of(shape, axis, warps)
        held = split.layout.held
        used = 32 << (warps.bit_length() - 1)
        places = np.unravel_index(np.maximum(held[:used], 0), shape, order="F")
        assert (held[:used] >= 0).all()
        for thread, register in itertools.product(range(0, used, 7), range(held.shape[1])):
            lane, warp = thread % 32 // split.line_lanes, thread // 32 // split.line_warps
            part = lane % split.lanes + split.lanes * (warp % split.warps)
            wanted = register % split.run + split.run * part
            assert places[axis][thread, register] == wanted


@pytest.mark.parametrize(
    ("rows", "columns", "element", "warps"),
    [(64, 32, "f32", 4), (128, 16, "f16", 4), (128, 64, "i32", 8)],
)
def test_rows_of_accumulators_stay_where_they_are(
    rows: int, columns: int, element: str, warps: int
) -> None:
    """Four lanes have a row: what is left of it needs no shared memory, nor does its way back."""
    layout = accumulator_layout(rows, columns, warps // 4)
    encoding = f'#nv_tileas.linear<"{layout.layout}">'
    tile, line = f"{rows}x{columns}x{element}", f"{rows}x{element}"
    combiner = "arith.maximumf" if element[0] == "f" else "arith.addi"
    text = kernel(
        f"%a: memref<{tile}>, %b: memref<{tile}>",
        load("t", "a", f"memref<{tile}>", tile, "%zero, %zero")
        + f"""%s = nv_tileas.convert_layout %t : tensor<{tile}> -> tensor<{tile}, {encoding}>
  %m = nv_tileas.reduce %s {{axis = 1 : i32}} : tensor<{tile}, {encoding}> -> tensor<{line}> {{
  ^bb0(%l: {element}, %r: {element}):
    %c = {combiner} %l, %r : {element}
    nv_tileas.yield %c : {element}
  }}
  %o = nv_tileas.generate : tensor<{tile}, {encoding}> {{
  ^bb0(%i: index, %j: index):
    %e = tensor.extract %m[%i] : tensor<{line}>
    nv_tileas.yield %e : {element}
  }}
  %view = nv_tileas.view %b : memref<{tile}> -> !nv_tileas.tiled_view<{tile}, gmem>
  nv_tileas.tiled_store %o, %view[%zero, %zero] {{atom = #stg}} : tensor<{tile}, {encoding}>, !nv_tileas.tiled_view<{tile}, gmem>""",  # noqa: E501
        warps,
    )
    numbers = np.random.default_rng(9).integers(-99, 99, (rows, columns)).astype(NUMPY[element])
    combined = numbers.max(1) if element[0] == "f" else numbers.sum(1, dtype=np.int32)
    expected = np.broadcast_to(combined[:, None], numbers.shape)
    made = compile(text, passes=LOWERING)
    run = made.emulate(numbers, np.zeros_like(numbers), order="random")
    assert [str(finding) for finding in run.findings] == []
    np.testing.assert_array_equal(run.arrays[1], expected)
    np.testing.assert_array_equal(
        made.simulate(numbers, np.zeros_like(numbers)).arrays[1], expected
    )
    lines = [line for line in made.abi.shared_map.splitlines() if "exchange" in line]
    assert all("convert_layout" in line for line in lines)
