"""`tileas doctor`: what is installed, what is missing, and the command that installs it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, entry_points, version

import typer

from tileas_xdsl.backend.nvidia_tools import MissingToolError, find_tool
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.target.arch import TARGETS
from tileas_xdsl.tools.console import print_table


@dataclass(frozen=True)
class Need:
    """A dependency of a part of the project; `look` returns what is installed or None."""

    name: str
    purpose: str
    look: Callable[[], str | None]
    remedy: str
    required: bool = False


def _package(*names: str) -> Callable[[], str | None]:
    def look() -> str | None:
        for name in names:
            try:
                return version(name)
            except PackageNotFoundError:
                continue
        return None

    return look


def _python() -> str:
    return ".".join(map(str, sys.version_info[:3]))


def _universe() -> str | None:
    found = [e.name for e in entry_points(group="xdsl.universe") if e.name == "tileas_xdsl"]
    return "registered" if found else None


def _ptxas() -> str | None:
    """The one that `tileas compile` would take, or what is wrong with it."""
    try:
        found = find_tool("ptxas")
    except MissingToolError as error:
        return str(error)
    return None if found is None else str(found)


def _driver() -> str | None:
    from ctypes import CDLL, byref, c_int

    try:
        driver = CDLL("nvcuda.dll" if sys.platform == "win32" else "libcuda.so.1")
    except OSError:
        return None
    number = c_int(0)
    if driver.cuDriverGetVersion(byref(number)) != 0:
        return None
    return f"CUDA {number.value // 1000}.{number.value % 1000 // 10}"


def _gpu() -> str | None:
    """The first GPU and the target that it runs, or why it runs none."""
    from tileas_xdsl.runtime.gpu.device import gpu
    from tileas_xdsl.runtime.gpu.driver import DriverError, MissingDriverError
    from tileas_xdsl.runtime.kernel_launcher import target_of

    try:
        found = gpu()
        return f"{found.name}, {target_of(found)}"
    except MissingDriverError:
        return None
    except DriverError as error:
        return str(error)


_CAPABILITIES = " or ".join(f"{target.capability / 10}" for target in TARGETS.values())

_SELF = "pip install 'tileas-xdsl"

NEEDS = (
    Need("python", "everything", _python, "install Python 3.11 or newer", required=True),
    Need("xdsl", "the IR", _package("xdsl"), "pip install 'xdsl~=0.74.0'", required=True),
    Need("numpy", "layouts, interpreters", _package("numpy"), "pip install numpy", required=True),
    Need("ml-dtypes", "bf16, fp8", _package("ml-dtypes"), "pip install ml-dtypes", required=True),
    Need("typer", "this tool", _package("typer"), "pip install typer", required=True),
    Need(
        "xdsl.universe",
        "plain xdsl-opt sees our dialects and passes",
        _universe,
        "pip install -e .",
        required=True,
    ),
    Need("ptxas", "PTX to machine code", _ptxas, f"{_SELF}[ptxas]'"),
    Need("llvmlite", "host code", _package("llvmlite"), f"{_SELF}[host]'"),
    Need("cuda-tile", "cuTile kernels as input", _package("cuda-tile"), f"{_SELF}[cutile]'"),
    Need("cuda-bindings", "launching kernels", _package("cuda-bindings"), f"{_SELF}[gpu]'"),
    Need("cuda-core", "launching kernels", _package("cuda-core"), f"{_SELF}[gpu]'"),
    Need("NVIDIA driver", "running on a GPU", _driver, "install the driver of your GPU"),
    Need("GPU", "running kernels", _gpu, f"one of compute capability {_CAPABILITIES}"),
    Need("matplotlib", "plots", _package("matplotlib"), f"{_SELF}[viz]'"),
    Need("marimo", "notebooks", _package("marimo"), f"{_SELF}[notebooks]'"),
    Need("triton", "tests", _package("triton"), f"{_SELF}[triton]'"),
    Need("filecheck", "tests", _package("filecheck"), f"{_SELF}[dev]'"),
    Need("lit", "tests", _package("lit"), f"{_SELF}[dev]'"),
)


def doctor() -> None:
    """Report what is installed, and how to install what is missing.

    Exit code 1 if something is missing that every command needs.
    """
    found = [(need, need.look()) for need in NEEDS]
    rows = [
        (need.name, state or "missing", need.purpose, "" if state else need.remedy)
        for need, state in found
    ]
    print_table(("what", "found", "used for", "to install"), rows)
    if any(need.required and state is None for need, state in found):
        raise typer.Exit(1)
