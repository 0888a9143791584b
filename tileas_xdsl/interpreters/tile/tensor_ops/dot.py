"""Matrix products on tiles: `nv_tileas.dot` and `nv_tileas.block_scaled_mma`.

Floats are multiplied exactly and summed in f32 (f64 in f64), in no fixed order; the result is
rounded to the accumulator's type once.  Integers are exact and wrap to i32.  Bits are multiplied as
`.and.popc` does, the one form that both mma and wgmma have on sm_90.  Source: PTX ISA, mma, wgmma,
tcgen05.mma.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray
from xdsl.ir import Attribute, Operation

from tileas_xdsl.dialects.nv_tileas.atoms import MmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr, atom_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import AsyncDotOp, BlockScaledMmaOp, DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Signedness, SignednessAttr
from tileas_xdsl.interpreters.matmul import matmul
from tileas_xdsl.interpreters.tile.faults import fault
from tileas_xdsl.interpreters.tile.numerics.element_types import (
    Array,
    matmul_f32,
    truncate_to_tf32,
    unsigned,
    widened,
    wrap_integer,
)
from tileas_xdsl.interpreters.tile.numerics.integers import width_of
from tileas_xdsl.interpreters.tile.tensor_ops.elementwise import Semantics

EXACT_IN_F32 = 1 << 24
"""Sums of integers up to here are exact in f32, in any order."""


def dot_value(op: DotOp | AsyncDotOp, a: Array, b: Array, c: Array) -> Array:
    """`a @ b + c` as the atom of `op` computes it; the result has the element type of `c`.

    A is [LxM]xK, B is [LxK]xN, C is [LxM]xN; `c` is an array also where the operand is a token.
    """
    if a.dtype.kind in "ib":
        return _integer_dot(op, a, b, c)
    return product_of(a, b, c, is_by_threads=_is_by_threads(op.atom))


def product_of(a: Array, b: Array, c: Array, *, is_by_threads: bool = False) -> Array:
    """`a @ b + c` as a matrix instruction computes it, in the type of `c`; integers are signed."""
    if a.dtype.kind in "iub":
        product = matmul(*_as_floats(a, b))
        return wrap_integer(product.astype(np.int64) + c, 32)
    if a.dtype == np.float64:
        return _double_dot(a, b, c)
    if a.dtype == np.float32 and not is_by_threads:
        # Matrix instructions read tiles of f32 as tf32.
        a, b = truncate_to_tf32(a), truncate_to_tf32(b)
    result = matmul_f32(a, b, c)
    return result if c.dtype == np.float32 else _rounded(result, c)


def _is_by_threads(atom: AtomAttr | None) -> bool:
    """Return whether threads multiply by FMA, without a matrix instruction."""
    data = atom_of(atom)
    return isinstance(data, MmaAtom) and data.instruction == "fma"


def _rounded(result: Array, c: Array) -> Array:
    """A result in the type of an accumulator that is smaller than what it was computed in."""
    with np.errstate(over="ignore", invalid="ignore", under="ignore"):
        return result.astype(c.dtype)


def _double_dot(a: Array, b: Array, c: Array) -> NDArray[np.float64]:
    with np.errstate(over="ignore", invalid="ignore"):
        product: NDArray[np.float64] = np.matmul(a, b)
        return np.add(product, c, out=product)


def _integer_dot(op: DotOp | AsyncDotOp, a: Array, b: Array, c: Array) -> Array:
    left = _read(a, op.a.type.element_type, _is_unsigned(op.atom, op.signedness_a, "a"))
    right = _read(b, op.b.type.element_type, _is_unsigned(op.atom, op.signedness_b, "b"))
    return product_of(left, right, c)


def _is_unsigned(atom: AtomAttr | None, given: SignednessAttr | None, operand: str) -> bool:
    """Return whether an operand is unsigned: by its attribute, else by its type in the atom."""
    if given is not None:
        return given.data is Signedness.UNSIGNED
    data = atom_of(atom)
    name = getattr(data, operand) if isinstance(data, MmaAtom) else ""
    return name.startswith("u")


def _read(values: Array, type_: Attribute, is_unsigned: bool) -> Array:
    """Return stored integers as signed or unsigned numbers; a bit is 0 or 1."""
    width = width_of(type_)
    assert width is not None
    return unsigned(values, width) if is_unsigned else values


def _as_floats(a: Array, b: Array) -> tuple[Array, Array]:
    """Both operands in a float type that holds every sum of their products exactly."""
    largest = [max(abs(int(side.min())), abs(int(side.max()))) for side in (a, b)]
    bound = a.shape[-1] * largest[0] * largest[1]
    dtype = np.float32 if bound <= EXACT_IN_F32 else np.float64
    return a.astype(dtype), b.astype(dtype)


def dot(op: DotOp, operands: Sequence[Array]) -> tuple[Array]:
    """`nv_tileas.dot`."""
    return (dot_value(op, *operands),)


def block_scaled_mma(op: BlockScaledMmaOp, operands: Sequence[Array]) -> tuple[Array]:
    """`nv_tileas.block_scaled_mma`: D = (A * sfa) * (B * sfb) + C.

    Scales reach 2^127 and meet in one product, so it is computed in f64, then rounded to f32.
    """
    a, b, c, sfa, sfb = operands
    _check_signs(op, "sfa", sfa)
    _check_signs(op, "sfb", sfb)
    size = op.configuration.vector_size
    with np.errstate(invalid="ignore"):
        left = _double(a) * np.repeat(_double(sfa), size, axis=-1)
        right = _double(b) * np.repeat(_double(sfb), size, axis=-2)
    return (_rounded(_double_dot(left, right, c), c),)


def _double(values: Array) -> NDArray[np.float64]:
    return widened(values).astype(np.float64)


def _check_signs(op: BlockScaledMmaOp, name: str, scales: Array) -> None:
    """Scales have no sign (PTX ISA: ue8m0, ue4m3)."""
    wide = widened(scales)
    negative = np.signbit(wide) & ~np.isnan(wide)
    if negative.any():
        position = tuple(int(i) for i in np.argwhere(negative)[0])
        value = float(wide[position])
        raise fault(op, f"scales have no sign, but {name}{list(position)} is {value:g}")


PRODUCTS: Mapping[type[Operation], Semantics] = {
    BlockScaledMmaOp: block_scaled_mma,
    DotOp: dot,
}
"""Products whose result is there at once; `nv_tileas.async.dot` uses `dot_value` later."""
