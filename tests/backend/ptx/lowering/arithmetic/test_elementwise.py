"""Every operation of `arith` and `math` on every element: the emulator gives what the tiles do."""

from __future__ import annotations

from collections import defaultdict

import numpy as np
import pytest

from tests.backend.ptx.lowering.arithmetic.elementwise import (
    DTYPES,
    Case,
    apart,
    arrays_of,
    compiled,
    expected,
)
from tests.backend.ptx.lowering.arithmetic.elementwise_cases import CASES
from tests.support.assembling import needs_ptxas
from tests.support.emulating import emulate
from tests.support.math_expansions import EXPANSIONS, arguments, evaluated
from tests.support.thread_kernels import THREADS
from tileas_xdsl.backend.ptxas import assemble
from tileas_xdsl.target.arch import TARGETS

APPROXIMATIONS = {"cosh": 2, "erf": 1, "exp": 2, "sinh": 2, "tan": 2, "tanh": 2}
"""By function, the error in ulp of the instructions that are part of it."""


def _by_operation() -> dict[str, list[Case]]:
    found: dict[str, list[Case]] = defaultdict(list)
    for case in CASES:
        found[case.body.splitlines()[-1].split(" ")[2] + " " * (case.ulp > 0)].append(case)
    return found


def _some() -> list[Case]:
    """Of each operation one case in four, so that every operation and every type is there."""
    return [case for cases in _by_operation().values() for case in cases[::4]]


FEW = _some()
FEW_NAMES = {case.name for case in FEW}
OTHERS = [case for case in CASES if case.name not in FEW_NAMES]


def _check(case: Case) -> None:
    rng = np.random.default_rng(sum(map(ord, case.name)))
    for kernel, count in case.kernels():
        arrays = arrays_of(case, rng, THREADS * count)
        out = np.zeros(THREADS * count, DTYPES[case.output])
        found = emulate(compiled(kernel, "sm_90a"), [*arrays, out])[-1]
        assert apart(found, expected(case, arrays).astype(out.dtype)) <= case.ulp


@pytest.mark.sample(40)
@pytest.mark.parametrize("case", FEW, ids=lambda case: case.name)
def test_the_emulator_agrees_with_the_interpreter(case: Case) -> None:
    _check(case)


@pytest.mark.slow
@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case.name)
def test_the_emulator_agrees_on_all_types(case: Case) -> None:
    _check(case)


@pytest.mark.sample(12)
@pytest.mark.parametrize("name", EXPANSIONS)
def test_functions_are_the_same_bit_for_bit(name: str) -> None:
    """What `expand-math` writes, run by the emulator and by the interpreter.

    The interpreter rounds powers and inverses that the emulator approximates as the hardware does.
    """
    rng = np.random.default_rng(2)
    case = next(c for c in CASES if c.name == f"math.{name} f32")
    for kernel, count in case.kernels():
        every = arguments(name, rng, 100)
        picked = rng.permutation(every[0].size)[: THREADS * count]
        arrays = [array[picked] for array in every]
        out = np.zeros(picked.size, np.float32)
        found = emulate(compiled(kernel, "sm_90a"), [*arrays, out])[-1]
        assert apart(found, evaluated(name, *arrays)) <= APPROXIMATIONS.get(name, 0)


def test_names_are_different() -> None:
    assert len({case.name for case in CASES}) == len(CASES)


def _assembled(cases: list[Case], arch: str) -> None:
    kernels = [kernel for case in cases for kernel, _ in case.kernels()]
    numbered = [kernel.replace("@k(", f"@k{k}(") for k, kernel in enumerate(kernels)]
    assembled = assemble(compiled("\n".join(numbered), arch), arch)
    assert assembled.messages == ()
    assert len(assembled.entries) == len(kernels)


@needs_ptxas
@pytest.mark.parametrize("arch", TARGETS)
def test_ptxas_takes_some_without_a_word(arch: str) -> None:
    _assembled(FEW[::8], arch)


@needs_ptxas
@pytest.mark.slow
@pytest.mark.parametrize("arch", TARGETS)
@pytest.mark.parametrize("start", range(0, len(CASES), 100))
def test_ptxas_takes_all_of_them_without_a_word(arch: str, start: int) -> None:
    _assembled(list(CASES[start : start + 100]), arch)
