"""PTX of Triton with one synchronisation left out or changed: found, or argued redundant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.synchronization_mutants import mutants
from tileas_xdsl import check

DATA = Path(__file__).parents[1] / "data"


def _softmax() -> tuple[Any, ...]:
    x = np.random.default_rng(1).standard_normal((1, 1000)).astype(np.float32)
    return (1,), [x, np.empty_like(x), 1000, 1000], 16


def _matmul() -> tuple[Any, ...]:
    rng = np.random.default_rng(2)
    a = rng.standard_normal((64, 320)).astype(np.float16)
    b = rng.standard_normal((320, 64)).astype(np.float16)
    return (1, 1), [a, b, np.empty((64, 64), np.float32), 64, 64, 320], 16384


LAUNCHES: Mapping[str, Callable[[], tuple[Any, ...]]] = {"softmax": _softmax, "matmul": _matmul}


REDUNDANT = {"matmul": ("line 555:", "line 1091:")}
"""Barriers between the end of a wgmma and stores over its operands: each warp has waited for it,
and that ends the reads of the whole warpgroup, as CUTLASS relies on too."""


def failures(name: str, text: str) -> list[str]:
    """The kinds of what is found in a text, three orders merged."""
    grid, arguments, shared = LAUNCHES[name]()
    count = text.split(".entry")[1].split(")")[0].count(".param")
    hidden = [0] * (count - len(arguments))
    report = check.ptx(text, grid, [*arguments, *hidden], shared=shared, schedules=3, limit=200_000)
    return [finding.kind for finding in report.failures]


@pytest.mark.parametrize(
    ("name", "count"), [("softmax", 20), pytest.param("matmul", 13, marks=pytest.mark.slow)]
)
def test_every_mutant_is_found(name: str, count: int) -> None:
    text = (DATA / f"triton_{name}.ptx").read_text(encoding="utf-8")
    assert failures(name, text) == []
    made = list(mutants(text))
    assert len(made) >= count
    missed = [what for what, wrong in made if not failures(name, wrong)]
    assert [what for what in missed if not what.startswith(REDUNDANT.get(name, ()))] == []
