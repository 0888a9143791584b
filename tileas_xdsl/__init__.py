"""An open compiler for GPU tile kernels on xDSL.

import tileas_xdsl as tileas

kernel = tileas.compile("kernel.mlir", target="sm_90a")
print(kernel.ptx)
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tileas_xdsl.compiler import CompiledKernel, CompiledModule, compile, compile_kernels
    from tileas_xdsl.interpreters.tile.launch import Schedule, simulate
    from tileas_xdsl.runtime.cutile.dispatch import launch
    from tileas_xdsl.tuning.autotune import autotune

__all__ = [
    "CompiledKernel",
    "CompiledModule",
    "Schedule",
    "autotune",
    "compile",
    "compile_kernels",
    "launch",
    "simulate",
]

_HOMES = {
    "autotune": "tileas_xdsl.tuning.autotune",
    "compile": "tileas_xdsl.compiler",
    "compile_kernels": "tileas_xdsl.compiler",
    "CompiledKernel": "tileas_xdsl.compiler",
    "CompiledModule": "tileas_xdsl.compiler",
    "launch": "tileas_xdsl.runtime.cutile.dispatch",
    "simulate": "tileas_xdsl.interpreters.tile.launch",
    "Schedule": "tileas_xdsl.interpreters.tile.launch",
}
"""Where a public name lives; it is imported when it is first used."""


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    from tileas_xdsl.collection import collected_rarely

    with collected_rarely(as_old=True):
        found = globals()[name] = getattr(import_module(_HOMES[name]), name)
    return found
