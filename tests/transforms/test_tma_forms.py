"""Forms of TMA that move more than boxes: emulator, interpreter and numpy agree; ptxas takes them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from support.assembling import needs_ptxas
from support.form_kernels import permuted
from support.plain_kernels import Launch

from tileas_xdsl.compiler import compile as compile_kernel
from tileas_xdsl.diagnostics.emission import DiagnosticError

ORDERS = (("eager", 0), ("lazy", 0), ("random", 1), ("random", 2))


def rng() -> np.random.Generator:
    return np.random.default_rng(17)


ROWS = {
    "f16-16x64": lambda: permuted(rng(), "f16", 16, 64),
    "f32-8x32": lambda: permuted(rng(), "f32", 8, 32),
    "f16-32x128": lambda: permuted(rng(), "f16", 32, 128),
    "f32-4x8": lambda: permuted(rng(), "f32", 4, 8),
}


def check(launch: Launch, target: str, result: int) -> None:
    """The same result from the interpreter and from the emulator in every order, and no finding."""
    made = compile_kernel(launch.text, target)
    simulated = made.simulate(*launch.arguments, grid=launch.grid)
    np.testing.assert_array_equal(simulated.arrays[result], launch.expected)
    for order, seed in ORDERS:
        run = made.emulate(*launch.arguments, grid=launch.grid, order=order, seed=seed)
        assert [str(finding) for finding in run.findings] == []
        assert run.finished
        np.testing.assert_array_equal(run.arrays[result], launch.expected)


@pytest.mark.parametrize("name", ROWS)
def test_rows_are_gathered_and_scattered(name: str) -> None:
    check(ROWS[name](), "sm_100a", 1)
