"""What a matrix product must satisfy: its atom, element types, accumulator and shapes, in order."""

from __future__ import annotations

from collections.abc import Mapping

from xdsl.ir import Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.atoms import Atom, MmaAtom
from tileas_xdsl.dialects.nv_tileas.element_names import (
    FP4,
    NARROW_FLOATS,
    canonical_name,
    element_name,
)
from tileas_xdsl.dialects.nv_tileas.enums import Signedness, Space
from tileas_xdsl.dialects.nv_tileas.spaces import Tile, space_of

ACCUMULATORS: Mapping[str, tuple[str, ...]] = {
    "f16": ("f32", "f16"),
    "f64": ("f64",),
    **dict.fromkeys(NARROW_FLOATS, ("f32", "f16")),
    **dict.fromkeys(("i1", "i4", "i8"), ("i32",)),
}
"""The accumulators of an element type, the usual one first; other floats have f32 only.

PTX ISA: mma, wgmma and tcgen05 accumulate f16 and narrow floats in f16 too.
"""

OPERAND_SPACES: Mapping[str, tuple[tuple[Space, ...], tuple[Space, ...], tuple[Space, ...]]] = {
    "fma": ((Space.RMEM, Space.SMEM), (Space.RMEM, Space.SMEM), (Space.RMEM,)),
    "mma": ((Space.RMEM, Space.SMEM), (Space.RMEM, Space.SMEM), (Space.RMEM,)),
    "wgmma": ((Space.SMEM, Space.RMEM), (Space.SMEM,), (Space.RMEM,)),
    "tcgen05": ((Space.SMEM, Space.TMEM), (Space.SMEM,), (Space.TMEM,)),
}
"""By family of atom, where A, B and C may be (PTX ISA: mma, wgmma, tcgen05).

`mma` and `fma` read registers, and load them from tiles in shared memory piece by piece.
"""

_COMMON_ELEMENTS = ("f16", "bf16", "tf32", "f8e4m3", "f8e5m2", "i8")

ATOM_ELEMENTS: Mapping[str, tuple[str, ...]] = {
    "fma": (*_COMMON_ELEMENTS, "f32", "f64"),
    "mma": (*_COMMON_ELEMENTS, "f6e2m3", "f6e3m2", FP4, "i4", "i1", "f64"),
    "wgmma": (*_COMMON_ELEMENTS, "i1"),
    "tcgen05": (*_COMMON_ELEMENTS, "f6e2m3", "f6e3m2", FP4),
}
"""By family of atom, the elements of A and B (PTX ISA: mma, wgmma, tcgen05, fma)."""

_STORED_AS = {"tf32": ("tf32", "f32")}
"""Atom elements that tiles hold under more than their own name."""

_SIGNEDNESS = {"s": Signedness.SIGNED, "u": Signedness.UNSIGNED}


@dataclass(frozen=True)
class DotTypes:
    """The tiles of a product D = A * B + C, and how integers are read."""

    a: Tile
    b: Tile
    c: Tile
    d: Tile
    signedness_a: Signedness | None = None
    signedness_b: Signedness | None = None


def check_dot(op: Operation, atom: Atom | None, types: DotTypes) -> None:
    """Raise the first thing that is wrong with a product; without an atom, one may be found."""
    mma = None if atom is None else check_mma_atom(op, atom)
    if mma is None:
        _check_some_instruction(op, types)
    else:
        _check_unscaled(op, mma)
        _check_elements(op, mma, types)
        check_elements_of_instruction(op, mma)
    _check_accumulator(op, mma, types)
    _check_signedness(op, "a", types.a, mma and mma.a, types.signedness_a)
    _check_signedness(op, "b", types.b, mma and mma.b, types.signedness_b)
    check_shapes(op, types.a, types.b, types.c)
    check_result(op, types.c, types.d)
    if mma is not None:
        check_atom_shape(op, mma, types.a, types.b)
        check_spaces(op, mma, types.a, types.b, types.c)


def check_mma_atom(op: Operation, atom: Atom) -> MmaAtom:
    """The atom, if it is one that multiplies."""
    if not isinstance(atom, MmaAtom):
        raise op_error(op, f"the atom of a product multiplies matrices; '{atom.keyword}' does not")
    return atom


def _check_unscaled(op: Operation, atom: MmaAtom) -> None:
    if atom.scale_vector:
        raise op_error(op, f"has no scales, but atom '{atom}' takes them")


def _check_some_instruction(op: Operation, types: DotTypes) -> None:
    """Some matrix instruction multiplies the elements as they are."""
    for element in _check_one_type(op, types):
        if element == "f32":
            raise op_error(op, "needs an atom that says how elements of f32 are rounded to tf32")
        if not _is_multiplied(element):
            raise op_error(op, f"no matrix instruction multiplies elements of type {element}")


def _check_one_type(op: Operation, types: DotTypes) -> tuple[str, str]:
    a, b = (element_name(tile.element_type) for tile in (types.a, types.b))
    if a != b and not {a, b} <= set(NARROW_FLOATS):
        raise op_error(op, f"multiplies elements of one type, not {a} by {b}")
    return a, b


def _check_elements(op: Operation, atom: MmaAtom, types: DotTypes) -> None:
    a, b = _check_one_type(op, types)
    for name, given, wanted in (("A", a, atom.a), ("B", b, atom.b)):
        check_element_of_atom(op, atom, name, given, wanted)


_INPUT_PRECISION = "nv_tileas.dot.atom_input_precision_incompatible"
_ACCUMULATOR_TYPE = "nv_tileas.dot.atom_output_type_mismatch"


def check_element_of_atom(
    op: Operation, atom: MmaAtom, operand: str, given: str, wanted: str
) -> None:
    """The elements of an operand are those that its atom multiplies."""
    wanted = canonical_name(wanted)
    if given not in _STORED_AS.get(wanted, (wanted,)):
        key = _ACCUMULATOR_TYPE if operand == "C" else _INPUT_PRECISION
        values = {"operand": operand, "given": given, "atom": atom.keyword, "wanted": wanted}
        raise op_error(op, message(key, **values))


def check_elements_of_instruction(op: Operation, atom: MmaAtom) -> None:
    """The instruction of the atom exists for the elements of A and B."""
    known = ATOM_ELEMENTS[atom.instruction]
    for element in map(canonical_name, (atom.a, atom.b)):
        if element in known:
            continue
        if not _is_multiplied(element):
            raise op_error(op, f"no matrix instruction multiplies elements of type {element}")
        raise op_error(op, f"{atom.instruction} multiplies {', '.join(known)}, not {element}")


def _is_multiplied(element: str) -> bool:
    """Whether some matrix instruction multiplies such elements."""
    return any(element in known for family, known in ATOM_ELEMENTS.items() if family != "fma")


def _check_accumulator(op: Operation, atom: MmaAtom | None, types: DotTypes) -> None:
    a, c = element_name(types.a.element_type), element_name(types.c.element_type)
    allowed = ACCUMULATORS.get(a, ("f32",))
    if c not in allowed:
        if allowed[0] == "f32":
            raise op_error(
                op, message("nv_tileaa.dot.accumulator_f32", element=types.c.element_type)
            )
        raise op_error(op, f"accumulates {a} in {allowed[0]}, not in {c}")
    if atom is not None:
        check_element_of_atom(op, atom, "C", c, atom.d)


def _check_signedness(
    op: Operation, operand: str, tile: Tile, of_atom: str | None, given: Signedness | None
) -> None:
    """Check that the signedness of integers agrees with the attribute, else with the atom."""
    element = element_name(tile.element_type)
    if not element.startswith("i"):
        if given is not None:
            raise op_error(op, f"signedness_{operand} is for integers; the operand has {element}")
        return
    named = None if of_atom is None else _SIGNEDNESS.get(of_atom[0])
    if given is None and named is None and element != "i1":
        raise op_error(op, f"signedness_{operand} must say how to read elements of type {element}")
    if given is not None and named is not None and given is not named:
        raise op_error(
            op, f"signedness_{operand} is {given.value}, but the atom multiplies {of_atom}"
        )


def check_shapes(op: Operation, a: Tile, b: Tile, c: Tile) -> None:
    """A is [L x] M x K, B is [L x] K x N, C is [L x] M x N."""
    ranks = tuple(len(tile.get_shape()) for tile in (a, b, c))
    if ranks not in ((2, 2, 2), (3, 3, 3)):
        listed = "{}, {} and {}".format(*ranks)
        raise op_error(
            op, f"multiplies tiles that are all of rank 2 or all of rank 3, not {listed}"
        )
    (*batch, m, k), (*batch_b, k_b, n) = a.get_shape(), b.get_shape()
    if k != k_b:
        raise op_error(op, f"K is {k} in A, but {k_b} in B")
    if batch != batch_b:
        raise op_error(op, f"A has a batch of {batch[0]}, but B one of {batch_b[0]}")
    wanted = (*batch, m, n)
    if c.get_shape() != wanted:
        raise op_error(op, f"C is {_extents(wanted)}, not {_extents(c.get_shape())}")


def check_result(op: Operation, c: Tile, d: Tile) -> None:
    """The result is like the accumulator; only its layout may differ."""
    if (d.get_shape(), d.element_type) != (c.get_shape(), c.element_type):
        raise op_error(op, f"the result is like the accumulator {c}, not {d}")


def check_atom_shape(op: Operation, atom: MmaAtom, a: Tile, b: Tile) -> None:
    """An atom with a shape covers the product without a rest."""
    if not atom.shape:
        return
    m, k, n = *a.get_shape()[-2:], b.get_shape()[-1]
    if any(extent % step for extent, step in zip((m, n, k), atom.shape, strict=True)):
        raise op_error(
            op, f"a product of {m}x{n}x{k} is no multiple of the atom's {_extents(atom.shape)}"
        )


def check_spaces(op: Operation, atom: MmaAtom, *tiles: Tile) -> None:
    """Check that the instruction can read operands from the memory spaces of their types."""
    for name, tile, allowed in zip("ABC", tiles, OPERAND_SPACES[atom.instruction], strict=True):
        space = space_of(tile)
        if space is not None and space not in allowed:
            spaces = " or ".join(one.value for one in allowed)
            raise op_error(
                op, f"{name} of '{atom.keyword}' is in {spaces}, but the tile is in {space.value}"
            )


def _extents(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))
