"""Products by atoms: `cute.mma_atom_call`, and `cute.gemm`, which repeats one over tiles.

Modes of a tile are (V), (V,M) and (V,M,K) of A, (V), (V,N) and (V,N,K) of B, (V,M,N) of D, as in
CUTLASS include/cute/algorithm/gemm.hpp.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from xdsl.dialects import vector
from xdsl.ir import SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.atoms import MmaAtomCallOp, atom_of
from tileas_xdsl.dialects.cute.copies import GemmOp
from tileas_xdsl.dialects.cute.interfaces import MmaAtomType
from tileas_xdsl.dialects.cute.view_types import MemRefType
from tileas_xdsl.dialects.cute_nvgpu import MmaSm80Op, MmaSm89Op
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import ClausedType
from tileas_xdsl.dialects.cute_nvgpu.atoms.warp import Sm80MmaType, Sm89MmaType, UniversalFmaType
from tileas_xdsl.layout import Layout
from tileas_xdsl.transforms.cute_to_nvgpu.converter import Converter
from tileas_xdsl.transforms.cute_to_nvgpu.elements import Indices, is_registers, read, write

Product = Callable[[Converter, Any, SSAValue, SSAValue, SSAValue], SSAValue]
"""D of an atom from A, B and C."""

PER_RANK = {1: 1, 2: 3, 3: 3}
"""By the rank of A and B, that of C and D."""


@dataclass(frozen=True)
class Step:
    """The elements that one instruction multiplies and adds to."""

    a: Indices
    b: Indices
    d: Indices
    is_first: bool
    """Whether it adds to C, not to what steps before it have left in D."""


def convert_product(op: MmaAtomCallOp | GemmOp, conv: Converter) -> None:
    """One instruction for each step of each tile of D; K goes outside, as CuTe does."""
    atom = atom_of(op, op.atom, MmaAtomType, "an MMA atom")
    emit = _PRODUCTS.get(type(atom)) if isinstance(atom, ClausedType) else None
    if emit is None:
        known = ", ".join(type_.name for type_ in _PRODUCTS)
        raise op_error(op, f"is not lowered for {atom}: only for {known}")
    if len(op.a) != 1 or len(op.b) != 1:
        raise op_error(op, "is not lowered with scale factors")
    a, b = op.a[0], op.b[0]
    for view in (a, b, op.c, op.d):
        if not is_registers(view):
            raise op_error(op, f"multiplies registers, not {view.type}")
    for step in _steps(op, a, b):
        sums = read(conv, op.c if step.is_first else op.d, step.d)
        made = emit(conv, atom, read(conv, a, step.a), read(conv, b, step.b), sums)
        write(conv, op.d, step.d, made)
    conv.kill(op)


def _steps(op: MmaAtomCallOp | GemmOp, a: SSAValue, b: SSAValue) -> Iterator[Step]:
    """In the order of CuTe: M runs first, then N, then K."""
    layouts = [_layout(op, view) for view in (a, b, op.c, op.d)]
    ranks = [layout.rank for layout in layouts]
    if ranks[2] != PER_RANK[ranks[0]]:
        raise op_error(op, f"is lowered for D (V,M,N), or (V) of A (V), not {op.d.type}")
    (va, m, ka), (vb, n, kb), _, (vd, *_) = (_extents(layout) for layout in layouts)
    if ka != kb:
        raise op_error(op, "multiplies A and B with the same number of steps along K")
    for k in range(ka):
        for j in range(n):
            for i in range(m):
                yield Step(
                    _part(va, i + m * k),
                    _part(vb, j + n * k),
                    _part(vd, i + m * j),
                    is_first=k == 0,
                )


def _part(size: int, number: int) -> Indices:
    return range(size * number, size * (number + 1))


def _layout(op: MmaAtomCallOp | GemmOp, view: SSAValue) -> Layout:
    layout = view.type.layout if isinstance(view.type, MemRefType) else None
    if not isinstance(layout, Layout):
        raise op_error(op, f"multiplies registers that have a plain layout, not {view.type}")
    return layout


def _extents(layout: Layout) -> Sequence[int]:
    """The sizes of the first three modes; of one that is absent, 1."""
    found = [layout.size()] if layout.rank == 1 else [mode.size() for mode in layout]
    return [*found, 1, 1][:3]


# Instructions


def _warp(
    conv: Converter, atom: Sm80MmaType | Sm89MmaType, a: SSAValue, b: SSAValue, c: SSAValue
) -> SSAValue:
    make = MmaSm89Op if isinstance(atom, Sm89MmaType) else MmaSm80Op
    a_type, b_type, _ = atom.elements
    made = make(a, b, c, shape=atom.shape_mnk, a_type=a_type, b_type=b_type)
    if made.fragments() is None:
        made.erase()
        raise op_error(conv.at, f"is not lowered for {atom}: the target's PTX has no such product")
    return conv.insert(made)


def _one(
    conv: Converter, atom: UniversalFmaType, a: SSAValue, b: SSAValue, c: SSAValue
) -> SSAValue:
    if len(set(atom.elements)) != 1:
        raise op_error(conv.at, f"is lowered for one element type, not {atom}")
    return conv.insert(vector.FMAOp(a, b, c))


_PRODUCTS: Mapping[type[ClausedType], Product] = {
    Sm80MmaType: _warp,
    Sm89MmaType: _warp,
    UniversalFmaType: _one,
}
"""By the type of the atom: the instruction that does it."""
