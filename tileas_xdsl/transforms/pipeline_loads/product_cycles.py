"""How long the products of a loop keep the tensor core busy."""

from __future__ import annotations

from math import prod

from xdsl.dialects import scf

from tileas_xdsl.dialects.nv_tileas.atoms import MmaAtom
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.compute.product_ends import ends_of
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.target.costs.latencies import Latencies


def product_cycles(loop: scf.ForOp, times: Latencies) -> int:
    """Return the cycles of the tensor core for an iteration, at least one."""
    products = (op for op in loop.walk() if isinstance(op, DotOp))
    return max(sum(dot_cycles(op, times) for op in products), 1)


def dot_cycles(op: DotOp, times: Latencies) -> int:
    """Return the cycles of the tensor core for a product; none where it is not multiplied there."""
    atom = None if op.atom is None else op.atom.data
    if not isinstance(atom, MmaAtom):
        return 0
    *batch, m, depth = shape_of(op.a.type) or (1, 1)
    n, k = ends_of(op, (shape_of(op.b.type) or (1,))[-1], depth)
    return times.product(prod(batch) * m, n, k, atom.a)
