"""Reductions of groups of a row: another name of the fragment has the groups as a dimension."""

from __future__ import annotations

import numpy as np
import pytest

from tileas_xdsl.compiler import compile as compile_kernel


def _text(rows: int, groups: int, width: int, keeps: bool) -> str:
    flat = f"memref<{rows}x{groups * width}xf32"
    grouped = f"memref<{rows}x{groups}x{width}xf32"
    target = f"memref<{rows}x{groups}{'x1' if keeps else ''}xf32"
    fragment = ", #tl<space fragment>>"
    words = " {keep_dims}" if keeps else ""
    return f"""
func.func @groups(%A: {flat}>, %B: {target}>) {{
  tl.kernel threads(64) {{
    %f = tl.alloc_fragment : {flat}{fragment}
    %g = tl.reshape %f : {flat}{fragment} to {grouped}{fragment}
    %m = tl.alloc_fragment : {target}{fragment}
    tl.copy %A to %f : {flat}> to {flat}{fragment}
    tl.reduce max %g to %m axis 2{words} : {grouped}{fragment} to {target}{fragment}
    tl.copy %m to %B : {target}{fragment} to {target}>
  }}
  func.return
}}
"""


@pytest.mark.parametrize("keeps", [False, True])
@pytest.mark.parametrize(("rows", "groups", "width"), [(64, 4, 16), (8, 3, 32), (5, 7, 6)])
def test_each_group_has_its_maximum(rows: int, groups: int, width: int, keeps: bool) -> None:
    a = np.random.default_rng(rows).standard_normal((rows, groups * width)).astype(np.float32)
    wanted = a.reshape(rows, groups, width).max(2, keepdims=keeps)
    kernel = compile_kernel(_text(rows, groups, width, keeps))
    found = kernel.emulate(a, np.empty_like(wanted))
    assert not found.findings
    np.testing.assert_array_equal(found.arrays[1], wanted)
    np.testing.assert_array_equal(kernel.simulate(a, np.empty_like(wanted)).arrays[1], wanted)
