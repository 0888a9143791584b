"""What `xdsl-opt` and every other xDSL tool see of this package: its `xdsl.universe` entry point.

Factories are lazy: importing this module imports no dialect, no pass and no target, so that tools
start quickly.  Names say where things are: the pass `tileas-slicing` is the class `TileasSlicing`
of `transforms/loops/tileas_slicing.py` (`PASSES_BY_PACKAGE` has the folder), the dialect
`cute_nvgpu` is `CuteNvgpu` of `dialects/cute_nvgpu`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from functools import cached_property, partial
from importlib import import_module
from typing import TYPE_CHECKING, Any

from xdsl.passes import ModulePass
from xdsl.universe import Universe

from tileas_xdsl.data_classes import dataclass

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

PASSES_BY_PACKAGE: Mapping[str, tuple[str, ...]] = {
    "backend.ptx": ("convert-cute-nvgpu-to-ptx",),
    "transforms": ("tileas-canonicalize", "tileas-cse"),
    "transforms.arithmetic": (
        "balance-inverses",
        "expand-division",
        "expand-int-to-float",
        "expand-math",
        "fuse-differences",
        "fuse-fma",
        "join-neighbouring-loads",
        "recompute-conditions",
        "scalarize-vectors",
        "separate-constant-offsets",
        "sink-negf-through-shapes",
        "tileas-defer-lane-sums",
        "tileas-end-products",
        "tileas-fuse-elementwise",
        "tileas-normalize-dot-operands",
        "tileas-relax-functions",
        "tileas-relax-weights",
        "tileas-split-choices",
    ),
    "transforms.conversion": (
        "convert-cudatile-to-tileaa",
        "convert-cute-to-nvgpu",
        "convert-pipeline-to-nvgpu",
        "convert-tileaa-to-tileas",
        "convert-tileas-to-cute-nvgpu",
        "convert-tl-to-tileaa",
        "cute-desugar",
        "cute-kernel-to-nvvm",
        "cute-to-llvm",
        "tl-lower",
    ),
    "transforms.kernels": (
        "overlap-launches",
        "share-ctas",
        "synthesize-debug-info-scopes",
        "tileas-attach-target",
        "tileas-chunk-tiles",
        "tileas-deal-iterations",
        "tileas-dynamic-persistent",
        "tileas-form-clusters",
        "tileas-make-persistent",
        "tileas-order-tile-blocks",
        "tileas-plan-cta",
        "tileas-remove-dead-args",
        "verify-dominance",
    ),
    "transforms.layouts": (
        "tileas-assign-load-store-layouts",
        "tileas-legalize-tmem-copy",
        "tileas-materialize-convert-layout",
        "tileas-remove-layout-conversions",
        "tl-layout-inference",
    ),
    "transforms.loops": (
        "hoist-loop-invariants",
        "loop-split",
        "tileas-assume-whole-tiles",
        "tileas-compact-loops",
        "tileas-divide-sums",
        "tileas-peel-masks",
        "tileas-reduce-slices",
        "tileas-slicing",
        "tileas-sum-rows-early",
        "tileas-unroll-register-loops",
    ),
    "transforms.memory": (
        "cudatile-sink-loads",
        "lower-tma-load-store-to-async",
        "tileas-assign-buffers",
        "tileas-attach-tma-descriptor-args",
        "tileas-bound-rows",
        "tileas-choose-tma",
        "tileas-legalize-i1-memory",
        "tileas-load-tables",
        "tileas-materialize-constants",
        "tileas-multicast-loads",
        "tileas-remove-buffer-alias",
        "tileas-rotate-rows",
        "tileas-separate-host-tma",
    ),
    "transforms.pipelining": (
        "optimize-execution-unit-mapping",
        "place-turns",
        "propagate-execution-unit",
        "tileas-generate-schedule",
        "tileas-materialize-async",
        "tileas-materialize-schedule",
        "tileas-pipeline-loads",
        "tileas-resolve-agent-boundary",
    ),
}
"""Every pass, named after its module, by the package that has it: a folder for each job."""

PASSES = tuple(sorted(name for names in PASSES_BY_PACKAGE.values() for name in names))
"""Every pass."""

DEPRECATED_PASSES = {
    "tileas-arrange-factors": "tileas-normalize-dot-operands",
    "tileas-attach-tma-desc-args": "tileas-attach-tma-descriptor-args",
    "tileas-fuse-generates": "tileas-fuse-elementwise",
    "tileas-place-constants": "tileas-materialize-constants",
    "tileas-widen-truths": "tileas-legalize-i1-memory",
}
"""Old names of passes and the names to use instead; they go with the next release."""

_PACKAGES = {name: package for package, names in PASSES_BY_PACKAGE.items() for name in names}

_MODULES = {"nv_tileaa": "dialects.nv_tileaa.dialect"}
"""Modules of dialects whose package is imported by the dialects that use their types."""


@dataclass(frozen=True)
class LazyImport:
    """A factory of a class or dialect that imports its module when it is called."""

    module: str
    name: str

    @cached_property
    def _member(self) -> Any:
        return getattr(import_module(f"tileas_xdsl.{self.module}"), self.name)

    def __call__(self) -> Any:
        """Import the module and return its member."""
        return self._member


def _camel_case(name: str) -> str:
    return "".join(word.capitalize() for word in name.replace("-", "_").split("_"))


def _pass(name: str) -> LazyImport:
    return LazyImport(f"{_PACKAGES[name]}.{name.replace('-', '_')}", _camel_case(name))


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
