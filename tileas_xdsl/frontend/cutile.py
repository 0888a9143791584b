"""Kernels of cuTile Python as Tile IR, exported by the package `cuda-tile` without a GPU.

The package's own `KernelSignature.from_kernel_args` queries the driver about pointers; here
signatures are made from text, or from arrays by the same rules.
"""

from __future__ import annotations

import inspect
import os
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from io import BytesIO
from pathlib import Path
from typing import Any

from xdsl.dialects.builtin import CallSiteLoc, LocationAttr, ModuleOp
from xdsl.utils.hints import isa

from tileas_xdsl.diagnostics.emission import DiagnosticError
from tileas_xdsl.diagnostics.locations import file_location
from tileas_xdsl.diagnostics.report import Diagnostic, Location, Severity, diagnostic
from tileas_xdsl.frontend.argument_parameters import infer_parameters
from tileas_xdsl.frontend.bytecode.layout import LATEST, V13_3, Version
from tileas_xdsl.frontend.kernel_files import find_name, run_file, split_reference
from tileas_xdsl.frontend.signature import (
    ArrayParameter,
    ConstantParameter,
    Extent,
    ListParameter,
    Parameter,
    ScalarParameter,
    TupleParameter,
    parse_signature,
)

INSTALL = "pip install 'tileas-xdsl[cutile]'"
"""The command that installs the package."""

_FIRST_COLUMN = 0
"""The package counts columns from 0, also in bytecode."""

_KERNEL_PARAMETERS = "the kernel's parameters are"


class MissingPackageError(Exception):
    """The package is not installed; the message has the command that installs it."""


def need_cutile() -> Any:
    """The module `cuda.tile`; raises `MissingPackageError` if it is not installed."""
    try:
        return import_module("cuda.tile")
    except ImportError as error:
        text = f"cuTile kernels need the package cuda-tile; install it with: {INSTALL}"
        raise MissingPackageError(text) from error


def is_kernel(value: object) -> bool:
    """Is this a function under `cuda.tile.kernel`?  The package is not imported for it."""
    return any(
        base.__name__ == "kernel" and base.__module__.startswith("cuda.tile")
        for base in type(value).__mro__
    )


def load_kernel(reference: str) -> Any:
    """Return the kernel that `FILE.py:NAME` refers to; the name is optional if there is only one.

    Raises `MissingPackageError`; `DiagnosticError` at the location in the file that is wrong.
    """
    file, name = split_reference(reference) or (reference, "")
    need_cutile()
    module = run_file(file)
    if not name:
        return _only_kernel(file, vars(module))
    value = find_name(module, file, name)
    if not is_kernel(value):
        raise _error(Location(file, 1, 1), f"'{name}' is no kernel: it has no '@ct.kernel'")
    return value


def _only_kernel(file: str, names: Mapping[str, object]) -> Any:
    kernels = {name: value for name, value in names.items() if is_kernel(value)}
    if len(kernels) == 1:
        return next(iter(kernels.values()))
    said = f"there are {', '.join(kernels)}" if kernels else "there is none"
    raise _error(Location(file, 1, 1), f"which kernel is meant? say {file}:NAME; {said}")


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
    place = _definition_of(kernel)
    if version < V13_3 and gpu is None:
        raise _error(place, f"bytecode {version} is for one GPU: say which")
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
        raise _error(place, f"cuda.tile refuses the kernel: {_one_line(str(error))}") from error
    return output.getvalue()


def kernel_signature(kernel: Any, parameters: Sequence[Parameter]) -> Any:
    """Return the package's `KernelSignature` of a kernel for parameters in its order."""
    ct = need_cutile()
    return ct.compilation.KernelSignature(
        [_constraint(ct, parameter) for parameter in parameters],
        ct.compilation.CallingConvention.cutile_python_v2(),
        symbol=_function(kernel).__name__,
    )


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
    """Return the unverified module of a kernel's bytecode, with locations in the user's source."""
    from tileas_xdsl.frontend.bytecode.reading.reader import read_bytecode

    module = read_bytecode(content, _definition_of(kernel).file, first_column=_FIRST_COLUMN)
    folder = _folder()
    for op in module.walk():
        op.location = _of_user(op.location, folder)
    return module


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


def parameters_of(
    kernel: Any, arguments: Sequence[Any], *, is_dispatched: bool = False
) -> tuple[Parameter, ...]:
    """Return the parameters of a kernel for the arguments of a launch, wherever their memory is.

    Arrays are torch's, numpy's, cupy's, jax' or any other's with DLPack.  With `is_dispatched`,
    the parameters are equal where cuTile's dispatcher would compile once; without, they have
    smaller divisors (`frontend.argument_parameters`).  Raises `DiagnosticError`s that are also a
    `TypeError`, `ValueError` or `OverflowError`, for arguments that the kernel does not take.
    """
    annotations = kernel._annotated_function.parameter_annotations
    names, place = parameter_names(kernel), _definition_of(kernel)
    return infer_parameters(names, annotations, arguments, place, is_dispatched=is_dispatched)


def in_order(kernel: Any, parameters: Sequence[Parameter]) -> Sequence[Parameter]:
    """Parameters as the kernel has them; raises `DiagnosticError` if they are not those."""
    names, place = parameter_names(kernel), _definition_of(kernel)
    known = {parameter.name: parameter for parameter in parameters}
    said = f"{_KERNEL_PARAMETERS} {', '.join(names)}"
    for name in known:
        if name not in names:
            raise _error(place, f"the signature has '{name}'; {said}")
    missing = [name for name in names if name not in known]
    if missing:
        raise _error(place, f"the signature lacks {', '.join(missing)}; {said}")
    return [known[name] for name in names]


def _constraint(ct: Any, parameter: Parameter) -> Any:
    """What the package calls a parameter."""
    made = ct.compilation
    match parameter:
        case ConstantParameter(value=value):
            return _constant(made, value)
        case ScalarParameter(element=element):
            return made.ScalarConstraint(getattr(ct, element))
        case TupleParameter(items=items):
            return made.TupleConstraint([_constraint(ct, item) for item in items])
        case ListParameter(item=item):
            element = _constraint(ct, item)
            return made.ListConstraint(element, alias_groups=(), elements_may_alias=True)
        case ArrayParameter(element=element, shape=shape, strides=strides):
            return made.ArrayConstraint(
                getattr(ct, element),
                len(shape),
                index_dtype=ct.int64 if parameter.index_bits == 64 else ct.int32,
                stride_lower_bound_incl=0,
                alias_groups=(),
                may_alias_internally=parameter.may_overlap,
                shape_constant=[extent.constant for extent in shape],
                shape_divisible_by=[_divisor(extent) for extent in shape],
                stride_constant=[extent.constant for extent in strides],
                stride_divisible_by=[_divisor(extent) for extent in strides],
                base_addr_divisible_by=parameter.alignment,
            )


def _constant(made: Any, value: Any) -> Any:
    """A constant of any type that kernels know.

    The released package checks for numbers, though its compiler takes the constants of globals,
    None, texts, members of enumerations and element types, here too.
    """
    if isinstance(value, bool | int | float):
        return made.ConstantConstraint(value)
    constraint = object.__new__(made.ConstantConstraint)
    constraint.value = value
    return constraint


def _divisor(extent: Extent) -> int:
    return extent.divisor if extent.constant is None else 1


def _function(kernel: Any) -> Any:
    return kernel._annotated_function.pyfunc


def parameter_names(kernel: Any) -> list[str]:
    return list(inspect.signature(_function(kernel)).parameters)


def _definition_of(kernel: Any) -> Location:
    """Return the source location of a kernel function."""
    code = _function(kernel).__code__
    return Location(code.co_filename, code.co_firstlineno, 1)


def _tile_error(error: Any, place: Location) -> Diagnostic:
    """Convert an error of the package to a located diagnostic, with notes for the call stack."""
    folder = _folder()
    found = map(_location, (error.loc, *_callers(error.loc)))
    places = [p for p in found if p is not None and not p.file.startswith(folder)]
    location, *callers = places or [place]
    notes = [diagnostic(Severity.NOTE, "called from here", caller) for caller in callers]
    return diagnostic(Severity.ERROR, _one_line(error.message), location, notes=notes)


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


def _error(place: Location, message: str) -> DiagnosticError:
    return DiagnosticError(diagnostic(Severity.ERROR, message, place))
