"""Kernels of cuTile Python: found in files, their parameters, and signatures to compile them for.

The package's own `KernelSignature.from_kernel_args` queries the driver about pointers; here
signatures are made from text, or from arrays by the same rules.  A launch of compiled code needs
this and no IR, so that xDSL is not imported for it.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import Any

from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.report import Location, Severity, diagnostic
from tileas_xdsl.frontend.argument_parameters import infer_parameters
from tileas_xdsl.frontend.kernel_files import find_name, run_file, split_reference
from tileas_xdsl.frontend.needed_packages import needed
from tileas_xdsl.frontend.signature import (
    ArrayParameter,
    ConstantParameter,
    Extent,
    ListParameter,
    Parameter,
    ScalarParameter,
    TupleParameter,
)

_KERNEL_PARAMETERS = "the kernel's parameters are"


def need_cutile() -> Any:
    """The module `cuda.tile`; raises `MissingPackageError` if it is not installed."""
    return needed("cuda.tile", "cuda-tile", "cutile", "cuTile kernels")


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
        raise error_at(Location(file, 1, 1), f"'{name}' is no kernel: it has no '@ct.kernel'")
    return value


def _only_kernel(file: str, names: Mapping[str, object]) -> Any:
    kernels = {name: value for name, value in names.items() if is_kernel(value)}
    if len(kernels) == 1:
        return next(iter(kernels.values()))
    said = f"there are {', '.join(kernels)}" if kernels else "there is none"
    raise error_at(Location(file, 1, 1), f"which kernel is meant? say {file}:NAME; {said}")


def kernel_signature(kernel: Any, parameters: Sequence[Parameter]) -> Any:
    """Return the package's `KernelSignature` of a kernel for parameters in its order."""
    ct = need_cutile()
    return ct.compilation.KernelSignature(
        [_constraint(ct, parameter) for parameter in parameters],
        ct.compilation.CallingConvention.cutile_python_v2(),
        symbol=_function(kernel).__name__,
    )


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
    names, place = parameter_names(kernel), definition_of(kernel)
    return infer_parameters(names, annotations, arguments, place, is_dispatched=is_dispatched)


def in_order(kernel: Any, parameters: Sequence[Parameter]) -> Sequence[Parameter]:
    """Parameters as the kernel has them; raises `DiagnosticError` if they are not those."""
    names, place = parameter_names(kernel), definition_of(kernel)
    known = {parameter.name: parameter for parameter in parameters}
    said = f"{_KERNEL_PARAMETERS} {', '.join(names)}"
    for name in known:
        if name not in names:
            raise error_at(place, f"the signature has '{name}'; {said}")
    missing = [name for name in names if name not in known]
    if missing:
        raise error_at(place, f"the signature lacks {', '.join(missing)}; {said}")
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
    """Return the names of a kernel's parameters, in order."""
    return list(inspect.signature(_function(kernel)).parameters)


def definition_of(kernel: Any) -> Location:
    """Return the source location of a kernel function."""
    code = _function(kernel).__code__
    return Location(code.co_filename, code.co_firstlineno, 1)


def error_at(place: Location, message: str) -> DiagnosticError:
    """Return an error with a message at a place of the source."""
    return DiagnosticError(diagnostic(Severity.ERROR, message, place))
