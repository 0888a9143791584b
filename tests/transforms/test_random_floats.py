"""Random expressions of any floats are computed as Tile IR says."""

from __future__ import annotations

from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import numpy as np
import pytest

pytest.importorskip("cuda.tile")

from tests.support.plain_checks import TARGETS
from tests.support.random_floats import FloatKernel, differing, random_floats
from tileas_xdsl.compiler import compile


def written(kernel: FloatKernel, path: Path) -> Any:
    """The kernel, from a file: cuTile reads its source."""
    path.write_text(kernel.text)
    spec = spec_from_file_location(path.stem, path)
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def check(kernel: FloatKernel, target: str, folder: Path) -> None:
    given = kernel.arguments()
    made = compile(written(kernel, folder / "floats.py"), *given, target=target)
    expected, moved = (
        made.evaluate(*arguments).arrays[2] for arguments in (given, kernel.arguments(ulps=3))
    )
    ran = made.emulate(*given)
    assert not ran.findings
    wrong = np.argwhere(differing(expected, moved, ran.arrays[2], kernel.result))
    places = [tuple(map(int, place)) for place in wrong[:3]]
    said = [(given[0][at], given[1][at], expected[at], ran.arrays[2][at]) for at in places]
    assert not said, f"{len(wrong)} differ: {said}\n{kernel.text}"


@pytest.mark.sample(3)
@pytest.mark.parametrize("seed", range(6))
def test_a_few_expressions(seed: int, tmp_path: Path) -> None:
    check(random_floats(seed), TARGETS[seed % 2], tmp_path)


@pytest.mark.slow
@pytest.mark.parametrize("first", range(6, 606, 50))
def test_many_expressions(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 50):
        check(random_floats(seed), TARGETS[seed % 2], tmp_path)
