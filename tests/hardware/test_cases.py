"""Kernels of every family on the emulator, and on the GPU if one is present."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest
from hardware.cases.blackwell import blackwell_cases
from hardware.cases.case import Case, Near
from hardware.cases.table import FAMILIES, Family
from hardware.check import all_checks
from hardware.comparing import difference, distance
from hardware.on_emulator import emulate

from tileas_xdsl.runtime.gpu.device import gpu
from tileas_xdsl.runtime.gpu.driver import MissingDriverError, installed_driver
from tileas_xdsl.runtime.kernel_launcher import target_of

EVERY = 24
"""Quick test runs execute one of this many cases."""


def some(family: Family, step: int) -> Sequence[Case]:
    """Return one of `step` cases of a family, at least one."""
    cases = list(family())
    return cases[min(step // 2, len(cases) - 1) :: step]


def check_on_emulator(case: Case) -> None:
    found = emulate(case)
    assert not isinstance(found, str), (case, found)
    for number, wanted in case.wanted.items():
        array = found[number]
        assert array is not None, case
        assert difference(array, wanted) == "", case


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.sample(12)
def test_the_emulator_finds_nothing_and_agrees_with_numpy(family: Family) -> None:
    for case in some(family, EVERY):
        check_on_emulator(case)


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
def test_all_cases_on_the_emulator(family: Family) -> None:
    for case in family():
        check_on_emulator(case)


def test_the_gpu_leaves_the_same() -> None:
    try:
        installed_driver()
    except MissingDriverError as error:
        pytest.skip(f"needs a GPU: {error}")
    cases = [case for family in FAMILIES for case in some(family, EVERY)]
    found = all_checks(cases, [*map(emulate, cases)], target_of(gpu()))
    assert not [check for of_case in found for check in of_case if check.difference]


def test_cases_of_other_targets_are_compared_with_numpy() -> None:
    """Without a GPU every case is compared with numpy; a wrong expectation is reported."""
    cases = [*blackwell_cases()]
    emulated = [*map(emulate, cases)]
    found = [check for of_case in all_checks(cases, emulated, "") for check in of_case]
    assert cases
    assert [check.difference for check in found] == [""] * len(found)
    wrong = replace(cases[0], wanted={n: a ^ 1 for n, a in cases[0].wanted.items()})
    ((first, *_),) = all_checks([wrong], emulated[:1], "")
    assert first.difference


def test_differences_are_told_with_their_places() -> None:
    found, wanted = np.arange(5, dtype=np.float32), np.arange(5, dtype=np.float32)
    assert difference(found, wanted) == ""
    found[0], found[3] = -0.0, np.nan
    text = "2 of 5: [0] 0x80000000, not 0x0; [3] 0x7fc00000, not 0x40400000"
    assert difference(found, wanted) == text


def test_floats_may_be_near() -> None:
    one = np.array([1, 100, np.inf, np.nan, 1, np.inf], np.float32).view(np.uint32)
    two = np.array([1.01, 103, np.inf, np.nan, np.nan, 5], np.float32).view(np.uint32)
    case = Case("f", "n", "", (one, two))
    assert distance(case, Near("f32", 0.05), one, two).startswith("2 of 6: [4]")
    assert distance(case, Near("f32", 0.02), one, two).startswith("3 of 6: [1]")
