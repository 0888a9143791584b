"""The arguments after a run: the table of what changed, and their files."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import typer

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.tile.numerics.element_types import Array
from tileas_xdsl.runtime.array_comparison import differing
from tileas_xdsl.tools.console import fail, print_table
from tileas_xdsl.tools.inputs.array_files import Drafts


@dataclass(frozen=True)
class Shown:
    """An array argument by its position, before and after a run."""

    position: int
    name: str
    type: str
    before: Array
    after: Array


def print_arrays(arrays: Sequence[Shown]) -> None:
    """An empty line and the table; nothing without arrays."""
    if not arrays:
        return
    typer.echo()
    header = ("array", "name", "type", "changed", "min", "max", "mean")
    print_table(header, [_row(array) for array in arrays])


def write_arrays(folder: Path, arrays: Sequence[Shown]) -> None:
    """Write every array as `argN.npy`, all of them or none; ends the program where it cannot."""
    try:
        with Drafts() as drafts:
            for array in arrays:
                drafts.array(folder / f"arg{array.position}.npy", array.after)
    except OSError as error:
        fail(f"cannot write '{error.filename}': {error.strerror}")


def _row(shown: Shown) -> tuple[str, ...]:
    count = int(np.count_nonzero(differing(shown.before, shown.after)))
    changed = f"{count} of {shown.after.size}" if count else "no"
    return (f"arg{shown.position}", shown.name, shown.type, changed, *_statistics(shown.after))


def _statistics(array: Array) -> tuple[str, str, str]:
    """Least, largest and mean element; NaN if there is one, nothing of an empty array."""
    if not array.size:
        return ("", "", "")
    with np.errstate(invalid="ignore", over="ignore"):
        wide = array.astype(np.float64)
        numbers = (wide.min(), wide.max(), wide.mean())
    return (f"{numbers[0]:.6g}", f"{numbers[1]:.6g}", f"{numbers[2]:.6g}")
