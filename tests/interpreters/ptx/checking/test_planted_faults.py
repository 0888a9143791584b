"""Planted faults, each beside its right twin: all are found and explained, no twin is blamed."""

from __future__ import annotations

import pytest
from interpreters.ptx.checking.planted import (
    allocations,
    clusters,
    convergence,
    drift,
    shared_memory,
)
from interpreters.ptx.checking.planted.kernels import Planted

KERNELS = (
    *shared_memory.KERNELS,
    *convergence.KERNELS,
    *clusters.KERNELS,
    *allocations.KERNELS,
    *drift.KERNELS,
)


@pytest.mark.parametrize("kernel", KERNELS, ids=lambda k: k.name)
def test_faults_are_found_and_the_right_twin_is_not_blamed(kernel: Planted) -> None:
    blamed = kernel.findings(kernel.text())
    assert not blamed, "\n".join(map(str, blamed))
    for name, text, kinds in kernel.faults:
        found = [f for f in kernel.findings(text) if f.severity.fails]
        mine = [f for f in found if f.kind in kinds]
        assert mine, f"{name}: {sorted(kinds)} expected, found {[f.kind for f in found]}"
        assert all(f.notes and f.line for f in mine), name
