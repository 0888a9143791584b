"""The pass `tileas-assign-load-store-layouts`: assign layouts and copy atoms."""

from __future__ import annotations

import sys

from xdsl.context import Context
from xdsl.dialects import func
from xdsl.dialects.builtin import ModuleOp
from xdsl.passes import ModulePass

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.environment import is_set
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.target_attribute import module_target
from tileas_xdsl.transforms.assign_layouts.driver import assign_layouts
from tileas_xdsl.transforms.assign_layouts.explain import explanation
from tileas_xdsl.transforms.assign_layouts.request import Preferences

PREFER_TMA = "TILEIR_PREFER_TMA_FOR_LOAD_STORE"
ALWAYS_SWIZZLE = "TILEIR_ALWAYS_SWIZZLE"
"""Environment variables that do what the options do, if they are set to anything but 0."""


@dataclass(frozen=True)
class TileasAssignLoadStoreLayouts(ModulePass):
    """Assign a layout to every tile that is loaded, stored or multiplied.

    Analysis, then rewrite: layouts are chosen together for groups of tiles that must agree.

    Input: tiles and memory operations, some of them perhaps laid out already.  Output: encodings on
    the types of tiles, `nv_tileas.layout` on loads and stores, atoms instead of `unknown_copy` and
    on products that have none; what no operation tells anything of stays as it is.  Deterministic
    and idempotent.  A group of tiles whose operations want them in different memories is an error
    at its first operation, which stops the pipeline and leaves valid IR.
    """

    name = "tileas-assign-load-store-layouts"

    target: str | None = None
    """Deprecated: the attribute `nv_tileas.target` of the module says it."""
    prefer_tma: bool = False
    """Load and store by TMA what it can move; so does TILEIR_PREFER_TMA_FOR_LOAD_STORE=1."""
    always_swizzle: bool = False
    """No tile in shared memory without a swizzle that fits; so does TILEIR_ALWAYS_SWIZZLE=1."""
    explain: bool = False
    """Print to standard error what was compared, what it costs, and why it was dropped."""

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        target = module_target(op, self.target)
        preferences = Preferences(
            prefer_tma=self.prefer_tma or is_set(PREFER_TMA),
            always_swizzle=self.always_swizzle or is_set(ALWAYS_SWIZZLE),
        )
        for function in instances_in(op, func.FuncOp):
            if function.is_declaration:
                continue
            decisions = assign_layouts(function, target, preferences)
            if self.explain:
                sys.stderr.write(explanation(function, decisions, preferences.weights) + "\n")
