"""Scale factors of block-scaled MMAs of sm_100a: counts per instruction, and their layouts.

Each row of A and of B has a byte of scale for every 16 or 32 elements of K.  In tensor memory row
r is in lane r % 32, column r / 32, and the bytes of a column are successive scales along K; all
four quarters of the lanes hold the same.  In shared memory 128 rows by 4 scales are 512 bytes, an
atom, which one `tcgen05.cp.32x128b.warpx4` spreads to 4 columns.
Sources: PTX ISA 9.7.16.10.7; CUTLASS include/cutlass/detail/sm100_blockscaled_layout.hpp.
"""

from __future__ import annotations

from collections.abc import Mapping

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.layout.axes import E
from tileas_xdsl.layout.integers import ceil_div
from tileas_xdsl.layout.layout import Layout, make_layout
from tileas_xdsl.target.errors import TargetError
from tileas_xdsl.target.tensor_memory import COLUMN, LANE

BYTE = "byte"
QUARTERS = 4
"""Groups of 32 lanes, each of which holds all scales."""

ROWS = 32
"""Rows in a column of scales."""

ATOM_ROWS = 128
ATOM_SCALES = 4
ATOM_BYTES = ATOM_ROWS * ATOM_SCALES
"""The scale atom that one copy to tensor memory moves: rows, scales per row, bytes."""

ATOM_COLUMNS = ATOM_ROWS // ROWS
"""The columns of tensor memory that an atom is copied to."""

CORE_ROW_BYTES = 16
CORE_BYTES = 8 * CORE_ROW_BYTES
"""An atom is 32 rows of 16 bytes to its copy; matrix descriptors count 8 rows after one another."""

SCALE_FORMATS: Mapping[str, str] = {"f8e8m0": "ue8m0", "f8e4m3": "ue4m3"}
"""What instructions call scales that tiles have as these elements."""

SCALE_ATOM = Layout(((ROWS, ATOM_ROWS // ROWS), ATOM_SCALES), ((16, ATOM_SCALES), 1))
"""`(row, scale)` of an atom to its byte in shared memory."""


def atoms_layout(rows: int, scales: int) -> Layout:
    """`(row, scale)` to bytes: whole atoms, those along K one after another, then further rows."""
    across, along = rows // ATOM_ROWS, scales // ATOM_SCALES
    row, scale = SCALE_ATOM
    return make_layout(
        make_layout(row, Layout(across, along * ATOM_BYTES)),
        make_layout(scale, Layout(along, ATOM_BYTES)),
    )


@dataclass(frozen=True, slots=True)
class ScaleVector:
    """How an instruction scales: `count` scales of a row, one for each `block` elements of K."""

    count: int
    block: int
    formats: tuple[str, ...]
    ids: tuple[int, ...]
    """The bytes of a column at which the scales of a row may begin."""


_MX8 = ScaleVector(1, 32, ("ue8m0",), (0, 1, 2, 3))
_MX4 = ScaleVector(2, 32, ("ue8m0",), (0, 2))
_NV4 = ScaleVector(4, 16, ("ue8m0", "ue4m3"), (0,))

SCALE_VECTORS: Mapping[str, Mapping[str, ScaleVector]] = {
    "mxf8f6f4": {"": _MX8, "1X": _MX8, "block32": _MX8},
    "mxf4": {"": _MX4, "2X": _MX4, "block32": _MX4},
    "mxf4nvf4": {"2X": _MX4, "block32": _MX4, "4X": _NV4, "block16": _NV4},
}
"""By kind, then by the `.scale_vec` or block modifier; empty for the default."""


def scale_vector(kind: str, name: str, scale: str, *ids: int) -> ScaleVector:
    """Return the scale vector of `kind` with modifier `name` and scales in format `scale`.

    Raises `TargetError` for a combination that does not exist, and for `ids` (the bytes at which
    the scales of A and B begin) that are not aligned to the scales of a row.
    """
    found = SCALE_VECTORS.get(kind, {}).get(name)
    if found is None:
        raise TargetError(f"kind::{kind} has no scale vector '{name}'")
    if scale not in found.formats:
        allowed = " or ".join(found.formats)
        raise TargetError(f"kind::{kind} takes {found.count} scales as {allowed}, not {scale}")
    for number in ids:
        if number not in found.ids:
            allowed = ", ".join(map(str, found.ids))
            raise TargetError(f"{found.count} scales begin at byte {allowed}, not {number}")
    return found


def scale_layout(rows: int, count: int) -> Layout:
    """`(row, scale)` to lane, column and byte of tensor memory, in the first quarter of lanes."""
    within = min(rows, ROWS)
    columns = ceil_div(rows, ROWS)
    return make_layout(Layout((within, columns), (E(LANE), E(COLUMN))), Layout(count, E(BYTE)))
