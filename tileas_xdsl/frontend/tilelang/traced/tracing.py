"""Kernels of TileLang, traced by the package `tilelang` without a GPU and without its compiler."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib import import_module
from typing import Any

from xdsl.dialects.builtin import ModuleOp

from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.report import Location, Severity, diagnostic
from tileas_xdsl.frontend.kernel_files import find_name, run_file, split_reference
from tileas_xdsl.frontend.needed_packages import needed
from tileas_xdsl.frontend.tilelang.importer import module_of
from tileas_xdsl.frontend.tilelang.operations.fast_math import allow_fast_math
from tileas_xdsl.frontend.tilelang.traced.source import is_tilelang

FAST_MATH = "tl.enable_fast_math"
"""The pass configuration that compiles with `nvcc --use_fast_math`."""


def load_function(reference: str) -> Any:
    """Return what `FILE.py:NAME` names; raises as `tilelang_module`, at a line of the file."""
    file, name = split_reference(reference) or (reference, "")
    need_tilelang()
    module = run_file(file)
    if name:
        return find_name(module, file, name)
    kernels = {key: value for key, value in vars(module).items() if is_tilelang(value)}
    if len(kernels) == 1:
        return next(iter(kernels.values()))
    said = f"there are {', '.join(kernels)}" if kernels else "there is none"
    raise _error(Location(file, 1, 1), f"which kernel is meant? say {file}:NAME; {said}")


def need_tilelang() -> Any:
    """The module `tilelang`; raises `MissingPackageError` without it."""
    return needed("tilelang", "tilelang", "tilelang", "TileLang kernels")


def tilelang_module(
    kernel: Any,
    arguments: Sequence[Any] = (),
    keywords: Mapping[str, Any] | None = None,
    *,
    target: str,
) -> ModuleOp:
    """The unverified `tl` module of a PrimFunc, or of the one that a factory makes.

    A factory is what `tilelang.jit` makes of a function, or a function that returns a PrimFunc; it
    is called with the arguments and keywords, for the target.  Raises `DiagnosticError` at the
    line of Python that is wrong or not imported, `MissingPackageError`.
    """
    need_tilelang()
    tvm: Any = import_module("tvm")
    with tvm.target.Target({"kind": "cuda", "arch": target}):
        function = _traced(tvm, kernel, arguments, keywords or {})
    module = module_of(str(tvm.ir.save_json(function)))
    if _asks_for_fast_math(kernel):
        allow_fast_math(module)
    return module


def _asks_for_fast_math(kernel: Any) -> bool:
    """Whether the pass configuration under `tilelang.jit` has `TL_ENABLE_FAST_MATH`."""
    configuration: Mapping[Any, Any] = (
        getattr(getattr(kernel, "jit_impl", kernel), "pass_configs", None) or {}
    )
    return any(getattr(key, "value", key) == FAST_MATH and on for key, on in configuration.items())


def _traced(tvm: Any, kernel: Any, arguments: Sequence[Any], keywords: Mapping[str, Any]) -> Any:
    if isinstance(kernel, tvm.tirx.PrimFunc):
        return kernel
    factory = getattr(kernel, "jit_impl", kernel)
    try:
        found = getattr(factory, "get_tir", factory)(*arguments, **keywords)
    except DiagnosticError:
        raise
    except Exception as error:
        name = getattr(kernel, "__name__", "the kernel")
        text = f"tilelang does not trace {name}: {type(error).__name__}: {error}"
        raise _error(_place(factory), text) from error
    if not isinstance(found, tvm.tirx.PrimFunc):
        raise _error(_place(factory), f"this makes {type(found).__name__}, not a PrimFunc")
    return found


def _place(factory: Any) -> Location | None:
    """Where a function is defined."""
    while not hasattr(factory, "__code__"):
        inner = getattr(factory, "func", None) or getattr(factory, "orig_func", None)
        if inner is None:
            return None
        factory = inner
    return Location(factory.__code__.co_filename, factory.__code__.co_firstlineno, 1)


def _error(place: Location | None, message: str) -> DiagnosticError:
    return DiagnosticError(diagnostic(Severity.ERROR, message, place))
