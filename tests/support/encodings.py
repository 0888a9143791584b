"""Random register layouts of tiles, and kernels that convert tiles between them."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from math import prod
from typing import Any

import ml_dtypes
import numpy as np
from numpy.typing import NDArray
from xdsl.dialects.builtin import ModuleOp
from xdsl.utils.arg_spec import ArgSpec

from tests.support.plain_kernels import kernel
from tileas_xdsl.compiler import CompiledKernel, compile
from tileas_xdsl.layout.axes import E, Offset
from tileas_xdsl.layout.layout import Layout, make_layout

Array = NDArray[Any]

LOWERING = tuple(
    ArgSpec(name, {})
    for name in (
        "convert-tileas-to-cute-nvgpu",
        "hoist-loop-invariants",
        "scalarize-vectors",
        "tileas-cse",
        "convert-cute-nvgpu-to-ptx",
    )
)
"""Passes that lower tiles with given layouts."""

ELEMENTS: Mapping[str, Any] = {
    "f32": np.float32,
    "f16": np.float16,
    "bf16": ml_dtypes.bfloat16,
    "f8E4M3FN": ml_dtypes.float8_e4m3fn,
    "f64": np.float64,
    "i8": np.int8,
    "i32": np.int32,
    "i64": np.int64,
}


def random_encoding(
    rng: np.random.Generator,
    shape: Sequence[int],
    threads: int,
    *,
    values: int = 32,
    sparse: bool = False,
    replicas: bool = False,
) -> Layout:
    """Return a random layout that distributes the digits of the extents over threads and values.

    With `sparse` it has gaps. A thread has at most `values` registers if there are enough threads.
    """
    return next(
        layout
        for layout in iter(lambda: _random(rng, shape, threads, values, sparse, replicas), None)
        if layout.extents().get("value", 1) <= max(values, 2 * prod(shape) // threads)
    )


def _random(
    rng: np.random.Generator,
    shape: Sequence[int],
    threads: int,
    values: int,
    sparse: bool,
    replicas: bool,
) -> Layout:
    digits = [(axis, factor) for axis, extent in enumerate(shape) for factor in factors(extent)]
    rng.shuffle(digits)
    if replicas:
        digits += [(len(shape), 2)] * int(rng.integers(1, 4))
    sizes = {"thread": 1, "value": 1}
    limits = {"thread": threads, "value": values}
    strides: list[list[tuple[int, Offset]]] = [[] for _ in range(len(shape) + 1)]
    for axis, factor in digits:
        names = [name for name in sizes if sizes[name] * factor <= limits[name]]
        if not names and axis == len(shape):
            continue
        name = str(rng.choice(names)) if names else "value"
        gap = int(rng.choice([2, 3]))
        if sparse and rng.random() < 0.2 and sizes[name] * factor * gap <= limits[name]:
            sizes[name] *= gap
        strides[axis].append((factor, E(name, sizes[name])))
        sizes[name] *= factor
    modes = [_mode(leaves) for leaves in strides]
    return make_layout(*(modes if strides[-1] else modes[:-1]))


def factors(extent: int) -> list[int]:
    """Return the prime factors in ascending order, with multiplicity."""
    found: list[int] = []
    divisor = 2
    while extent > 1:
        while extent % divisor == 0:
            found.append(divisor)
            extent //= divisor
        divisor += 1
    return found


def _mode(leaves: Sequence[tuple[int, Offset]]) -> Layout:
    if not leaves:
        return Layout(1, 0)
    return Layout(tuple(s for s, _ in leaves), tuple(d for _, d in leaves))


def tensor(shape: Sequence[int], element: str, encoding: str = "") -> str:
    """Return the text of a tensor type."""
    extents = "x".join(map(str, shape))
    return f"tensor<{extents}x{element}{', ' + encoding if encoding else ''}>"


def linear(layout: Layout) -> str:
    """Return the encoding attribute of a layout."""
    return f'#nv_tileas.linear<"{layout}">'


def chain(
    shape: Sequence[int],
    element: str,
    encodings: Sequence[str],
    warps: int,
    *,
    ragged: bool = False,
) -> str:
    """Return a kernel that loads, doubles and stores a tile through a chain of encodings.

    Byte elements are only moved.
    """
    types = [tensor(shape, element, encoding) for encoding in encodings]
    extents = "x".join(map(str, shape))
    array = "x".join("?" * len(shape)) if ragged else extents
    memory, view = f"memref<{array}x{element}>", f"!nv_tileas.tiled_view<{extents}x{element}, gmem>"
    at = ", ".join(["%zero"] * len(shape))
    flags = ", ".join(["false"] * len(shape))
    zero = "0.0" if "f" in element else "0"
    add = "arith.addf" if "f" in element else "arith.addi"
    doubled = element != "i8"
    pad = f", in_bounds = array<i1: {flags}>, padding_value = {zero} : {element}" if ragged else ""
    body = f"""%from = nv_tileas.view %a : {memory} -> {view}
  %to = nv_tileas.view %b : {memory} -> {view}
  %t0 = nv_tileas.tiled_load %from[{at}] {{atom = #ldg{pad}}} : {view} -> {types[0]}
  """
    for k, (before, after) in enumerate(itertools.pairwise(types)):
        name = f"c{k}" if doubled else f"t{k + 1}"
        body += f"%{name} = nv_tileas.convert_layout %t{k} : {before} -> {after}\n  "
        body += f"%t{k + 1} = {add} %c{k}, %c{k} : {after}\n  " if doubled else ""
    last = len(types) - 1
    body += f"nv_tileas.tiled_store %t{last}, %to[{at}] {{atom = #stg}} : {types[-1]}, {view}"
    return kernel(f"%a: {memory}, %b: {memory}", body, warps)


def random_array(rng: np.random.Generator, shape: Sequence[int], element: str) -> Array:
    """Return random values that can be doubled a few times without overflow."""
    dtype = np.dtype(ELEMENTS[element])
    if "f" in element:
        return rng.standard_normal(tuple(shape)).astype(dtype)
    return rng.integers(-(1 << 20) if dtype.itemsize > 1 else -16, 15, tuple(shape)).astype(dtype)


def lowered(source: str | ModuleOp) -> CompiledKernel:
    """Lower a kernel whose tiles keep their given layouts."""
    return compile(source, passes=LOWERING)
