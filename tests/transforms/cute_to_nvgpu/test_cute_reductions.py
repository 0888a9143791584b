"""`cute.reduce` on the emulator: what numpy gives along the same modes."""

from __future__ import annotations

from string import Template

import numpy as np
import pytest

from tileas_xdsl.compiler import compile

REDUCED = Template("""
!in = !cute.memref<$T, gmem, "(4,(3,2)):(1,(4,12))">
!out = !cute.memref<$T, gmem, "($N):(1)">
func.func @reduced(%a: !in, %b: !out, %init: $T) attributes {cute.kernel, nvvm.reqntid = array<i32: 1, 1, 1>} {
  %shape = cute.static : !cute.shape<"(4,(3,2))">
  %x = cute.memref.load_vec(%a) : vector<24x$T>
  $REDUCE
  func.return
}
""")  # noqa: E501

PART = """%y = cute.reduce(%x, %shape, %init) <{reduction_op = "KIND", reduction_profile = #cute.coord<"PROFILE">}>
  cute.memref.store_vec(%y, %b)"""  # noqa: E501
TOTAL = """%y = cute.reduce(%x, %shape, %init) <{reduction_op = "KIND"}>
  %c = cute.static : !cute.coord<"0">
  cute.memref.store(%b, %c, %y)"""

PROFILES = {
    "": (0, 1, 2),
    "(0,1)": (0, 1, 2),
    "(_,1)": (1, 2),
    "(1,_)": (0,),
    "(_,(_,0))": (2,),
    "(1,(1,_))": (0, 1),
    "(_,(_,_))": (),
}
"""By a profile, which of three axes are reduced."""

KINDS = {"ADD": np.add, "MUL": np.multiply, "MAX": np.maximum, "MIN": np.minimum}


def reduced(kind: str, profile: str, a: np.ndarray, init: float) -> np.ndarray:
    count = int(np.prod([e for n, e in enumerate((4, 3, 2)) if n not in PROFILES[profile]]))
    code = TOTAL if count == 1 else PART
    text = REDUCED.substitute(
        T={"f": "f32", "i": "i32"}[a.dtype.kind],
        N=count,
        REDUCE=code.replace("KIND", kind).replace("PROFILE", profile),
    )
    flat = np.ascontiguousarray(a.reshape(-1, order="F"))
    found = compile(text).emulate(flat, np.full(count, 99, a.dtype), init)
    assert [str(finding) for finding in found.findings] == []
    return found.arrays[1]


def expected(kind: str, profile: str, a: np.ndarray, init: float) -> np.ndarray:
    combine = KINDS[kind]
    found = combine.reduce(a, axis=PROFILES[profile], dtype=a.dtype)
    return combine(np.asarray(found), a.dtype.type(init)).reshape(-1, order="F")


@pytest.mark.parametrize(("kind", "profile"), [*(("ADD", p) for p in PROFILES), ("MUL", "(_,1)")])
def test_modes_of_a_profile_are_reduced(kind: str, profile: str) -> None:
    a = np.random.default_rng(7).integers(-4, 5, (4, 3, 2)).astype(np.float32)
    assert np.array_equal(reduced(kind, profile, a, 3.0), expected(kind, profile, a, 3.0))


@pytest.mark.parametrize("kind", ["MAX", "MIN"])
def test_a_nan_is_the_extreme_of_its_row_only(kind: str) -> None:
    a = np.random.default_rng(8).standard_normal((4, 3, 2)).astype(np.float32)
    a[1, 2, 0] = np.nan
    found = reduced(kind, "(_,1)", a, 0.25)
    assert np.isnan(found).tolist() == [False, True, False, False]
    assert np.array_equal(found, expected(kind, "(_,1)", a, 0.25), equal_nan=True)


def test_integers_wrap() -> None:
    a = np.random.default_rng(9).integers(-(2**31), 2**31, (4, 3, 2)).astype(np.int32)
    assert np.array_equal(reduced("ADD", "(1,_)", a, 5), expected("ADD", "(1,_)", a, 5))
