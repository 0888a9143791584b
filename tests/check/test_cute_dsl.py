"""Kernels that the CuTe DSL 4.8.1 compiled, and faults in them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.synchronization_mutants import mutants
from tileas_xdsl import check

FOLDER = Path(__file__).parent / "cute_dsl"
RNG = np.random.default_rng(59)
Wanted = Callable[[Any], Any]

KERNELS: dict[str, tuple[tuple[int, ...], tuple[int, ...], Any, int, int, Wanted]] = {
    "reverse": ((256,), (256,), 2, 128, 512, lambda x: x.reshape(2, 128)[:, ::-1].ravel()),
    "transpose": ((96, 64), (64, 96), (2, 3), 256, 4096, lambda x: x.T),
    "warp_sum": ((128,), (4,), 4, 32, 0, lambda x: x.reshape(4, 32).sum(1)),
}
"""Shapes of both arrays, grid, block, shared bytes, and what the second array has to be."""


def checked(name: str, text: str) -> tuple[check.CheckReport, bool]:
    """The report of a kernel, and whether its result is right."""
    before, after, grid, block, shared, wanted = KERNELS[name]
    element = np.float16 if name == "transpose" else np.float32
    given = RNG.standard_normal(before).astype(element)
    report = check.ptx(text, grid, [given, np.zeros(after, element)], block, shared=shared)
    return report, np.allclose(report.arrays[1], wanted(given), atol=1e-5)


def text_of(name: str) -> str:
    return (FOLDER / f"{name}.ptx").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", KERNELS)
def test_kernels_run_are_right_and_not_blamed(name: str) -> None:
    report, is_right = checked(name, text_of(name))
    assert is_right
    check.assert_no_findings(report)


@pytest.mark.parametrize("name", KERNELS)
def test_mutants_are_found(name: str) -> None:
    made = list(mutants(text_of(name)))
    assert len(made) >= 3
    assert not [what for what, wrong in made if not checked(name, wrong)[0].failures]


@pytest.mark.parametrize(
    ("name", "old", "new"),
    [("reverse", "xor.b32", "add.s32"), ("warp_sum", "ld.global.b32", "ld.shared.b32")],
)
def test_wrong_addresses_are_found(name: str, old: str, new: str) -> None:
    text = text_of(name)
    assert old in text
    report, _ = checked(name, text.replace(old, new, 1))
    assert {f.kind for f in report.failures} == {"illegal-address"}, report.findings
