"""Tile IR of cuTile kernels, exported by the package `cuda-tile` without a GPU."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from io import BytesIO
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import CallSiteLoc, LocationAttr, ModuleOp, UnitAttr
from xdsl.rewriter import Rewriter
from xdsl.utils.hints import isa

from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.locations import file_location
from tileas_xdsl.diagnostics.report import Diagnostic, Location, Severity, diagnostic
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.cuda_tile.enums import RoundingMode, RoundingModeAttr, Signedness
from tileas_xdsl.dialects.cuda_tile.structure.module import EntryOp
from tileas_xdsl.dialects.cuda_tile.tiles.conversions import IntToPtrOp, TruncIOp
from tileas_xdsl.dialects.cuda_tile.tiles.integers import DivIOp
from tileas_xdsl.dialects.cuda_tile.types.tile_types import TileType
from tileas_xdsl.dialects.kinds import has_instance, instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import ARRAYS_ARE_LISTED
from tileas_xdsl.frontend.bytecode.layout import LATEST, V13_3, Version
from tileas_xdsl.frontend.cutile.kernels import (
    definition_of,
    error_at,
    in_order,
    kernel_signature,
    need_cutile,
)
from tileas_xdsl.frontend.cutile.remembered_signatures import remember_signatures
from tileas_xdsl.frontend.signature import Parameter, parse_signature

_FIRST_COLUMN = 0
"""The package counts columns from 0, also in bytecode."""


def export_bytecode(
    kernel: Any,
    signature: str | Sequence[Parameter],
    *,
    version: Version = LATEST,
    gpu: str | None = None,
) -> bytes:
    """The bytecode of a kernel for arguments of these types.

    The parameters of the signature are matched by name.  Without a GPU's name, `"sm_100"`, the
    bytecode is for any; versions before 13.3 need one.  Raises `SignatureError` for a text that is
    none, `MissingPackageError`, and `DiagnosticError` at the line of Python that is wrong.
    """
    ct = need_cutile()
    remember_signatures()
    place = definition_of(kernel)
    if version < V13_3 and gpu is None:
        raise error_at(place, f"bytecode {version} is for one GPU: say which")
    parameters = parse_signature(signature) if isinstance(signature, str) else signature
    ordered = in_order(kernel, parameters)
    output = BytesIO()
    try:
        exported = kernel_signature(kernel, ordered)
        ct.compilation.export_kernel(
            kernel,
            [exported],
            output,
            output_format="tileir_bytecode",
            gpu_code=gpu,
            bytecode_version=str(version),
        )
    except ct.TileError as error:
        raise DiagnosticError(_tile_error(error, place)) from error
    except Exception as error:
        raise error_at(place, f"cuda.tile refuses the kernel: {_one_line(str(error))}") from error
    return output.getvalue()


def kernel_module(
    kernel: Any,
    signature: str | Sequence[Parameter],
    *,
    version: Version = LATEST,
    gpu: str | None = None,
) -> ModuleOp:
    """Return the unverified `cuda_tile` module of a kernel; parameters as `export_bytecode`."""
    return bytecode_module(kernel, export_bytecode(kernel, signature, version=version, gpu=gpu))


def bytecode_module(kernel: Any, content: bytes) -> ModuleOp:
    """Return the unverified module of a kernel's bytecode, with locations in the user's source.

    The package makes pointers of integers where it takes arrays out of lists, and nowhere else.
    """
    from tileas_xdsl.frontend.bytecode.reading.reader import read_bytecode

    module = read_bytecode(content, definition_of(kernel).file, first_column=_FIRST_COLUMN)
    folder = _folder()
    for op in operations_in(module):
        op.location = _of_user(op.location, folder)
        if isinstance(op, DivIOp):
            _round_unsigned_quotient(op)
        if isinstance(op, TruncIOp):
            _keep_all_indices(op)
    if has_instance(module, IntToPtrOp):
        for entry in instances_in(module, EntryOp):
            entry.attributes[ARRAYS_ARE_LISTED] = UnitAttr()
    return module


def _round_unsigned_quotient(op: DivIOp) -> None:
    """Round a quotient of unsigned integers towards zero.

    The package writes `x // y` of all integers as rounded down, which Tile IR has of signed ones
    only; nothing unsigned is below zero, so that both are the same.
    """
    is_unsigned = op.signedness.data is Signedness.UNSIGNED
    if is_unsigned and op.rounding.data is RoundingMode.NEGATIVE_INF:
        op.rounding = RoundingModeAttr(RoundingMode.ZERO)


def _keep_all_indices(op: TruncIOp) -> None:
    """Give narrowed indices as many elements as there are.

    The package narrows indices of 64 bits to one number, also those of `load_advanced_indexing`.
    """
    source, result = op.from_.type, op.to.type
    if not isinstance(source, TileType) or not isinstance(result, TileType):
        return
    if source.shape != result.shape:
        type_ = TileType(source.shape, result.element_type)
        Rewriter.replace_value_with_new_type(op.to, type_)


def _folder() -> str:
    """Where the package is."""
    return f"{Path(str(need_cutile().__file__)).parent}{os.sep}"


def _of_user(location: LocationAttr, folder: str) -> LocationAttr:
    """Map a location inside the package to the location of the call into it."""
    if not isinstance(location, CallSiteLoc):
        return location
    place, caller = file_location(location.callee), location.caller
    if place is None or not place.file.startswith(folder) or not isa(caller, LocationAttr):
        return location
    return _of_user(caller, folder)


def _tile_error(error: Any, place: Location) -> Diagnostic:
    """Convert an error of the package to a located diagnostic, with notes for the call stack."""
    folder = _folder()
    found = map(_location, (error.loc, *_callers(error.loc)))
    places = [p for p in found if p is not None and not p.file.startswith(folder)]
    location, *callers = places or [place]
    notes = [diagnostic(Severity.NOTE, "called from here", caller) for caller in callers]
    return diagnostic(Severity.ERROR, _text_of(error), location, notes=notes)


def _text_of(error: Any) -> str:
    """What the package says of a program; of errors of its own, that they are."""
    said, cause = _one_line(error.message), error.__cause__
    if said and not isinstance(error, need_cutile().TileInternalError):
        return said
    return f"cuda.tile fails on this ({_one_line(f'{type(cause).__name__}: {cause}').rstrip(': ')})"


def _callers(loc: Any) -> Iterator[Any]:
    while loc is not None and (loc := loc.call_site) is not None:
        yield loc


def _location(loc: Any) -> Location | None:
    """A location reported by the package, whose columns count from 0."""
    if loc is None or loc.filename is None:
        return None
    return Location(loc.filename, loc.line, loc.col + 1 - _FIRST_COLUMN)


def _one_line(text: str) -> str:
    return " ".join(text.split())
