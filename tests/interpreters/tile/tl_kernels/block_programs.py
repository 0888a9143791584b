"""Small `tl` programs: one thread block with buffers and loops."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tests.support import simulating
from tileas_xdsl.interpreters.tile.launch import Schedule

CONSTANTS = "\n".join(
    f"    %{name} = arith.constant {number} : index"
    for name, number in (("zero", 0), ("one", 1), ("two", 2), ("four", 4), ("eight", 8))
)


def memref(shape: str, space: str = "") -> str:
    """Return the text of a memref type; without a space it is in global memory."""
    return f"memref<{shape}, #tl<space {space}>>" if space else f"memref<{shape}>"


def block(
    parameters: str,
    body: str,
    types: Mapping[str, str] | None = None,
    *,
    threads: int = 64,
    grid: str = "",
) -> str:
    """Return a kernel with predefined constants and type aliases; `grid` is `(%x) in (2)`."""
    names = "\n".join(f"!{name} = {meant}" for name, meant in (types or {}).items())
    return (
        f"{names}\nfunc.func @k({parameters}) {{\n  tl.kernel {grid} threads({threads}) {{\n"
        f"{CONSTANTS}\n{body}\n  }}\n  func.return\n}}\n"
    )


def run(text: str, *args: Any, **options: Any) -> Sequence[Any]:
    """Run a program under one schedule (a block is a single agent) and return its arguments."""
    return simulating.run(text, *args, schedules=(Schedule(),), **options)


def refuses(text: str, match: str, *args: Any, **options: Any) -> None:
    """Assert that the run reports a fault that matches, located in the text."""
    simulating.refuses(text, match, *args, schedules=(Schedule(),), **options)


def floats(seed: int, *shape: int, dtype: Any = np.float32) -> Any:
    """Return random values of a type."""
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def unset(*shape: int, dtype: Any = np.float32) -> Any:
    """Return an output array filled with NaN, so that unwritten elements are detected."""
    return np.full(shape, np.nan, dtype)
