"""`cute` functions JIT-compiled for the host, and layouts with dynamic leaves."""

from __future__ import annotations

import ctypes
from textwrap import dedent
from typing import Any

from support.layouts import leaves_of, unflatten_like
from xdsl.dialects.builtin import ModuleOp
from xdsl.transforms.convert_scf_to_cf import ConvertScfToCf

from tileas_xdsl.backend.host import compile_object
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.installed import registered_context
from tileas_xdsl.layout import Layout
from tileas_xdsl.layout.expr.expression import Variable
from tileas_xdsl.layout.layout import trusted
from tileas_xdsl.runtime.host_code import LoadedObject
from tileas_xdsl.transforms.conversion.cute_desugar import CuteDesugar
from tileas_xdsl.transforms.conversion.cute_to_llvm import CuteToLlvm


def lowered(text: str, *, desugar: bool = True) -> ModuleOp:
    """Lower a module to the `llvm` dialect, verifying after every pass."""
    ctx = registered_context()
    module = parse_module(ctx, dedent(text))
    verify_module(module)
    passes = [CuteDesugar()] if desugar else []
    for step in (*passes, ConvertScfToCf(), CuteToLlvm(host=True)):
        step.apply(ctx, module)
        verify_module(module)
    return module


def compiled(text: str, *, desugar: bool = True) -> LoadedObject:
    """Return the module compiled to machine code in memory."""
    return LoadedObject(compile_object(lowered(text, desugar=desugar)))


def function(code: LoadedObject, name: str, *arguments: Any, result: Any = ctypes.c_int32) -> Any:
    """Return a compiled function as a callable with the given argument types."""
    return code.function(name, result, *arguments)


def with_unknowns(layout: Layout, unknown: Any) -> tuple[Layout, list[int], list[int]]:
    """Replace the leaves flagged in `unknown` (shape leaves first) by variables.

    Return also the values of the replaced leaves of the shape and of the stride.
    """
    leaves = [*leaves_of(layout.shape), *leaves_of(layout.stride)]
    mixed = [Variable() if flag else leaf for leaf, flag in zip(leaves, unknown, strict=True)]
    cut = len(leaves_of(layout.shape))
    shape = unflatten_like(layout.shape, iter(mixed[:cut]))
    stride = unflatten_like(layout.shape, iter(mixed[cut:]))
    values = [leaf for leaf, flag in zip(leaves, unknown, strict=True) if flag]
    count = sum(bool(flag) for flag in unknown[:cut])
    return trusted(shape, stride), values[:count], values[count:]


def parameters(count: int, prefix: str) -> tuple[str, str]:
    """Return the parameter list `%p0: i32, %p1: i32` and its names alone."""
    names = [f"%{prefix}{n}" for n in range(count)]
    return ", ".join(f"{name}: i32" for name in names), ", ".join(names)


def types(count: int) -> str:
    """Return a list of `count` types, `i32, i32`."""
    return ", ".join(["i32"] * count)


def layout_lines(layout: Layout, shape_names: str, stride_names: str) -> str:
    """Return code that builds a layout from its dynamic leaves."""
    from tileas_xdsl.layout.int_tuple import show

    shapes = shape_names.count("%")
    strides = stride_names.count("%")
    shape, stride = show(layout.shape), show(layout.stride)
    return f"""
      %S = cute.make_shape({shape_names}) : ({types(shapes)}) -> !cute.shape<"{shape}">
      %D = cute.make_stride({stride_names}) : ({types(strides)}) -> !cute.stride<"{stride}">
      %L = cute.make_layout(%S, %D)
         : (!cute.shape<"{shape}">, !cute.stride<"{stride}">) -> !cute.layout<"{layout}">
    """
