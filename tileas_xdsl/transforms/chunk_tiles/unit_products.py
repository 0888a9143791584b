"""Products that are larger than what the matrix unit of a GPU takes at once, and their parts.

tcgen05 takes 64 or 128 rows and up to 256 columns.  One of 256 x 128 is multiplied by mma.sync as a
whole, but by tcgen05 in two parts of 128 rows.
"""

from __future__ import annotations

from collections.abc import Callable

from xdsl.dialects import func
from xdsl.ir import Operation
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileaa.attributes import spec_of
from tileas_xdsl.dialects.nv_tileas.atoms import MmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr, atom_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of
from tileas_xdsl.layout.units import WARPGROUP_WARPS
from tileas_xdsl.target.arch import Target
from tileas_xdsl.target.mma.matrix_units import MMA_SYNC
from tileas_xdsl.transforms.tileaa_to_tileas.products import accumulates_coarsely, unit_operands
from tileas_xdsl.transforms.tileaa_to_tileas.rules import Insert

MAX_PARTS = 8

Takes = Callable[[DotOp, int, int], bool]
"""Whether the matrix unit takes parts of so many of a product's rows and columns."""


def takes_parts(kernel: func.FuncOp, target: Target) -> Takes:
    """Return which parts of products by mma.sync the unit of the target takes instead."""
    unit = target.matrix_unit
    groups, rest = divmod(spec_of(kernel).num_warps, WARPGROUP_WARPS)

    def takes(op: DotOp, rows: int, columns: int) -> bool:
        atom, (*batch, m, k), n = atom_of(op.atom), _shape(op, 0), _shape(op, 1)[-1]
        if not isinstance(atom, MmaAtom) or atom.instruction != MMA_SYNC.instruction or batch:
            return False
        words = (atom.a, atom.b, atom.d)
        return unit.takes(words, m // rows, n // columns, k, 0 if rest else groups)

    return takes if unit.reads_shared_memory else lambda op, rows, columns: False


def _shape(op: DotOp, operand: int) -> tuple[int, ...]:
    return tuple(shape_of(op.operands[operand].type) or ())


def parts(op: Operation, takes: Takes) -> tuple[int, int]:
    """Return in how many parts of rows and of columns the unit takes a product; 1, 1 if in none."""
    if not isinstance(op, DotOp) or takes(op, 1, 1):
        return 1, 1
    counts = [1 << k for k in range(MAX_PARTS.bit_length())]
    found = [(m, n) for m in counts for n in counts if takes(op, m, n)]
    return min(found, key=lambda pair: pair[0] * pair[1], default=(1, 1))


def use_unit(kernel: func.FuncOp, target: Target) -> bool:
    """Multiply by the unit what it takes now; returns whether that changed any product."""
    takes = takes_parts(kernel, target)
    found = [op for op in instances_in(kernel, DotOp) if takes(op, 1, 1)]
    for op in found:
        _replace(op, target.matrix_unit.instruction)
    return bool(found)


def _replace(op: DotOp, family: str) -> None:
    insert = Insert(lambda made: Rewriter.insert_op(made, InsertPoint.before(op)))
    atom = atom_of(op.atom)
    assert isinstance(atom, MmaAtom)
    a, b = unit_operands(insert, family, op.a, op.b)
    made = DotOp(
        *(a, b, op.c, AtomAttr.of(f"{family}_{atom.a}_{atom.b}_{atom.d}")),
        signedness_a=op.signedness_a,
        signedness_b=op.signedness_b,
        promote=accumulates_coarsely(family, atom.a),
    )
    made.attributes.update(op.attributes)
    Rewriter.replace_op(op, made)
