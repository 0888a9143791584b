"""The pass `synthesize-debug-info-scopes`: locations of kernels get the scope of their function.

    entry @k() { ... loc("k.py":3:5) } loc("k.py":1:1)
    // becomes
    entry @k() { ... loc(fused<#k>["k.py":3:5]) } loc(fused<#k>["k.py":1:1])
    #k = #cuda_tile.di_subprogram<file = "k.py", line = 1, name = "k", linkageName = "k", ...>

The pass of the public Tile IR repository has this name; it makes line tables possible for front
ends that write plain locations.  A function that has a scope stays as it is.
"""

from __future__ import annotations

from pathlib import PurePosixPath

from xdsl.context import Context
from xdsl.dialects.builtin import (
    FileLineColLoc,
    FusedLoc,
    IntAttr,
    LocationAttr,
    ModuleOp,
    StringAttr,
)
from xdsl.ir import Operation
from xdsl.passes import ModulePass

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.locations import file_location
from tileas_xdsl.diagnostics.report import Location
from tileas_xdsl.dialects.cuda_tile.structure.debug_checks import scope_of
from tileas_xdsl.dialects.cuda_tile.structure.debug_info import (
    DICompileUnitAttr,
    DIFileAttr,
    DISubprogramAttr,
)

NOWHERE = Location("<unknown>", 1, 1)
"""Where a function without a location is."""


def _file(location: Location) -> DIFileAttr:
    path = PurePosixPath(location.file)
    directory = "" if str(path.parent) == "." else str(path.parent)
    return DIFileAttr(StringAttr(path.name), StringAttr(directory))


def _in_scope(location: Location, scope: DISubprogramAttr) -> LocationAttr:
    line, column = IntAttr(location.line), IntAttr(location.column)
    return FusedLoc((FileLineColLoc(StringAttr(location.file), line, column),), scope)


def _scope(function: Operation, unit: DICompileUnitAttr) -> None:
    """Give a function and what is in it a scope, unless it has one."""
    name = function.properties.get("sym_name")
    if not isinstance(name, StringAttr) or scope_of(function.location) is not None:
        return
    location = file_location(function.location) or NOWHERE
    line = IntAttr(location.line)
    scope = DISubprogramAttr(_file(location), line, name, name, unit, line)
    for op in function.walk():
        op.location = _in_scope(file_location(op.location) or location, scope)


@dataclass(frozen=True)
class SynthesizeDebugInfoScopes(ModulePass):
    """Give the locations of Tile IR kernels the scopes that line tables need."""

    name = "synthesize-debug-info-scopes"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for module in op.walk():
            if module.name != "cuda_tile.module":
                continue
            unit = DICompileUnitAttr(_file(file_location(module.location) or NOWHERE))
            for function in module.regions[0].block.ops:
                if "function_type" in function.properties:
                    _scope(function, unit)
