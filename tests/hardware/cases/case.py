"""A kernel to run on the emulator and on a GPU, and how its outputs are compared."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]

HEADER = ".version {version}\n.target {target}\n.address_size 64\n"


@dataclass(frozen=True)
class Near:
    """Tolerance for floats of a type: relative, absolute, and relative to the input.

    `x2` types hold two floats.
    """

    type: str
    relative: float = 0.0
    absolute: float = 0.0
    of_input: float = 0.0


@dataclass(frozen=True)
class Case:
    """A kernel, its arguments, and its launch configuration."""

    family: str
    name: str
    text: str
    arguments: Sequence[Any]
    grid: Any = 1
    block: Any = 32
    cluster: Any = None
    shared: int = 0
    """Dynamic shared memory in bytes."""
    target: str = "sm_90a"
    """Target of the PTX; on a GPU of another target only the emulator runs the case."""
    rows: Sequence[str] = ()
    """Names of the rows of the last argument, if each row is a separate check."""
    wanted: Mapping[int, Array] = field(default_factory=dict[int, Array])
    """Expected final contents by argument index, where numpy can compute them."""
    near: Sequence[Near] = ()
    """Tolerance of each row; without it outputs must be bitwise equal."""
    allowed: Sequence[str] = ()
    """Kinds of emulator findings that do not fail the case, for deliberately wrong kernels."""

    by_ptxas: bool = False
    """Whether ptxas compiles it for the GPU and not the driver, whose compiler may be older."""

    def __str__(self) -> str:
        """Return family and name."""
        return f"{self.family}: {self.name}"


def kernel_text(
    body: str,
    parameters: str,
    version: str = "8.6",
    target: str = "sm_90a",
    directives: str = "",
) -> str:
    """Return a module with one kernel `k` of the given body, preceded by the directives."""
    header = HEADER.format(version=version, target=target)
    return f"{header}.visible .entry k({parameters}) {directives}\n{{\n{body}\n}}\n"


def pointers(names: Sequence[str]) -> str:
    """Return the declarations of the named pointer parameters."""
    return ", ".join(f".param .u64 {name}" for name in names)
