"""tl programs with inferred layouts: threads agree with the tile interpreter."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest
from numpy.typing import NDArray

from kernels import tl
from tests.support.tl_programs import TlProgram, program
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.errors import DiagnosticError

TARGETS = ("sm_90a", "sm_100a")

TOO_MUCH = "registers|iterations"
"""What a program is refused for that needs more than threads have."""

WITHOUT_PRODUCTS = [
    name for name in tl.KERNELS if name not in ("attention", "dequant_gemm", "gemm")
]


def _same(found: Sequence[NDArray[np.generic]], wanted: Sequence[NDArray[np.generic]]) -> None:
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(one, other)


def _check(drawn: TlProgram) -> bool:
    """Whether threads run the program, and then as the interpreter does."""
    try:
        kernel = compile(drawn.text, TARGETS[drawn.seed % 2])
    except DiagnosticError as error:
        assert any(word in str(error) for word in TOO_MUCH.split("|")), error
        return False
    found = kernel.emulate(*drawn.arrays(), grid=drawn.blocks)
    assert not found.findings
    _same(found.arrays, kernel.simulate(*drawn.arrays(), grid=drawn.blocks).arrays)
    return True


def test_random_programs_run_as_they_say() -> None:
    """Few of them are refused, and those for want of registers."""
    ran = sum(_check(program(seed)) for seed in range(200, 204))
    assert ran >= 3


@pytest.mark.slow
@pytest.mark.parametrize("first", range(300, 500, 20))
def test_many_random_programs_run_as_they_say(first: int) -> None:
    ran = sum(_check(program(seed)) for seed in range(first, first + 20))
    assert ran >= 14


def test_threads_with_one_iteration_read_registers_that_differ() -> None:
    """What they read is a scalar, as all values of one iteration are."""
    assert _check(program(300))


@pytest.mark.parametrize("name", WITHOUT_PRODUCTS)
def test_a_kernel_equals_numpy(name: str) -> None:
    kernel = tl.KERNELS[name]()
    target = TARGETS[len(name) % 2]
    inputs = kernel.make_inputs(np.random.default_rng(5), kernel.sizes)
    given = [np.copy(value) for value in inputs]
    found = compile(kernel.text(), target).emulate(*given, grid=kernel.grid(kernel.sizes))
    assert not found.findings
    deviation = kernel.check(inputs, found.arrays)
    assert deviation.is_right, deviation
