"""Which atoms memory operations may have, and which memory spaces they connect."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from xdsl.dialects.builtin import FloatAttr, IntegerAttr
from xdsl.ir import Attribute, Operation

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileas.atoms import (
    BLACKWELL_MODES,
    COPY_ATOMS,
    TMA_ATOMS,
    UNKNOWN_COPY,
    CopyAtomInterface,
    SpacePair,
    TmaAtom,
)
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.enums import RmwMode, Space
from tileas_xdsl.dialects.nv_tileas.spaces import shape_of

LOAD_FAMILIES = ("ldgsts", "tma_load", "ldg", UNKNOWN_COPY)
STORE_FAMILIES = ("stg", "tma_store", UNKNOWN_COPY)
ATOMIC_FAMILIES = ("tma_redg", UNKNOWN_COPY)

TILED_MODES: Mapping[str, tuple[str, ...]] = {
    "tma_load": ("tiled", "im2col", "im2col_at", "tiled_at"),
    "tma_store": ("tiled", "im2col"),
    "tma_redg": ("tiled", "im2col"),
}
"""The modes by which a direction of TMA moves tiles; the others move rows."""

ROW_RANK = 2
"""The dimensions of what gathers and scatters reach.  Source: PTX ISA, cp.async.bulk.tensor."""

_SIGNED: Mapping[RmwMode, RmwMode] = {RmwMode.UMIN: RmwMode.MIN, RmwMode.UMAX: RmwMode.MAX}
"""Modes by reduction atom: atoms have one min and one max, the mode adds the signedness."""

LEGAL_PAIRS = COPY_ATOMS[UNKNOWN_COPY].spaces
"""The (source, destination) spaces between which tiles can be copied at all."""


def check_load_atom(
    op: Operation, atom: AtomAttr, source: Space | None, destination: Space | None
) -> None:
    """An atom that loads from here to there."""
    if atom.data.family not in LOAD_FAMILIES:
        raise op_error(op, message("nv_tileas.atom.load_family"))
    check_spaces(op, atom, source, None if isinstance(atom.data, TmaAtom) else destination)


def check_store_atom(
    op: Operation, atom: AtomAttr, source: Space | None, destination: Space | None
) -> None:
    """An atom that stores from here to there."""
    if atom.data.family not in STORE_FAMILIES:
        raise op_error(op, message("nv_tileas.atom.store_family"))
    check_spaces(op, atom, None if isinstance(atom.data, TmaAtom) else source, destination)


def check_atomic_atom(op: Operation, atom: AtomAttr, destination: Space | None) -> None:
    """Return the atom that reduces into this memory space."""
    if atom.data.family not in ATOMIC_FAMILIES:
        expected = " or ".join(ATOMIC_FAMILIES)
        raise op_error(op, f"expects a {expected} atom, but got {atom.data}")
    check_spaces(op, atom, None, destination)


def check_tiled_atom(op: Operation, atom: AtomAttr, view: Attribute) -> None:
    """A TMA atom moves boxes of the rank of the view, in a mode that moves tiles."""
    data = atom.data
    if not isinstance(data, TmaAtom):
        return
    check_reducing_mode(op, data)
    check_mode(op, data, data.mode, TILED_MODES[data.direction])
    check_rank(op, data, view)


def check_reducing_mode(op: Operation, atom: TmaAtom) -> None:
    """A TMA atom that reduces moves boxes, not rows."""
    if atom.direction == "tma_redg" and atom.mode == "scatter4":
        raise op_error(op, message("nv_tileas.tma.reduce_scatter4"))


def check_row_rank(op: Operation, atom: TmaAtom, mode: str) -> None:
    """What moves rows moves those of a matrix."""
    if mode in BLACKWELL_MODES and atom.rank != ROW_RANK:
        text = f"mode {mode} moves rows of {ROW_RANK} dimensions, but atom {atom.keyword} has"
        raise op_error(op, f"{text} {atom.rank}")


def check_rank(op: Operation, atom: TmaAtom, view: Attribute) -> None:
    """A TMA atom moves boxes of the rank of the view."""
    if len(shape_of(view) or ()) != atom.rank:
        raise op_error(op, f"atom {atom.keyword} moves {atom.rank} dimensions, not those of {view}")


def check_mode(op: Operation, atom: TmaAtom, mode: str, allowed: Sequence[str]) -> None:
    """The direction has the mode, and so has the operation."""
    if mode not in TMA_ATOMS[atom.direction].modes:
        if atom.direction == "tma_load":
            raise op_error(op, message("nv_tileas.tma.load_mode", mode=mode))
        raise op_error(op, f"unsupported {atom.direction} mode '{mode}'")
    if mode not in allowed:
        raise op_error(op, f"moves tiles in mode {' or '.join(allowed)}, not {mode}")


def check_reduction(op: Operation, atom: AtomAttr, mode: RmwMode) -> None:
    """The operation of a reducing atom is that of the mode."""
    found = atom.data.reduction if isinstance(atom.data, TmaAtom) else None
    if found is not None and found not in (mode, _SIGNED.get(mode)):
        raise op_error(op, f"rmw_mode is '{mode.value}', but the atom reduces by '{found.value}'")


def check_spaces(
    op: Operation, atom: AtomAttr, source: Space | None, destination: Space | None
) -> None:
    """The atom serves the spaces of source and destination; a space that is not known is free."""
    if not isinstance(atom.data, CopyAtomInterface):
        raise op_error(op, f"expects a copy atom, but got {atom.data}")
    if not any(_matches(pair, source, destination) for pair in atom.data.spaces):
        served = ", ".join(f"{a.value} to {b.value}" for a, b in atom.data.spaces)
        contrast = _contrast(source, destination)
        raise op_error(op, f"atom {atom.data.keyword} copies {served}, {contrast}")


def check_pair(op: Operation, source: Space | None, destination: Space | None) -> None:
    """Tiles can be copied between the two spaces at all."""
    if source is None or destination is None:
        return
    if (source, destination) not in LEGAL_PAIRS:
        raise op_error(op, f"no tile is copied from {source.value} to {destination.value}")


def _matches(pair: SpacePair, source: Space | None, destination: Space | None) -> bool:
    return source in (None, pair[0]) and destination in (None, pair[1])


def _contrast(source: Space | None, destination: Space | None) -> str:
    if destination is None:
        return f"but the source is in {source.value if source else 'no known space'}"
    if source is None:
        return f"but the destination is in {destination.value}"
    return f"not {source.value} to {destination.value}"


def check_tma_padding(op: Operation, atom: AtomAttr, padding: Attribute | None) -> None:
    """A TMA atom pads with zeros only."""
    if atom.data.family == "tma_load" and not is_zero(padding):
        raise op_error(
            op,
            message("nv_tileas.tma.padding"),
        )


def is_zero(padding: Attribute | None) -> bool:
    """Whether a padding value is zero, as it is where none is given."""
    if isinstance(padding, FloatAttr):
        return padding.value.data == 0 and not str(padding.value.data).startswith("-")
    return padding is None or (isinstance(padding, IntegerAttr) and padding.value.data == 0)
