"""What `xdsl-opt` and every other xDSL tool see of this package: its `xdsl.universe` entry point.

Factories are lazy: importing this module imports no dialect, no pass and no target, so that tools
start quickly.  Names say where things are: the pass `tileas-slicing` is the class `TileasSlicing`
of `transforms/tileas_slicing.py`, the dialect `cute_nvgpu` is `CuteNvgpu` of `dialects/cute_nvgpu`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from xdsl.passes import ModulePass
from xdsl.universe import Universe

if TYPE_CHECKING:
    from xdsl.context import Context
    from xdsl.dialects.builtin import ModuleOp

DIALECTS = (
    "cuda_tile",
    "cute",
    "cute_nvgpu",
    "cutlass",
    "nv_tileaa",
    "nv_tileas",
    "ptx",
    "tile",
    "tl",
)
"""Every dialect, named after its package."""

PASSES = (
    "convert-cudatile-to-tileaa",
    "convert-cute-nvgpu-to-ptx",
    "convert-cute-to-nvgpu",
    "convert-pipeline-to-nvgpu",
    "convert-tileaa-to-tileas",
    "convert-tileas-to-cute-nvgpu",
    "convert-tl-to-tileaa",
    "cute-desugar",
    "cute-kernel-to-nvvm",
    "cute-to-llvm",
    "expand-division",
    "expand-math",
    "fuse-fma",
    "hoist-loop-invariants",
    "loop-split",
    "lower-tma-load-store-to-async",
    "optimize-execution-unit-mapping",
    "propagate-execution-unit",
    "scalarize-vectors",
    "sink-negf-through-shapes",
    "synthesize-debug-info-scopes",
    "tileas-assign-buffers",
    "tileas-assign-load-store-layouts",
    "tileas-attach-target",
    "tileas-attach-tma-descriptor-args",
    "tileas-canonicalize",
    "tileas-choose-tma",
    "tileas-chunk-tiles",
    "tileas-defer-lane-sums",
    "tileas-fuse-elementwise",
    "tileas-generate-schedule",
    "tileas-legalize-i1-memory",
    "tileas-legalize-tmem-copy",
    "tileas-make-persistent",
    "tileas-materialize-async",
    "tileas-materialize-constants",
    "tileas-materialize-convert-layout",
    "tileas-materialize-schedule",
    "tileas-multicast-loads",
    "tileas-normalize-dot-operands",
    "tileas-pipeline-loads",
    "tileas-plan-cta",
    "tileas-remove-buffer-alias",
    "tileas-remove-dead-args",
    "tileas-remove-layout-conversions",
    "tileas-resolve-agent-boundary",
    "tileas-separate-host-tma",
    "tileas-slicing",
    "tileas-unroll-register-loops",
    "tl-layout-inference",
    "tl-lower",
    "verify-dominance",
)
"""Every pass, named after its module."""

DEPRECATED_PASSES = {
    "tileas-arrange-factors": "tileas-normalize-dot-operands",
    "tileas-attach-tma-desc-args": "tileas-attach-tma-descriptor-args",
    "tileas-fuse-generates": "tileas-fuse-elementwise",
    "tileas-place-constants": "tileas-materialize-constants",
    "tileas-widen-truths": "tileas-legalize-i1-memory",
}
"""Old names of passes and the names to use instead; they go with the next release."""

_PACKAGES = {"convert-cute-nvgpu-to-ptx": "backend.ptx"}
"""Packages of the passes that are not in `transforms`."""

_MODULES = {"nv_tileaa": "dialects.nv_tileaa.dialect"}
"""Modules of dialects whose package is imported by the dialects that use their types."""


@dataclass(frozen=True)
class LazyImport:
    """A factory of a class or dialect that imports its module when it is called."""

    module: str
    name: str

    def __call__(self) -> Any:
        """Import the module and return its member."""
        return getattr(import_module(f"tileas_xdsl.{self.module}"), self.name)


def _camel_case(name: str) -> str:
    return "".join(word.capitalize() for word in name.replace("-", "_").split("_"))


def _pass(name: str) -> LazyImport:
    package = _PACKAGES.get(name, "transforms")
    return LazyImport(f"{package}.{name.replace('-', '_')}", _camel_case(name))


def _dialect(name: str) -> LazyImport:
    return LazyImport(_MODULES.get(name, f"dialects.{name}"), _camel_case(name))


def _deprecated(old: str, current: LazyImport) -> type[ModulePass]:
    """Return the pass under its old name, with which xDSL finds it again in a pass pipeline."""
    found: type[ModulePass] = current()

    def apply(self: ModulePass, ctx: Context, op: ModuleOp) -> None:
        """Warn that the name is deprecated, and run the pass."""
        advice = f"is now called '{found.name}'; the old name goes with the next release"
        sys.stderr.write(f"warning: pass '{old}' {advice}\n")
        found.apply(self, ctx, op)

    members = {"name": old, "__doc__": found.__doc__, "apply": apply}
    return type(found.__name__, (found,), members)


def _passes() -> dict[str, Callable[[], type[ModulePass]]]:
    found: dict[str, Callable[[], type[ModulePass]]] = {name: _pass(name) for name in PASSES}
    for old, new in DEPRECATED_PASSES.items():
        found[old] = partial(_deprecated, old, _pass(new))
    return dict(sorted(found.items()))


TILEAS_UNIVERSE = Universe(
    all_dialects={name: _dialect(name) for name in DIALECTS},
    all_passes=_passes(),
    all_targets={"ptx": LazyImport("backend.ptx.target", "PtxTarget")},
)
"""An open compiler for GPU tile kernels on xDSL."""
