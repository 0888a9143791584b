"""The instructions that a product of whole views is made of.

Modes of a tile are (V), (V,M) and (V,M,K) of A, (V), (V,N) and (V,N,K) of B, (V,M,N) of D, as in
CUTLASS include/cute/algorithm/gemm.hpp.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from xdsl.ir import SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.atom.calls import MmaAtomCallOp, layout_of_view
from tileas_xdsl.dialects.cute.atom.copy_gemm import GemmOp
from tileas_xdsl.layout import Layout
from tileas_xdsl.transforms.cute_to_nvgpu.element_access import Indices

MmaCallOp = MmaAtomCallOp | GemmOp

ACCUMULATOR_RANK = {1: 1, 2: 3, 3: 3}
"""By the rank of A and B, that of C and D."""


@dataclass(frozen=True)
class MmaIteration:
    """The elements that one instruction multiplies and adds to."""

    a: Indices
    b: Indices
    d: Indices
    a_number: int
    """Which instruction's part of A it is, M running before K: auxiliary operands have its like."""
    b_number: int
    is_first: bool
    """Whether it adds to C, not to what steps before it have left in D."""


def mma_iterations(op: MmaCallOp, a: SSAValue, b: SSAValue) -> Iterator[MmaIteration]:
    """In the order of CuTe: M runs first, then N, then K."""
    layouts = [_layout(op, view) for view in (a, b, op.c, op.d)]
    ranks = [layout.rank for layout in layouts]
    if ranks[2] != ACCUMULATOR_RANK[ranks[0]]:
        raise op_error(op, f"is lowered for D (V,M,N), or (V) of A (V), not {op.d.type}")
    (va, m, ka), (vb, n, kb), _, (vd, *_) = (_extents(layout) for layout in layouts)
    if ka != kb:
        raise op_error(op, "multiplies A and B with the same number of steps along K")
    for k in range(ka):
        for j in range(n):
            for i in range(m):
                yield MmaIteration(
                    _part(va, i + m * k),
                    _part(vb, j + n * k),
                    _part(vd, i + m * j),
                    i + m * k,
                    j + n * k,
                    is_first=k == 0,
                )


def _part(size: int, number: int) -> Indices:
    return range(size * number, size * (number + 1))


def _layout(op: MmaCallOp, view: SSAValue) -> Layout:
    layout = layout_of_view(view.type)
    if not isinstance(layout, Layout):
        raise op_error(op, f"multiplies views that have a plain layout, not {view.type}")
    return layout


def _extents(layout: Layout) -> Sequence[int]:
    """The sizes of the first three modes; of one that is absent, 1."""
    found = [layout.size()] if layout.rank == 1 else [mode.size() for mode in layout]
    return [*found, 1, 1][:3]
