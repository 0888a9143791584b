"""Every operation of `arith` and `math` on every element type, as one-warp kernels.

A case is a body of scalars from `%e0`, `%e1` ... to `%o`.  It becomes a kernel on scalars, one that
maps it over fragments, and, where xDSL has the operation on vectors, one on fragments themselves;
the tile interpreter says what the body means.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from ml_dtypes import finfo
from xdsl.context import Context
from xdsl.dialects import func
from xdsl.ir import SSAValue

from tests.support.math_expansions import SPECIAL
from tests.support.random_tile_ir.elements import DTYPES
from tests.support.thread_kernels import elementwise, parse
from tileas_xdsl.backend.ptx.convert_cute_nvgpu_to_ptx import ConvertCuteNvgpuToPtx
from tileas_xdsl.backend.ptx.printer import ptx_text
from tileas_xdsl.interpreters.tile.numerics.element_types import Array
from tileas_xdsl.interpreters.tile.tensor_ops.vectorized_body import VectorizedBody
from tileas_xdsl.transforms.arithmetic.expand_math import ExpandMath

INTEGERS = ("i8", "i16", "i32", "i64")
FLOATS = ("f16", "bf16", "f32", "f64", "f8E4M3FN", "f8E5M2")
COUNT = 4


@dataclass(frozen=True)
class Case:
    """One test body."""

    name: str
    inputs: tuple[str, ...]
    output: str
    body: str
    vectors: bool = False
    """Whether xDSL supports the operation on vectors too."""
    nonzero: bool = False
    """Whether the last input must be non-zero."""
    ulp: int = 0
    """Maximum error relative to the tile interpreter, in ulp."""

    def kernels(self) -> Iterator[tuple[str, int]]:
        """Return the kernels of the case, with the number of elements per thread."""
        scalar = self.body.replace("%e", "%x").replace("%o", "%r")
        yield elementwise(self.inputs, self.output, scalar, 1), 1
        arguments = ", ".join(f"%e{k}: {t}" for k, t in enumerate(self.inputs))
        values = ", ".join(f"%x{k}" for k in range(len(self.inputs)))
        types = ", ".join(f"vector<{COUNT}x{t}>" for t in self.inputs)
        mapped = (
            f"%r = cute.fragment.map {values} : {types} -> vector<{COUNT}x{self.output}> {{\n"
            f"^bb0({arguments}):\n{self.body}\ncute.fragment.yield %o : {self.output}\n}}"
        )
        yield elementwise(self.inputs, self.output, mapped, COUNT), COUNT
        if self.vectors:
            wide = scalar
            for t in {*self.inputs, self.output}:
                wide = wide.replace(f" {t}", f" vector<{COUNT}x{t}>")
            yield elementwise(self.inputs, self.output, wide, COUNT), COUNT


def binary(op: str, element: str, said: str = "", **options: Any) -> Case:
    """Return the case of a binary operation with attributes."""
    body = f"%o = {op} %e0, %e1 {said} : {element}"
    name = f"{op} {said} {element}" if said else f"{op} {element}"
    return Case(name, (element, element), element, body, vectors=True, **options)


def unary(op: str, element: str, said: str = "", **options: Any) -> Case:
    """Return the case of a unary operation with attributes."""
    body = f"%o = {op} %e0 {said} : {element}"
    name = f"{op} {said} {element}" if said else f"{op} {element}"
    return Case(name, (element,), element, body, vectors=True, **options)


def conversion(op: str, source: str, target: str, **options: Any) -> Case:
    """Return the case of a conversion."""
    body = f"%o = {op} %e0 : {source} to {target}"
    return Case(f"{op} {source} {target}", (source,), target, body, **options)


def arrays_of(case: Case, rng: np.random.Generator, size: int) -> list[Array]:
    """Return random input arrays that include special values."""
    arrays = [_random(rng, name, size) for name in case.inputs]
    if case.nonzero:
        arrays[-1][arrays[-1] == 0] = 3
    return arrays


def _random(rng: np.random.Generator, name: str, size: int) -> Array:
    dtype = np.dtype(DTYPES[name])
    if dtype.kind == "i":
        info = np.iinfo(dtype)
        values = rng.integers(info.min, info.max, size, dtype, endpoint=True)
        small = rng.integers(-9, 70, size).astype(dtype)
        values = np.where(rng.random(size) < 0.4, small, values)
        edges = np.array([0, 1, -1, info.min, info.max], dtype)
    else:
        bits = rng.integers(0, 256, size * dtype.itemsize).astype(np.uint8).view(dtype)
        with np.errstate(all="ignore"):
            near = (rng.standard_normal(size) * 10.0 ** rng.integers(-2, 3, size)).astype(dtype)
            edges = np.array(SPECIAL, np.float64).astype(dtype)
        values = np.where(rng.random(size) < 0.4, bits, near)
        if dtype.itemsize >= 4:
            values = np.where(rng.random(size) < 0.3, _short(rng, values), values)
    where = rng.permutation(size)[: edges.size]
    values[where] = edges[: where.size]
    return values


def _short(rng: np.random.Generator, values: Array) -> Array:
    """The values with few significant bits, so that many are halfway between narrower floats."""
    mantissa = np.finfo(values.dtype).nmant
    kept = rng.choice([7, 8, 10, 11, 23, 24], values.size)
    dropped = np.maximum(mantissa - kept, 0).astype(np.uint64)
    word = np.dtype(f"u{values.dtype.itemsize}")
    masks = (~((np.uint64(1) << dropped) - np.uint64(1))).astype(word)
    return (values.view(word) & masks).view(values.dtype)


def expected(case: Case, arrays: Sequence[Array]) -> Array:
    """Return the tile interpreter's results of the body.

    Functions of `math` treat a NaN as quiet, in MLIR as on the GPU: `powf` of any NaN and 0 is 1.
    numpy's, which are those of C, tell a signalling one apart.
    """
    if "math." in case.body:
        arrays = [_quiet(array) for array in arrays]
    arguments = ", ".join(f"%e{k}: {t}" for k, t in enumerate(case.inputs))
    text = (
        f"func.func @f({arguments}) -> {case.output} {{\n"
        f"{case.body}\nfunc.return %o : {case.output}\n}}"
    )
    function = parse(text).body.block.first_op
    assert isinstance(function, func.FuncOp)
    with np.errstate(all="ignore"):
        return VectorizedBody(function.body.block, _no_outside)(*arrays)


def _quiet(values: Array) -> Array:
    """The values, where signalling NaN have the first bit of their mantissa set."""
    if values.dtype.kind in "ib":
        return values
    word = np.dtype(f"u{values.dtype.itemsize}")
    first = word.type(1 << (finfo(values.dtype).nmant - 1))
    with np.errstate(invalid="ignore"):
        is_nan = np.isnan(values)
    return np.where(is_nan, values.view(word) | first, values.view(word)).view(values.dtype)


def _no_outside(value: SSAValue) -> Any:
    raise AssertionError(f"{value} is not of the body")


def compiled(text: str, arch: str) -> str:
    """Return the PTX of a module of kernels, with math functions expanded."""
    module = parse(text)
    ExpandMath().apply(Context(), module)
    module.verify()
    ConvertCuteNvgpuToPtx(arch=arch).apply(Context(), module)
    module.verify()
    return ptx_text(module, arch)


def apart(found: Array, wanted: Array) -> int:
    """Return the distance between results in ulp; 2**62 for a NaN or zero of the wrong sign."""
    if wanted.dtype.kind in "ib":
        return int(np.max(np.abs(found.astype(object) - wanted.astype(object))))
    with np.errstate(invalid="ignore"):
        nan = np.isnan(found.astype(np.float64)), np.isnan(wanted.astype(np.float64))
    both = ~(nan[0] | nan[1])
    if not np.array_equal(*nan):
        return 1 << 62
    a, b = _bits(found[both]), _bits(wanted[both])
    top = 1 << (8 * wanted.dtype.itemsize - 1)
    if np.any((a % top == 0) & (b % top == 0) & (a != b)):
        return 1 << 62
    first, second = (np.where(x >= top, top - x, x) for x in (a, b))
    return int(np.max(np.abs(first - second), initial=0))


def _bits(values: Array) -> Array:
    return values.view(f"u{values.dtype.itemsize}").astype(object)
