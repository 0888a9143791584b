"""PTX of Triton and TileLang with one synchronisation left out or changed: found, or redundant."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from benchmarks.synchronization_mutants import mutants
from tileas_xdsl import check

DATA = Path(__file__).parents[1] / "data"
REPORT = Path(__file__).parents[4] / "benchmarks" / "reports" / "tilelang_last_fence"


def _softmax() -> tuple[Any, ...]:
    x = np.random.default_rng(1).standard_normal((1, 1000)).astype(np.float32)
    return (1,), [x, np.empty_like(x), 1000, 1000], 16


def _matmul() -> tuple[Any, ...]:
    rng = np.random.default_rng(2)
    a = rng.standard_normal((64, 320)).astype(np.float16)
    b = rng.standard_normal((320, 64)).astype(np.float16)
    return (1, 1), [a, b, np.empty((64, 64), np.float32), 64, 64, 320], 16384


def _tilelang() -> tuple[Any, ...]:
    rng = np.random.default_rng(3)
    a, b = (rng.standard_normal((128, 128)).astype(np.float16) for _ in "ab")
    return (1, 1), [a, b, np.zeros((128, 128), np.float32)], 16384


LAUNCHES: Mapping[str, Callable[[], tuple[Any, ...]]] = {
    "softmax": _softmax,
    "matmul": _matmul,
    "tilelang": _tilelang,
}


def _lines(*numbers: int) -> tuple[str, ...]:
    return tuple(f"line {number}:" for number in numbers)


REDUNDANT = {
    # Between the end of a wgmma and stores over its operands: each warp has waited for it, and that
    # ends the reads of the whole warpgroup, as CUTLASS relies on too.
    "matmul": _lines(555, 1091),
    "tilelang": (
        *_lines(87),  # nothing is in shared memory yet but copies in flight
        *_lines(172, 212),  # as in matmul
        *_lines(190, 230, 247),  # a wgmma.fence behind a wait, and no register was written since
        *_lines(242, 243),  # a wait whose stage is not written again; the next one covers it
    ),
}
"""By kernel, the lines whose mutants are not found, and why they are redundant."""


def text_of(name: str) -> str:
    """The text of a kernel without faults."""
    if name != "tilelang":
        return (DATA / f"triton_{name}.ptx").read_text(encoding="utf-8")
    lines = (REPORT / "matmul.ptx").read_text(encoding="utf-8").split("\n")
    lines.insert(245, "\tfence.proxy.async.shared::cta;")
    return "\n".join(lines)


def failures(name: str, text: str) -> list[str]:
    """The kinds of what is found in a text, three orders merged."""
    grid, arguments, shared = LAUNCHES[name]()
    count = text.split(".entry")[1].split(")")[0].count(".param")
    hidden = [0] * (count - len(arguments))
    report = check.ptx(text, grid, [*arguments, *hidden], shared=shared, schedules=3, limit=200_000)
    return [finding.kind for finding in report.failures]


COUNTS = {"softmax": 20, "tilelang": 45, "matmul": 13}


@pytest.mark.parametrize(
    ("name", "every"),
    [
        *(("softmax", 3), ("tilelang", 4)),
        *(pytest.param(name, 1, marks=pytest.mark.slow) for name in COUNTS),
    ],
)
def test_mutants_are_found(name: str, every: int) -> None:
    text = text_of(name)
    assert failures(name, text) == []
    made = list(mutants(text))
    assert len(made) >= COUNTS[name]
    made = made[::every]
    missed = [what for what, wrong in made if not failures(name, wrong)]
    argued = [what for what, _ in made if what.startswith(REDUNDANT.get(name, ()))]
    assert missed == argued
