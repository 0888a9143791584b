"""One kernel that runs on the emulator and on a GPU, and what must be equal afterwards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from numpy.typing import NDArray

Array = NDArray[Any]

HEADER = ".version {version}\n.target {target}\n.address_size 64\n"


@dataclass(frozen=True)
class Near:
    """How far floats of a type may be apart: for their size, at least, and for their input's size.

    `x2` types hold two of them.
    """

    type: str
    relative: float = 0.0
    absolute: float = 0.0
    of_input: float = 0.0


@dataclass(frozen=True)
class Case:
    """A kernel, its arguments, and how it is launched."""

    family: str
    name: str
    text: str
    arguments: Sequence[Any]
    grid: Any = 1
    block: Any = 32
    cluster: Any = None
    shared: int = 0
    """Bytes of dynamic shared memory."""
    target: str = "sm_90a"
    """Of the text; on GPUs that run another target, only the emulator runs it."""
    rows: Sequence[str] = ()
    """What each row of the last argument is, if each is a check of its own."""
    wanted: Mapping[int, Array] = field(default_factory=dict[int, Array])
    """By argument, what it holds afterwards where numpy knows."""
    near: Sequence[Near] = ()
    """How near the floats of each row must be; without it all is equal bit for bit."""
    allowed: Sequence[str] = ()
    """Kinds of findings that the emulator may have: it does what is wrong as a GPU does."""

    def __str__(self) -> str:
        """Family and name."""
        return f"{self.family}: {self.name}"


def kernel_text(
    body: str,
    parameters: str,
    version: str = "8.6",
    target: str = "sm_90a",
    directives: str = "",
) -> str:
    """A module with one kernel `k`, whose body this is; directives stand before it."""
    header = HEADER.format(version=version, target=target)
    return f"{header}.visible .entry k({parameters}) {directives}\n{{\n{body}\n}}\n"


def pointers(names: Sequence[str]) -> str:
    """The declarations of so many pointers."""
    return ", ".join(f".param .u64 {name}" for name in names)
