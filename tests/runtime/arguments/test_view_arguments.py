"""Arguments of kernels written for threads are checked by the types of their views."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from kernels.atom_gemm import AtomGemm
from kernels.compiled import compiled
from tileas_xdsl.diagnostics.errors import ArgumentError

RNG = np.random.default_rng(5)
A = RNG.standard_normal((64, 32)).astype(np.float16)
B = RNG.standard_normal((32, 32)).astype(np.float16)
C = np.full((64, 32), np.nan, np.float32)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((A, B), "@gemm takes 3 arguments, but got 2"),
        ((A, B, 3), "'c' is .*memref.*, but got 3"),
        ((A.astype(np.float32), B, C), "'a' has elements f16, but got float32"),
        ((A[:, ::2], B, C), "'a' is an array with gaps"),
        ((A[0], B, C), "'a' has 2 modes, .*, but got an array of 1"),
        ((A[:, :20].copy(), B, C), r"'a' has stride \?\{div=8\} along 0, but got 20"),
    ],
    ids=["count", "scalar", "elements", "gaps", "rank", "divisor"],
)
def test_what_does_not_fit_is_said_before_it_runs(arguments: tuple[Any, ...], said: str) -> None:
    with pytest.raises(ArgumentError, match=said):
        compiled(AtomGemm()).emulate(*arguments)


def test_what_fits_runs() -> None:
    found = compiled(AtomGemm()).emulate(A, B, C)
    assert not found.findings
    expected = A.astype(np.float64) @ B.astype(np.float64).T
    assert np.allclose(found.arrays[2], expected, atol=1e-4)
