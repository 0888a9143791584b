"""How long the products of a loop keep the tensor core busy."""

from __future__ import annotations

from math import prod

from xdsl.dialects import scf

from tileas_xdsl.dialects.nv_tileas.atoms import MmaAtom
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.target.costs.latencies import Latencies


def product_cycles(loop: scf.ForOp, times: Latencies) -> int:
    """Return the cycles of the tensor core for an iteration, at least one."""
    cycles = 0
    for op in loop.walk():
        atom = op.atom.data if isinstance(op, DotOp) and op.atom is not None else None
        if isinstance(op, DotOp) and isinstance(atom, MmaAtom):
            *batch, m, k = shape_of(op.a.type) or (1, 1)
            n = (shape_of(op.b.type) or (1,))[-1]
            cycles += times.product(prod(batch) * m, n, k, atom.a)
    return max(cycles, 1)
