"""What captures of launches share: how launches are checked, saved, and their results kept.

Each capture replaces what a library calls to launch a kernel, so that an unmodified program runs
without a GPU. All take the same keywords (`CheckOptions`):

    with check.cupy("sm_90a", schedules=1, save="folder") as reports:
        kernel((4,), (128,), (x, y))              CuPy's RawKernel: compiled to PTX
                                                  -> CaptureSettings.check(text, module, ...)
                                                  -> saved, checked, results copied into x and y
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import field
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, ClassVar, TypedDict, cast

import numpy as np
from numpy.typing import NDArray

from tileas_xdsl.check.reports import INSTRUCTION_BUDGET, CheckReport, ptx
from tileas_xdsl.check.saved_launches import SavedLaunch
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.interpreters.ptx import LateArg, PtxModule, TensorMapArg
from tileas_xdsl.interpreters.ptx.launch import pick_kernel
from tileas_xdsl.target.arch import Target, get_target

MAX_NAME = 120
"""Letters of a kernel's name in those of files, which systems limit to 255."""


class CaptureUnavailableError(RuntimeError):
    """What is to be captured is not installed; the text says what to install."""


@dataclass
class CaptureSettings:
    """Which GPU launches are compiled for, and how they are checked."""

    target: Target
    allow: Sequence[str] = ()
    schedules: int = 3
    seed: int = 0
    limit: float = INSTRUCTION_BUDGET
    folder: Path | None = None
    """Where launches are saved before they are checked."""
    saved: Counter[str] = field(default_factory=Counter[str])
    """By kernel, the launches that have been saved."""
    reports: list[CheckReport] = field(default_factory=list[CheckReport])

    @property
    def capability(self) -> tuple[int, int]:
        """The compute capability, (9, 0) for sm_90a."""
        return divmod(self.target.capability, 10)

    def check(
        self,
        text: str,
        module: PtxModule,
        kernel: str | None,
        grid: Sequence[int],
        block: Sequence[int],
        values: Sequence[Any],
        *,
        cluster: Sequence[int] | None = None,
        shared: int = 0,
    ) -> None:
        """Check a launch; its arrays hold the results afterwards."""
        entry = pick_kernel(module, kernel)
        if self.folder is not None:
            name = entry.name[:MAX_NAME]
            self.saved[name] += 1
            count = self.saved[name]
            launch = SavedLaunch(text, entry, grid, block, cluster, shared, values)
            launch.write(self.folder, name if count == 1 else f"{name}-{count}")
        report = ptx(
            module,
            grid,
            values,
            block,
            cluster,
            kernel=entry.name,
            shared=shared,
            allow=self.allow,
            schedules=self.schedules,
            seed=self.seed,
            limit=self.limit,
        )
        for value, after in zip(values, report.arrays, strict=True):
            _keep_results(value, after)
        self.reports.append(report)


def _keep_results(value: Any, after: Any) -> None:
    """Copy the contents after a launch to the arrays of an argument."""
    if isinstance(value, LateArg):
        for array, contents in zip(value.arrays, after, strict=True):
            array[...] = contents
    array = value.array if isinstance(value, TensorMapArg) else value
    if isinstance(array, np.ndarray) and after is not None:
        array[...] = after


class CheckOptions(TypedDict, total=False):
    """The keywords of every capture."""

    allow: Iterable[str]
    """Rules whose findings are not reported."""
    schedules: int
    """How many orders of blocks and warps are tried."""
    seed: int
    """Of the random orders."""
    limit: float
    """Instructions of a launch before it is given up."""
    save: str | Path | None
    """Folder for files of each launch, which `tileas check NAME.ptx --launch NAME.json` repeats."""


def settings_of(target: str, options: CheckOptions) -> CaptureSettings:
    """Return the settings of a capture."""
    found = CaptureSettings(get_target(target), tuple(options.get("allow", ())))
    found.schedules = options.get("schedules", found.schedules)
    found.seed = options.get("seed", found.seed)
    found.limit = options.get("limit", found.limit)
    save = options.get("save")
    found.folder = None if save is None else Path(save)
    return found


def needed(module: str, capture: str, install: str) -> Any:
    """Import a module that a capture needs; `CaptureUnavailableError` says how to install it."""
    try:
        return import_module(module)
    except ImportError as error:
        raise CaptureUnavailableError(
            f"check.{capture}() needs {error.name or module}: pip install {install}"
        ) from error


@contextmanager
def replaced(parts: Iterable[tuple[Any, Mapping[str, Any]]]) -> Generator[None]:
    """Replace attributes of objects inside of the `with`."""
    before: list[tuple[Any, str, Any]] = []
    try:
        for owner, attributes in parts:
            for name, value in attributes.items():
                own = cast("dict[str, Any]", owner.__dict__)
                before.append((owner, name, own.get(name, _MISSING)))
                setattr(owner, name, value)
        yield
    finally:
        for owner, name, value in reversed(before):
            if value is _MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, value)


_MISSING = object()


def extents(value: Any) -> tuple[int, ...]:
    """Return a number or a sequence of them as a tuple."""
    if isinstance(value, Iterable):
        return tuple(int(n) for n in cast("Iterable[Any]", value))
    return (int(value),)


class HostArray(np.ndarray[Any, Any]):
    """An array of the host that stands for one of a GPU, with the methods those have."""

    addressed: ClassVar[dict[int, HostArray]] = {}
    """Arrays whose addresses a program has asked for, to pass them as numbers."""

    @property
    def data(self) -> Any:
        """Its memory, whose `ptr` is the address (CuPy)."""
        address = int(self.__array_interface__["data"][0])
        HostArray.addressed[address] = self
        return SimpleNamespace(ptr=address)

    def get(self, *_: Any, **__: Any) -> NDArray[Any]:
        """Return a plain copy (CuPy)."""
        return np.array(self)

    def copy_to_host(self, ary: NDArray[Any] | None = None, stream: Any = 0) -> NDArray[Any]:
        """Return a plain copy, or fill `ary` (Numba)."""
        if ary is None:
            return np.array(self)
        ary[...] = self
        return ary

    def copy_to_device(self, ary: NDArray[Any], stream: Any = 0) -> None:
        """Take the elements of another array (Numba)."""
        self[...] = ary


def on_host(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function of numpy that makes arrays with the methods of those of a GPU."""

    def made(*args: Any, **options: Any) -> Any:
        found = function(*args, **options)
        if isinstance(found, np.ndarray):
            return cast("NDArray[Any]", found).view(HostArray)
        return found

    return made


def argument(value: Any) -> Any:
    """Return an argument of a launch as the emulator takes it: arrays, numbers, None as null.

    A number that is the address of a host array stands for that.
    """
    if value is None:
        return 0
    if isinstance(value, np.generic):
        return argument(cast("Any", value).item())
    if isinstance(value, int) and value in HostArray.addressed:
        return HostArray.addressed[value].view(np.ndarray)
    return value.view(np.ndarray) if isinstance(value, HostArray) else value
