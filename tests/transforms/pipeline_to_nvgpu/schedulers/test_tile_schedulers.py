"""Tile schedulers on the emulator: what all blocks visit is every tile's K, once."""

from __future__ import annotations

from collections import defaultdict
from functools import cache
from string import Template
from typing import NamedTuple

import numpy as np
import pytest

from tileas_xdsl.compiler import CompiledKernel, compile
from tileas_xdsl.pipelines import PIPELINES

ROOM = 128
"""Visits that a block may note."""

WORDS = 8
"""Numbers of a visit."""

KERNEL = Template("""
!cell = !cute.ptr<i32, gmem>
!params = !cutlass.scheduler_params<$KIND, $RASTER>
!work = !cutlass.work_tile_info$PART
func.func @visits(%cells: !cell, %m: i32, %n: i32, %k: i32, %l: i32, %units: i32) attributes {
    cute.kernel, nvvm.reqntid = array<i32: 32, 1, 1>, tileas.smem_bytes = 0 : i32,
    tileas.parameters = ["ptr 0", "scalar 1", "scalar 2", "scalar 3", "scalar 4", "scalar 5"],
    tileas.tensor_maps = [], tileas.smem_map = ""} {
  %c0 = arith.constant 0 : i32
  %one = arith.constant 1 : i32
  %width = arith.constant $WORDS : i32
  %block = cute_nvgpu.arch.block_idx "x"
  %lane = cute_nvgpu.arch.lane_idx
  %first = arith.cmpi eq, %lane, %c0 : i32
  $PARAMS
  %room = arith.constant $BLOCK : i32
  %begin = arith.muli %block, %room : i32
  scf.if %first {
    %w0 = cutlass.tile_scheduler.initial_work_tile_info %p : !params
    %wn, %end = scf.while (%w = %w0, %at = %begin) : (!work, i32) -> (!work, i32) {
      %valid = cutlass.tile_scheduler.work_tile_info_get_value %p, %w["is_valid"] : !params -> i1
      scf.condition(%valid) %w, %at : !work, i32
    } do {
    ^bb0(%w: !work, %at: i32):
      %place = cute.add_offset %cells, %at : !cell, i32 -> !cell
      %tm, %tn, %tk, %tl = cutlass.tile_scheduler.work_tile_info_to_coord_mnkl %p, %w : !params
      %start = cutlass.tile_scheduler.get_work_k_tile_start %p, %w : !params
      %last = cutlass.tile_scheduler.compute_epilogue %p, %w : !params
      %ends = arith.extui %last : i1 to i32
      $COUNT
      cute.ptr.store %tm, %place : i32, !cell
      cute.ptr.store %tn, %place offset 1 : i32, !cell
      cute.ptr.store %tl, %place offset 2 : i32, !cell
      cute.ptr.store %start, %place offset 3 : i32, !cell
      cute.ptr.store %count, %place offset 4 : i32, !cell
      cute.ptr.store %ends, %place offset 5 : i32, !cell
      cute.ptr.store %one, %place offset 6 : i32, !cell
      cute.ptr.store %tk, %place offset 7 : i32, !cell
      %then = arith.addi %at, %width : i32
      %next = $NEXT
      scf.yield %next, %then : !work, i32
    }
  }
  func.return
}
""")

CREATE = "%p = cutlass.tile_scheduler.{does}_{kind}_params %m, %n, {k}%l {tile}{units}: !params"
COUNT = "%count = cutlass.tile_scheduler.get_work_k_tile_count %p, %w : !params"
FETCH = "cutlass.tile_scheduler.{word} %p, %w : !params"


class Visit(NamedTuple):
    """What a block did with a tile."""

    m: int
    n: int
    l: int
    start: int
    length: int
    ends: int


class Problem(NamedTuple):
    """Tiles along the axes, units of stream-K, blocks of the launch."""

    m: int
    n: int
    k: int
    l: int
    units: int
    blocks: int


@cache
def kernel(kind: str, raster: str, least: int, word: str, tile: str = "") -> CompiledKernel:
    """A kernel that notes what its blocks visit; extents are of tiles, or of a problem."""
    splits = kind == "streamk"
    create = CREATE.format(
        does="make" if tile else "create",
        kind=kind,
        k="%k, " if splits else "",
        tile=f"tile [{tile}] " if tile else "",
        units=f"units %units least {least} " if splits else "",
    )
    text = KERNEL.substitute(
        KIND=kind,
        RASTER=raster,
        PART="<streamk>" if splits else "",
        PARAMS=create,
        COUNT=COUNT if splits else "%count = arith.addi %k, %c0 : i32",
        NEXT=FETCH.format(word=word),
        WORDS=WORDS,
        BLOCK=ROOM * WORDS,
    )
    return compile(text, passes=PIPELINES["cute-to-ptx"].passes)


def visits(made: CompiledKernel, problem: Problem) -> list[list[Visit]]:
    """By block, what it visits."""
    cells = np.zeros(problem.blocks * ROOM * WORDS, np.int32)
    m, n, k, l, units, blocks = map(int, problem)
    found = made.emulate(cells, m, n, k, l, units, grid=blocks)
    assert [str(finding) for finding in found.findings] == []
    rows = found.arrays[0].reshape(blocks, ROOM, WORDS)
    assert np.array_equal(rows[:, :, 7], rows[:, :, 3])
    return [[Visit(*map(int, row[:6])) for row in rows_of if row[6]] for rows_of in rows]


def check_covered(found: list[list[Visit]], problem: Problem) -> None:
    """Every tile's K is visited once, and one visit, the last along K, ends the tile."""
    parts: dict[tuple[int, int, int], list[Visit]] = defaultdict(list)
    for visit in (visit for block in found for visit in block):
        parts[visit.m, visit.n, visit.l].append(visit)
    assert set(parts) == set(np.ndindex(problem.m, problem.n, problem.l))
    for mine in parts.values():
        mine.sort(key=lambda visit: visit.start)
        ends = [visit.start + visit.length for visit in mine]
        assert [visit.start for visit in mine] == [0, *ends[:-1]]
        assert ends[-1] == problem.k
        assert all(visit.length > 0 for visit in mine)
        assert [visit.ends for visit in mine] == [0] * (len(mine) - 1) + [1]


def problems(seed: int, count: int) -> list[Problem]:
    rng = np.random.default_rng(seed)
    return [Problem(*rng.integers(1, (6, 6, 13, 3, 9, 9), endpoint=True)) for _ in range(count)]


@pytest.mark.sample(2)
@pytest.mark.parametrize("raster", ["m", "n"])
@pytest.mark.parametrize("word", ["static_fetch_next_work", "fetch_next_work"])
def test_persistent_blocks_visit_every_tile(word: str, raster: str) -> None:
    for problem in problems(0, 12):
        found = visits(kernel("static_persistent", raster, 1, word), problem)
        check_covered(found, problem)


@pytest.mark.parametrize("raster", ["m", "n"])
def test_one_tile_for_each_block(raster: str) -> None:
    for problem in problems(1, 8):
        problem = problem._replace(blocks=problem.m * problem.n * problem.l + 2)
        found = visits(kernel("dp", raster, 1, "fetch_next_work"), problem)
        check_covered(found, problem)
        assert [len(block) for block in found] == [1] * (problem.blocks - 2) + [0, 0]


@pytest.mark.sample(2)
@pytest.mark.parametrize("raster", ["m", "n"])
@pytest.mark.parametrize("least", [1, 4])
def test_units_share_the_last_tiles(least: int, raster: str) -> None:
    """Also with other blocks than units, which then do several units or none."""
    made = kernel("streamk", raster, least, "fetch_next_work")
    for problem in problems(least, 30):
        check_covered(visits(made, problem), problem)


@pytest.mark.parametrize(
    ("kind", "tile"), [("dp", "5, 7"), ("static_persistent", "5, 7"), ("streamk", "5, 7, 3")]
)
def test_extents_of_a_problem_are_covered_by_tiles(kind: str, tile: str) -> None:
    """The last tile along an axis may be cut, as little or as much as there is."""
    made, rng = kernel(kind, "m", 1, "fetch_next_work", tile), np.random.default_rng(7)
    for wanted in problems(5, 6):
        if kind == "dp":
            wanted = wanted._replace(blocks=wanted.m * wanted.n * wanted.l)
        deep = wanted.k * 3 - rng.integers(3) if kind == "streamk" else wanted.k
        extents = wanted._replace(
            m=wanted.m * 5 - rng.integers(5), n=wanted.n * 7 - rng.integers(7), k=deep
        )
        check_covered(visits(made, extents), wanted)


MADE = Template("""
!cell = !cute.ptr<i32, gmem>
!params = !cutlass.scheduler_params<$KIND, $RASTER>
func.func @made(%cells: !cell, %m: i32, %n: i32, %k: i32, %l: i32) attributes {
    cute.kernel, nvvm.reqntid = array<i32: 64, 1, 1>, tileas.smem_bytes = 0 : i32,
    tileas.parameters = ["ptr 0", "scalar 1", "scalar 2", "scalar 3", "scalar 4"],
    tileas.tensor_maps = [], tileas.smem_map = ""} {
  %t = cute_nvgpu.arch.thread_idx "x"
  %one = arith.constant 1 : i32
  %yes = arith.constant true
  %width = arith.constant 10 : i32
  $PARAMS
  %w = cutlass.tile_scheduler.get_current_work %p, %t : !params
  %tm, %tn, %tl = cutlass.tile_scheduler.work_tile_info_to_cta_coord %p, %w : !params
  %above = arith.subi %m, %one : i32
  %far = arith.subi %above, %tm : i32
  $CREATES
  %x0, %x1, %x2, %x3 = cutlass.tile_scheduler.work_tile_info_to_coord_mnkl %p, %v : !params
  $SETS
  %u0 = cutlass.tile_scheduler.work_tile_info_get_value %p, %u["m_idx"] : !params -> i32
  %u1 = cutlass.tile_scheduler.work_tile_info_get_value %p, %u["is_valid"] : !params -> i1
  %u2 = arith.extui %u1 : i1 to i32
  %begin = arith.muli %t, %width : i32
  %at = cute.add_offset %cells, %begin : !cell, i32 -> !cell
  cute.ptr.store %tm, %at : i32, !cell
  cute.ptr.store %tn, %at offset 1 : i32, !cell
  cute.ptr.store %tl, %at offset 2 : i32, !cell
  cute.ptr.store %x0, %at offset 3 : i32, !cell
  cute.ptr.store %x1, %at offset 4 : i32, !cell
  cute.ptr.store %x2, %at offset 5 : i32, !cell
  cute.ptr.store %x3, %at offset 6 : i32, !cell
  cute.ptr.store %u0, %at offset 7 : i32, !cell
  cute.ptr.store %u2, %at offset 8 : i32, !cell
  func.return
}
""")

PART = """%two = arith.constant 2 : i32
  %v = cutlass.tile_scheduler.create_streamk_work_tile_info %p, %far, %tn, %two, %tl count %one
    unit %t if %yes : !params"""
SET = 'cutlass.tile_scheduler.work_tile_info_set_value %p, %w["{}"] = %{} : !params, {}'


@pytest.mark.parametrize("raster", ["m", "n"])
@pytest.mark.parametrize("kind", ["dp", "static_persistent", "streamk"])
def test_tiles_are_made_of_their_indices(kind: str, raster: str) -> None:
    """A tile by its number, one that is made of its indices, one that has another index."""
    splits, m, n, l = kind == "streamk", 4, 5, 3
    whole = f"%v = cutlass.tile_scheduler.create_{kind}_work_tile_info %p, %far, %tn, %tl if %yes"
    create = CREATE.format(
        does="create",
        kind=kind,
        k="%k, " if splits else "",
        tile="",
        units="units %one least 1 " if splits else "",
    )
    sets = SET.format("is_valid", "yes", "i1") if splits else SET.format("m_idx", "far", "i32")
    text = MADE.substitute(
        KIND=kind,
        RASTER=raster,
        PARAMS=create,
        CREATES=PART if splits else f"{whole} : !params",
        SETS=f"%u = {sets}",
    )
    made = compile(text, passes=PIPELINES["cute-to-ptx"].passes)
    found = made.emulate(np.zeros(640, np.int32), m, n, 6, l, grid=1)
    assert [str(finding) for finding in found.findings] == []
    numbers = np.arange(m * n * l)
    along = ("m", "n") if raster == "m" else ("n", "m")
    extents = {"m": m, "n": n}
    inner, outer = numbers % extents[along[0]], numbers // extents[along[0]] % extents[along[1]]
    rows, columns = (inner, outer) if raster == "m" else (outer, inner)
    batch, far = numbers // (m * n), m - 1 - rows
    deep = np.full_like(rows, 2 if splits else 0)
    changed = rows if splits else far
    valid = np.ones_like(rows)
    expected = [rows, columns, batch, far, columns, deep, batch, changed, valid]
    np.testing.assert_array_equal(found.arrays[0].reshape(64, 10)[: len(numbers), :9].T, expected)


def test_a_tile_may_be_said_not_to_be_there() -> None:
    text = MADE.substitute(
        KIND="static_persistent",
        RASTER="m",
        PARAMS=CREATE.format(does="create", kind="static_persistent", k="", tile="", units=""),
        CREATES="%v = cutlass.tile_scheduler.fetch_next_work %p, %w : !params",
        SETS="%no = arith.constant false\n  %u = " + SET.format("is_valid", "no", "i1"),
    )
    made = compile(text, passes=PIPELINES["cute-to-ptx"].passes)
    found = made.emulate(np.zeros(640, np.int32), 4, 5, 1, 1, grid=2)
    cells = found.arrays[0].reshape(64, 10)
    assert not cells[:, 8].any()
    np.testing.assert_array_equal(cells[:18, 3], (np.arange(18) + 2) % 4)


WORKSPACE = """
!cell = !cute.ptr<i32, gmem>
!params = !cutlass.scheduler_params<streamk, m>
func.func @workspace(%cells: !cell, %out: !cell, %m: i32, %n: i32, %k: i32, %units: i32)
    attributes {cute.kernel, nvvm.reqntid = array<i32: 32, 1, 1>, tileas.smem_bytes = 0 : i32,
    tileas.parameters = ["ptr 0", "ptr 1", "scalar 2", "scalar 3", "scalar 4", "scalar 5"],
    tileas.tensor_maps = [], tileas.smem_map = ""} {
  %t = cute_nvgpu.arch.thread_idx "x"
  %one = arith.constant 1 : i32
  %of = arith.constant 32 : i32
  %p = cutlass.tile_scheduler.create_streamk_params %m, %n, %k, %one units %units least 1 : !params
  cutlass.tile_scheduler.initialize_workspace %p, %cells thread %t of %of tile_bytes 36
    : !params, !cell
  %bytes = cutlass.tile_scheduler.get_workspace_sizes %p tile_bytes 36 : !params
  %tiles = cutlass.tile_scheduler.params_get_value %p["sk_tiles"] : !params
  %some = cutlass.tile_scheduler.params_get_value %p["sk_units"] : !params
  %deep = cutlass.tile_scheduler.params_get_value %p["num_tiles_k"] : !params
  cute.ptr.store %bytes, %out : i32, !cell
  cute.ptr.store %tiles, %out offset 1 : i32, !cell
  cute.ptr.store %some, %out offset 2 : i32, !cell
  cute.ptr.store %deep, %out offset 3 : i32, !cell
  func.return
}
"""


def test_the_workspace_has_sums_and_counters() -> None:
    """Regions of 128 bytes; only the counters are set to 0, all of them."""
    made = compile(WORKSPACE, passes=PIPELINES["cute-to-ptx"].passes)
    for m, n, k, units in ((3, 3, 10, 4), (7, 11, 2, 50), (4, 2, 10, 4)):
        cells = np.full(2048, -1, np.int32)
        found = made.emulate(cells, np.zeros(4, np.int32), m, n, k, units, grid=1)
        full, rest = divmod(m * n, units)
        tiles = m * n - max(full - 1, 0) * units if rest else 0
        sums, counters = -(-tiles * 36 // 128) * 128, -(-tiles * 4 // 128) * 128
        facts = [sums + counters, tiles, min(units, tiles * k), k]
        np.testing.assert_array_equal(found.arrays[1], facts)
        expected = cells.copy()
        expected[sums // 4 : sums // 4 + tiles] = 0
        np.testing.assert_array_equal(found.arrays[0], expected)


def test_tiles_are_split_where_the_last_wave_is_not_full() -> None:
    """9 tiles for 4 blocks: one wave of whole tiles, the K of the other 5 is shared evenly."""
    made = kernel("streamk", "m", 1, "fetch_next_work")
    found = visits(made, Problem(3, 3, 10, 1, 4, 4))
    shares = [sum(visit.length for visit in block) for block in found]
    assert shares == [23, 23, 22, 22]
    assert sum(visit.length < 10 for block in found for visit in block) == 6
    whole = visits(made, Problem(4, 2, 10, 1, 4, 4))
    assert all(visit.length == 10 for block in whole for visit in block)
    short = visits(kernel("streamk", "m", 4, "fetch_next_work"), Problem(3, 3, 4, 1, 4, 4))
    assert all(visit.length == 4 for block in short for visit in block)


def test_a_unit_begins_with_what_others_wait_for() -> None:
    """The parts of a unit go from its last tile to its first, as CUTLASS has them."""
    found = visits(kernel("streamk", "m", 1, "fetch_next_work"), Problem(5, 1, 4, 1, 2, 2))
    assert [[(visit.m, visit.start, visit.length) for visit in block] for block in found] == [
        [(1, 0, 2), (0, 0, 4), (3, 0, 4)],
        [(2, 0, 4), (1, 2, 2), (4, 0, 4)],
    ]
