"""Extremes of floats among NaN: of the interpreter, by threads and by tiles, each beside numpy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from tileas_xdsl.compilation.levels import BUFFERS, BUFFERS_BY_TILES
from tileas_xdsl.compiler import compile as compile_kernel
from tileas_xdsl.pipelines import PIPELINES

ROWS, WIDTH = 16, 37

TEXT = """
!x = memref<16x37xELEMENT>
!s = memref<16xELEMENT>
!xt = memref<16x37xELEMENT, #tl<space fragment>>
!st = memref<16xELEMENT, #tl<space fragment>>
func.func @rows(%X: !x, %Y: !s, %Z: !s) {
  tl.kernel threads(64) {
    %x = tl.alloc_fragment : !xt
    %y = tl.alloc_fragment : !st
    %z = tl.alloc_fragment : !st
    tl.copy %X to %x : !x to !xt
    tl.copy %Z to %z : !s to !st
    tl.reduce KIND %x to %y axis 1 {WORDS} : !xt to !st
    tl.reduce KIND %x to %z axis 1 {clear = false, WORDS} : !xt to !st
    tl.copy %y to %Y : !st to !s
    tl.copy %z to %Z : !st to !s
  }
  func.return
}
"""

EXTREMES: dict[str, tuple[Sequence[Any], float]] = {
    "max": ((np.fmax, np.maximum), -np.inf),
    "min": ((np.fmin, np.minimum), np.inf),
    "absmax": ((np.fmax, np.maximum), 0.0),
}


@pytest.mark.parametrize("propagates", [False, True])
@pytest.mark.parametrize(
    ("kind", "element", "dtype", "level"),
    [
        ("max", "f16", np.float16, BUFFERS),
        ("min", "f32", np.float32, BUFFERS_BY_TILES),
        ("absmax", "f64", np.float64, BUFFERS),
        ("absmax", "f16", np.float16, BUFFERS_BY_TILES),
    ],
)
@pytest.mark.sample(4)
def test_a_number_wins_over_nan(
    kind: str, element: str, dtype: Any, level: str, propagates: bool
) -> None:
    """Rows have no NaN, one, or NaN alone; 37 elements leave lanes of a row without one."""
    rng = np.random.default_rng(7)
    x, before = (rng.standard_normal(shape).astype(dtype) for shape in ((ROWS, WIDTH), ROWS))
    x[np.arange(0, ROWS, 3), rng.integers(0, WIDTH, len(range(0, ROWS, 3)))] = np.nan
    x[5], before[[5, 8, 9]] = np.nan, np.nan
    rules, start = EXTREMES[kind]
    rule = rules[propagates]
    of_rows = rule.reduce(np.abs(x) if kind == "absmax" else x, axis=1)
    wanted = rule(dtype(start), of_rows), rule(before, of_rows)
    text = TEXT.replace("KIND", kind).replace("ELEMENT", element)
    text = text.replace("WORDS", "nan_propagate" if propagates else "")
    kernel = compile_kernel(
        text.replace(", }", "}").replace("{}", ""), passes=PIPELINES[level].passes
    )
    emulated = kernel.emulate(x, np.zeros(ROWS, dtype), before.copy())
    assert not emulated.findings
    for found in (emulated, kernel.simulate(x, np.zeros(ROWS, dtype), before.copy())):
        for array, want in zip(found.arrays[1:], wanted, strict=True):
            np.testing.assert_array_equal(array, want)
