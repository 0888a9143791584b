"""Reductions and scans: the axis, and the body that combines two scalars into one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.ir import Attribute, Operation, Region

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.atoms import Atom, ReduceAtom
from tileas_xdsl.dialects.nv_tileas.compute.region_checks import check_yield
from tileas_xdsl.dialects.nv_tileas.spaces import Tile

COMBINERS: Mapping[str, str] = {
    "arith.addf": "add",
    "arith.addi": "add",
    "arith.andi": "and",
    "arith.maximumf": "max",
    "arith.maxnumf": "max",
    "arith.maxsi": "max",
    "arith.maxui": "max",
    "arith.minimumf": "min",
    "arith.minnumf": "min",
    "arith.minsi": "min",
    "arith.minui": "min",
    "arith.mulf": "mul",
    "arith.muli": "mul",
    "arith.ori": "or",
    "arith.xori": "xor",
}
"""The reduction that an operation on two scalars makes."""


def check_axis(op: Operation, tile: Tile, axis: int) -> None:
    """The axis is a dimension of the tile."""
    rank = len(tile.get_shape())
    if not 0 <= axis < rank:
        raise op_error(op, f"a tile of rank {rank} has no axis {axis}")


def check_combiner(
    op: Operation, body: Region, elements: Sequence[Attribute], atom: Atom | None
) -> None:
    """Check that the region combines two scalars into one for each tile, as its atom specifies."""
    if (given := tuple(body.block.arg_types)) != (*elements, *elements):
        listed = ", ".join(map(str, given))
        wanted = " and two ".join(map(str, elements))
        raise op_error(op, f"the body combines two {wanted}, not ({listed})")
    check_yield(op, body, tuple(elements))
    if atom is None:
        return
    if not isinstance(atom, ReduceAtom):
        raise op_error(op, f"the atom of a reduction reduces; '{atom.word}' does not")
    _check_atom_matches_body(op, body, atom)


def _check_atom_matches_body(op: Operation, body: Region, atom: ReduceAtom) -> None:
    """Raise if the atom names another operation than the one that the body combines with."""
    combining = list(body.block.ops)[:-1] if len(body.block.args) == 2 else []
    done = COMBINERS.get(combining[0].name) if len(combining) == 1 else None
    if done is not None and done != atom.operation:
        raise op_error(
            op, f"the atom is '{atom.word}', but the body combines with '{combining[0].name}'"
        )
