"""Small programs of `tl`: a block with buffers, and what its loops do."""

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
    """`memref("4x16xf32", "fragment")`; without a space it is in global memory."""
    return f"memref<{shape}, #tl<space {space}>>" if space else f"memref<{shape}>"


def block(
    parameters: str,
    body: str,
    types: Mapping[str, str] | None = None,
    *,
    threads: int = 64,
    grid: str = "",
) -> str:
    """A kernel whose body knows small numbers, and types by name; `grid` is `(%x) in (2)`."""
    names = "\n".join(f"!{name} = {meant}" for name, meant in (types or {}).items())
    return (
        f"{names}\nfunc.func @k({parameters}) {{\n  tl.kernel {grid} threads({threads}) {{\n"
        f"{CONSTANTS}\n{body}\n  }}\n  func.return\n}}\n"
    )


def run(text: str, *args: Any, **options: Any) -> Sequence[Any]:
    """The arguments after a run; one schedule is enough, since a block is one agent."""
    return simulating.run(text, *args, schedules=(Schedule(),), **options)


def refuses(text: str, match: str, *args: Any, **options: Any) -> None:
    """The run ends with this fault, located in the text."""
    simulating.refuses(text, match, *args, schedules=(Schedule(),), **options)


def floats(seed: int, *shape: int, dtype: Any = np.float32) -> Any:
    """Random numbers of a type."""
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def unset(*shape: int, dtype: Any = np.float32) -> Any:
    """An output before the run: NaN, which nothing computes."""
    return np.full(shape, np.nan, dtype)
