"""Reductions and scans: the axis, and the body that combines two scalars into one."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import inf, nan

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

_FLOAT_IDENTITIES: Mapping[str, float] = {
    "arith.addf": -0.0,
    "arith.maximumf": -inf,
    "arith.maxnumf": nan,
    "arith.minimumf": inf,
    "arith.minnumf": nan,
    "arith.mulf": 1.0,
}
"""Of floats: -0 + 0 is 0, and `maxnumf` of NaN and a number is the number."""

_INTEGER_IDENTITIES: Mapping[str, Callable[[int], int]] = {
    "arith.addi": lambda _: 0,
    "arith.andi": lambda _: -1,
    "arith.maxsi": lambda bits: -(1 << (bits - 1)),
    "arith.maxui": lambda _: 0,
    "arith.minsi": lambda bits: (1 << (bits - 1)) - 1,
    "arith.minui": lambda _: -1,
    "arith.muli": lambda _: 1,
    "arith.ori": lambda _: 0,
    "arith.xori": lambda _: 0,
}
"""Of integers of so many bits."""


def identity_of(combiner: str, bits: int) -> float | int | None:
    """Return what an operation of `arith` combines any scalar with to give that scalar.

    Arguments:
        combiner: name of the operation, a key of `COMBINERS`.
        bits: width of an integer; of no meaning for floats.
    """
    integer = _INTEGER_IDENTITIES.get(combiner)
    return _FLOAT_IDENTITIES.get(combiner) if integer is None else integer(bits)


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
        raise op_error(op, f"the atom of a reduction reduces; '{atom.keyword}' does not")
    _check_atom_matches_body(op, body, atom)


def _check_atom_matches_body(op: Operation, body: Region, atom: ReduceAtom) -> None:
    """Raise if the atom names another operation than the one that the body combines with."""
    combining = list(body.block.ops)[:-1] if len(body.block.args) == 2 else []
    done = COMBINERS.get(combining[0].name) if len(combining) == 1 else None
    if done is not None and done != atom.operation:
        raise op_error(
            op, f"the atom is '{atom.keyword}', but the body combines with '{combining[0].name}'"
        )
