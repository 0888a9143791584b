"""Which scopes the locations of kernels, of what is in them, and of globals may have."""

from __future__ import annotations

from typing import cast

from xdsl.dialects.builtin import ArrayAttr, CallSiteLoc, FusedLoc, NameLoc
from xdsl.ir import Attribute, Region

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp
from tileas_xdsl.dialects.cuda_tile.structure.debug_info import (
    LOCAL_SCOPES,
    DISubprogramAttr,
    subprogram_of,
)


def scope_of(location: Attribute) -> Attribute | None:
    """Return the debug scope of a location, its own or that of a nested location."""
    if isinstance(location, CallSiteLoc):
        return scope_of(location.caller)
    if isinstance(location, NameLoc):
        return scope_of(location.location)
    if not isinstance(location, FusedLoc):
        return None
    if isinstance(location.metadata, LOCAL_SCOPES):
        return location.metadata
    scopes = map(scope_of, cast("ArrayAttr[Attribute]", location.locations))
    return next((scope for scope in scopes if scope is not None), None)


def check_function(op: CudaTileOp, name: str) -> None:
    """The scope of a kernel is a function that links under its name."""
    if isinstance(op.location, CallSiteLoc):
        raise op.refuse("cuda_tile.debug_function.call_site", location=op.location)
    scope = scope_of(op.location)
    if scope is None:
        return
    if not isinstance(scope, DISubprogramAttr):
        raise op.refuse("cuda_tile.debug_function.scope", location=scope)
    linked = scope.linkage_name
    if linked.data != name:
        raise op.refuse(
            "cuda_tile.debug_function.name", location=scope, function=name, linkage_name=linked
        )


def check_function_body(op: CudaTileOp, body: Region) -> None:
    """What is in a kernel is in its scope."""
    scope = scope_of(op.location)
    function = None if scope is None else subprogram_of(scope)
    for inner in operations_in(body):
        scope = scope_of(inner.location)
        given = None if scope is None else subprogram_of(scope)
        if given is None:
            continue
        if function is None:
            raise op_error(inner, message("cuda_tile.debug_operation.undefined", location=given))
        if given != function:
            text = message("cuda_tile.debug_operation.other", location=given, scope=function)
            raise op_error(inner, text, prefix=False)


def check_globals(module: CudaTileOp) -> None:
    """Only functions have a scope in a module."""
    for block in module.regions[0].blocks:
        for op in block.ops:
            if "function_type" not in op.properties and scope_of(op.location) is not None:
                raise op_error(op, message("cuda_tile.debug.global", location=op.location))
