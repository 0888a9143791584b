"""Laid-out tl programs lowered to threads: no findings, and agreement with numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.assembling import needs_ptxas
from tests.transforms.lower_tl.tl_kernels import (
    ALIGNED_SUMS,
    ARTICLE,
    CASES,
    MANY_ROUNDS,
    SWIZZLED_ROWS,
    TRANSPOSE,
    floats,
    laid_out,
    written,
)
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.errors import DiagnosticError

TARGETS = ("sm_90a", "sm_100a")


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", CASES)
def test_threads_compute_what_the_program_says(name: str) -> None:
    CASES[name].check(TARGETS[len(name) % 2])


@pytest.mark.sample(6)
@pytest.mark.parametrize("name", CASES)
def test_the_program_itself_says_the_same(name: str) -> None:
    """The tile interpreter runs it without its layouts."""
    case = CASES[name]
    given = case.arguments(np.random.default_rng(3))
    wanted = case.expected([np.copy(value) for value in given])
    found = laid_out(case.text).simulate(*given, grid=case.grid).arrays
    for position, array in zip(case.changed, wanted, strict=True):
        np.testing.assert_allclose(
            np.asarray(found[position], np.float64), array, rtol=2e-3, atol=2e-3
        )


@needs_ptxas
def test_nothing_is_spilled() -> None:
    for case in CASES.values():
        assembled = laid_out(case.text).assemble()
        assert not assembled.spills
        assert not assembled.stack


def test_rows_that_run_time_knows_are_read_wide_where_they_are_aligned() -> None:
    ptx = ALIGNED_SUMS.check("sm_90a").ptx
    assert "ld.global.v4.b32" in ptx
    assert "ld.global.b16" in ptx


def test_a_row_that_run_time_knows_is_read_wide_under_a_swizzle() -> None:
    """One access for the neighbours, eight for those found one by one."""
    ptx = SWIZZLED_ROWS.check("sm_100a").ptx
    assert ptx.count("ld.shared.v4.b32") == 1
    assert ptx.count("ld.shared.b16") == 8


def test_many_iterations_are_a_loop() -> None:
    assert MANY_ROUNDS.check("sm_90a").ptx.count("ld.global") == 1


def test_threads_outside_of_the_image_of_a_loop_do_nothing() -> None:
    """Four iterations on threads 0, 16, 32 and 48: the others are guarded out."""
    ptx = ARTICLE.check("sm_90a").ptx
    assert "and.b32" in ptx
    store = next(line for line in ptx.splitlines() if "st.global" in line)
    guard = store.split()[0].removeprefix("@")
    made = next(line for line in ptx.splitlines() if f"setp.eq.s32 {guard}," in line)
    masked = made.split()[2].rstrip(",")
    mask = next(line for line in ptx.splitlines() if f"and.b32 {masked}," in line)
    assert mask.rstrip().endswith("15;")
    assert made.rstrip().endswith("0;")


def test_threads_meet_once_between_writing_and_reading_shared_memory() -> None:
    assert TRANSPOSE.check("sm_90a").ptx.count("bar.sync") == 1


VIEWS = [
    ("F", "reshape", "8x64xf32"),
    ("F", "view", "16x32xi32"),
    ("S", "reshape", "512xf32"),
    ("S", "view", "16x64xf16"),
]


@pytest.mark.parametrize(("space", "kind", "shown"), VIEWS)
def test_a_view_shows_the_bits_of_its_storage(space: str, kind: str, shown: str) -> None:
    alloc = {"F": "fragment", "S": "shared"}[space]
    text = f"""func.func @view(%A: memref<16x32xf32>, %B: memref<{shown}>) {{
      tl.kernel threads(64) {{
        %f = tl.alloc_{alloc} : memref<16x32xf32, {space}>
        %g = tl.{kind} %f : memref<16x32xf32, {space}> to memref<{shown}, {space}>
        tl.copy %A to %f : memref<16x32xf32> to memref<16x32xf32, {space}>
        tl.copy %g to %B : memref<{shown}, {space}> to memref<{shown}>
      }}
      func.return
    }}"""
    *extents, element = shown.split("x")
    kinds = {"f32": np.float32, "i32": np.int32, "f16": np.float16}
    given = floats(np.random.default_rng(2), 16, 32)
    result = np.zeros([int(extent) for extent in extents], kinds[element])
    found = compile(written(text)).emulate(given, result)
    assert not found.findings
    assert np.asarray(found.arrays[1]).tobytes() == given.tobytes()


def test_a_loop_without_a_layout_is_refused() -> None:
    text = """func.func @f(%A: memref<4xf32>) {
      tl.kernel threads(32) {
        %one = arith.constant 1.0 : f32
        tl.parallel (%i) in (4) {
          memref.store %one, %A[%i] : memref<4xf32>
        }
      }
      func.return
    }"""
    with pytest.raises(DiagnosticError, match="has no layout: tl-layout-inference gives it one"):
        laid_out(text)
