"""Row reductions over arbitrary register layouts, in threads against numpy."""

from __future__ import annotations

import numpy as np
import pytest
from support.encodings import ELEMENTS, lowered, random_array, random_encoding
from support.plain_kernels import kernel, store
from support.seeds import seeds

from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.output.text import parse_cute_layout
from tileas_xdsl.layout.registers.register_layout import RegisterLayout
from tileas_xdsl.threads.reduce.spread_lines import SpreadLines

STEPS = {
    "arith.addf": np.add,
    "arith.addi": np.add,
    "arith.maxnumf": np.maximum,
    "arith.minsi": np.minimum,
    "arith.xori": np.bitwise_xor,
}
CASES = [
    ("f32", "arith.maxnumf"),
    ("f32", "arith.addf"),
    ("i32", "arith.xori"),
    ("f16", "arith.maxnumf"),
    ("i64", "arith.addi"),
    ("i8", "arith.minsi"),
]


def program(
    shape: tuple[int, int], element: str, layout: Layout, step: str, warps: int, axis: int
) -> str:
    """A tile is loaded as it is laid out, and one value for each row or column stored."""
    rows, columns = shape
    tile = f'tensor<{rows}x{columns}x{element}, #nv_tileas.linear<"{layout}">>'
    view = f"!nv_tileas.tiled_view<{rows}x{columns}x{element}, gmem>"
    array, line = f"memref<{rows}x{columns}x{element}>", f"{shape[1 - axis]}x{element}"
    body = f"""%of = nv_tileas.view %a : {array} -> {view}
  %t = nv_tileas.tiled_load %of[%zero, %zero] {{atom = #ldg}} : {view} -> {tile}
  %s = nv_tileas.reduce %t {{axis = {axis} : i32}} : {tile} -> tensor<{line}> {{
  ^bb0(%lhs: {element}, %rhs: {element}):
    %both = {step} %lhs, %rhs : {element}
    nv_tileas.yield %both : {element}
  }}
  """ + store("s", "b", f"memref<{line}>", line, "%zero")
    return kernel(f"%a: {array}, %b: memref<{line}>", body, warps)


def check(
    shape: tuple[int, int], element: str, layout: Layout, step: str, warps: int, axis: int = 1
) -> str:
    """Run a reduction; its PTX."""
    rng = np.random.default_rng(3)
    numbers = random_array(rng, shape, element)
    made = lowered(program(shape, element, layout, step, warps, axis))
    unset = np.full(shape[1 - axis], 77).astype(ELEMENTS[element])
    found = made.emulate(numbers, unset, grid=1, order="random")
    assert [str(finding) for finding in found.findings] == []
    expected = STEPS[step].reduce(numbers, axis=axis)
    if step == "arith.addf":
        np.testing.assert_allclose(found.arrays[1], expected, rtol=2e-5, atol=2e-5)
    else:
        np.testing.assert_array_equal(found.arrays[1], expected)
    return made.ptx


@pytest.mark.sample(6)
@pytest.mark.parametrize("seed", seeds(12, 60))
def test_rows_in_any_registers(seed: int) -> None:
    rng = np.random.default_rng([37, seed])
    element, step = CASES[seed % len(CASES)]
    warps = int(rng.choice([1, 2, 4, 8]))
    shape = (int(rng.choice([4, 16, 64])), int(rng.choice([4, 32, 64])))
    sparse = rng.random() < 0.2
    layout = random_encoding(rng, shape, 32 * warps, sparse=sparse)
    check(shape, element, layout, step, warps)


@pytest.mark.sample(6)
@pytest.mark.parametrize("seed", seeds(12, 60))
def test_columns_in_any_registers(seed: int) -> None:
    rng = np.random.default_rng([38, seed])
    element, step = CASES[seed % len(CASES)]
    warps = int(rng.choice([1, 2, 4]))
    shape = (int(rng.choice([4, 16, 64])), int(rng.choice([4, 32])))
    check(shape, element, random_encoding(rng, shape, 32 * warps), step, warps, axis=0)


def test_columns_are_reduced_where_they_are() -> None:
    """A thread has 16 rows of four columns; four lanes share a column."""
    layout = parse_cute_layout("((16,4),(8,4)):((4@value,8@thread),(1@thread,1@value))")
    assert isinstance(layout, Layout)
    ptx = check((64, 32), "f32", layout, "arith.maxnumf", 1, axis=0)
    assert ptx.count("shfl.sync.bfly") == 4 * 2
    assert "st.shared" not in ptx


ROW = "(64,32):(1@thread,1@value)"
QUAD = "((8,2,4),(2,4,4)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value))"
HALVES = "((8,2,4),(2,4,2,2)):((4@thread,2@value,32@thread),(1@value,1@thread,4@value,128@thread))"
TWO = "((32,2),(16,2)):((1@thread,32@thread),(1@value,64@thread))"


@pytest.mark.parametrize(
    ("text", "warps", "shuffles", "meetings"),
    [(ROW, 2, 0, 0), (QUAD, 4, 2 * 2, 0), (TWO, 4, 0, 1), (HALVES, 8, 2 * 2, 1)],
    ids=["a thread", "four lanes", "two warps", "accumulators of two warpgroups"],
)
def test_threads_exchange_what_they_must(
    text: str, warps: int, shuffles: int, meetings: int
) -> None:
    """Rows of a thread go to no other, those of more lanes or warps to these."""
    layout = parse_cute_layout(text)
    assert isinstance(layout, Layout)
    ptx = check((64, 32), "f32", layout, "arith.maxnumf", warps)
    assert ptx.count("shfl.sync.bfly") == shuffles
    assert ptx.count("bar.sync") == meetings


@pytest.mark.parametrize(
    ("text", "shuffles"),
    [
        ("(32,32):(1@value,1@thread)", 31 + 32),
        ("((8,4),(8,4)):((1@value,8@thread),(1@thread,8@value))", 7 + 8),
        ("((4,8),(4,8)):((1@value,4@thread),(1@thread,4@value))", 4 * 2),
        ("((2,2),(32,1)):((1@value,2@value),(1@thread,0))", 3 + 3 + 4),
    ],
    ids=["as many rows as lanes", "eight rows of eight lanes", "few lanes", "few rows"],
)
def test_lanes_go_on_with_half_of_their_rows(text: str, shuffles: int) -> None:
    """Rows that lanes share are halved in each step, and shown to all behind it."""
    layout = parse_cute_layout(text)
    assert isinstance(layout, Layout)
    rows, columns = (4, 32) if shuffles == 10 else (32, 32)
    ptx = check((rows, columns), "f32", layout, "arith.addf", 1)
    assert ptx.count("shfl.sync") == shuffles


@pytest.mark.parametrize(
    ("text", "rows", "warps"),
    [
        ("((8,4),(8,4,4)):((1@value,8@thread),(1@thread,8@value,32@thread))", 32, 4),
        (
            "((8,4,2),(8,4,2)):((1@value,8@thread,32@thread),(1@thread,8@value,64@thread))",
            64,
            4,
        ),
        ("((4,16),(2,4,8)):((1@value,2@thread),(1@thread,4@value,32@thread))", 64, 8),
    ],
    ids=["all warps", "pairs of warps", "half of the lines"],
)
def test_warps_exchange_what_lanes_have_left(text: str, rows: int, warps: int) -> None:
    """Each lane leaves its part of the rows that it went on with, once, and all rows come back."""
    layout = parse_cute_layout(text)
    assert isinstance(layout, Layout)
    columns = {32: 128, 64: 64}[rows]
    ptx = check((rows, columns), "f32", layout, "arith.addf", warps)
    assert ptx.count("bar.sync") == 1
    assert ptx.count("st.shared") == (2 if "16" in text else 1)


def test_rows_of_which_threads_have_different_parts_go_the_usual_way() -> None:
    """Three parts for two warps of four: no bits of a thread's number tell the part."""
    text = "(8,(2,6)):(1@thread,(1@value,8@thread))"
    layout = parse_cute_layout(text)
    assert isinstance(layout, Layout)
    assert SpreadLines.of(RegisterLayout(layout, (8, 12), 64), 1) is None
