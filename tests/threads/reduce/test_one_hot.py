"""Reductions of which a mask leaves one element of each line, in threads against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from support.encodings import ELEMENTS, lowered, random_array, random_encoding
from support.plain_kernels import Array, kernel, store
from support.seeds import seeds

from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.output.text import parse_cute_layout

CASES = [
    ("f32", "arith.addf", "0.0"),
    ("f32", "arith.maxnumf", "0xFF800000"),
    ("i32", "arith.addi", "0"),
    ("f16", "arith.addf", "0.0"),
    ("i64", "arith.xori", "0"),
    ("i8", "arith.minsi", "7"),
]


def program(
    shape: tuple[int, int],
    element: str,
    layout: Layout,
    step: str,
    other: str,
    axis: int,
    warps: int,
) -> str:
    """Sum up, say, what `select(coordinate == %k, %t, other)` leaves of a tile along an axis."""
    rows, columns = shape
    tile = f'tensor<{rows}x{columns}x{element}, #nv_tileas.linear<"{layout}">>'
    view = f"!nv_tileas.tiled_view<{rows}x{columns}x{element}, gmem>"
    array, line = f"memref<{rows}x{columns}x{element}>", f"{shape[1 - axis]}x{element}"
    body = f"""%of = nv_tileas.view %a : {array} -> {view}
  %t = nv_tileas.tiled_load %of[%zero, %zero] {{atom = #ldg}} : {view} -> {tile}
  %o = arith.constant {other} : {element}
  %m = nv_tileas.generate : {tile} {{
  ^bb0(%i: index, %j: index):
    %c = arith.index_cast {("%i", "%j")[axis]} : index to i32
    %here = arith.cmpi eq, %c, %k : i32
    %e = tensor.extract %t[%i, %j] : {tile}
    %w = arith.select %here, %e, %o : {element}
    nv_tileas.yield %w : {element}
  }}
  %s = nv_tileas.reduce %m {{axis = {axis} : i32}} : {tile} -> tensor<{line}> {{
  ^bb0(%lhs: {element}, %rhs: {element}):
    %both = {step} %lhs, %rhs : {element}
    nv_tileas.yield %both : {element}
  }}
  """ + store("s", "b", f"memref<{line}>", line, "%zero")
    return kernel(f"%a: {array}, %b: memref<{line}>, %k: i32", body, warps)


def chosen(numbers: Array, other: str, step: str, axis: int, position: int) -> Array:
    """The line of an array, combined with what the other elements are."""
    filled = np.full(numbers.shape[1 - axis], float(other) if "x" not in other else -np.inf)
    rest = filled.astype(numbers.dtype)
    if not 0 <= position < numbers.shape[axis]:
        return rest
    line = np.take(numbers, position, axis)
    if step in ("arith.addf", "arith.addi"):
        return line + rest
    by = {"arith.maxnumf": np.fmax, "arith.minsi": np.minimum, "arith.xori": np.bitwise_xor}
    return by[step](line, rest)


@pytest.mark.sample(6)
@pytest.mark.parametrize("seed", seeds(12, 60))
def test_lines_in_any_registers(seed: int) -> None:
    """Bit for bit, -0.0, infinities and NaN included, and positions outside of the tile."""
    rng = np.random.default_rng([41, seed])
    element, step, other = CASES[seed % len(CASES)]
    warps = int(rng.choice([1, 2, 4, 8]))
    shape = (int(rng.choice([4, 16, 64])), int(rng.choice([4, 32, 64])))
    axis = int(rng.integers(2))
    layout = random_encoding(rng, shape, 32 * warps, sparse=False)
    numbers = random_array(rng, shape, element)
    if element == "f32":
        odd = np.array([-0.0, np.inf, -np.inf, np.nan, 0.0], np.float32)
        numbers = np.where(rng.random(shape) < 0.3, rng.choice(odd, shape), numbers)
    made = lowered(program(shape, element, layout, step, other, axis, warps))
    for position in (int(rng.integers(shape[axis])), shape[axis] - 1, shape[axis] + 1, -1):
        unset = np.full(shape[1 - axis], 77).astype(ELEMENTS[element])
        found = made.emulate(numbers, unset, position, grid=1, order="random")
        assert [str(finding) for finding in found.findings] == []
        expected = chosen(numbers, other, step, axis, position)
        np.testing.assert_array_equal(found.arrays[1], expected)
        if element == "f32":
            np.testing.assert_array_equal(np.signbit(found.arrays[1]), np.signbit(expected))


LANES = "(8,32):(1@value,1@thread)"
WARPS = "((2,4),32):((1@value,32@thread),1@thread)"


@pytest.mark.parametrize(
    ("text", "axis", "warps", "shuffles", "meetings"),
    [(LANES, 1, 1, 8, 0), (LANES, 0, 1, 0, 0), (WARPS, 0, 4, 0, 1), (WARPS, 1, 4, 2, 0)],
    ids=["a lane's column", "registers of a thread", "a warp's row", "columns in four warps"],
)
def test_one_owner_hands_elements_on(
    text: str, axis: int, warps: int, shuffles: int, meetings: int
) -> None:
    """A shuffle for each element of a thread, and what one warp has through shared memory."""
    layout = parse_cute_layout(text)
    assert isinstance(layout, Layout)
    ptx = lowered(program((8, 32), "f32", layout, "arith.addf", "0.0", axis, warps)).ptx
    assert ptx.count("shfl.sync.idx.b32 %f") == shuffles
    assert "shfl.sync.bfly" not in ptx
    assert ptx.count("bar.sync") == meetings
