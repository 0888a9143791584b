"""Steps of the verifiers of TMA operations: atoms, boxes, layouts, multicast, padding.

A box starts with the innermost dimension, as in the CUDA driver; a shape ends with it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    AnyFloat,
    IndexType,
    IntegerAttr,
    MemRefType,
    NoneAttr,
    StridedLayoutAttr,
    StringAttr,
    TensorType,
    i32,
)
from xdsl.ir import Attribute, Operation

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.dialects.nv_tileas.atoms import BLACKWELL_MODES, TMA_ATOMS, TmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr, LayoutAttr
from tileas_xdsl.dialects.nv_tileas.enums import OobMode, OobModeAttr, Space, SwizzleMode
from tileas_xdsl.dialects.nv_tileas.memory.atoms import (
    check_mode,
    check_rank,
    check_row_rank,
    is_zero,
)
from tileas_xdsl.dialects.nv_tileas.memory.tile_size import size_mismatch
from tileas_xdsl.dialects.nv_tileas.spaces import element_of, shape_of, space_of
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType, TiledViewType
from tileas_xdsl.target.tma.tensor_map import SWIZZLES
from tileas_xdsl.target.tma.tensor_map_rules import BOX_LIMIT

DESCRIPTOR_ALIGNMENT = 128
MULTICAST_BYTES = 128
ROWS_OF_AN_INSTRUCTION = 4
MAX_MULTICAST = 16
"""The most thread blocks that a cluster has."""

ROW_BITS = 128
"""A row of a box is a multiple of 16 bytes."""

Box = tuple[int | None, ...]
"""The extents of a box, None for one that is not constant."""


@dataclass(frozen=True, slots=True)
class Descriptor:
    """What is known of the descriptor that an operation uses."""

    atom: TmaAtom
    box: Box
    element: Attribute | None
    swizzle: SwizzleMode | None


EXPECTED_FAMILY: Mapping[str, str] = {
    "tma_load": message("nv_tileas.tma.load_atom"),
    "tma_store": message("nv_tileas.tma.store_atom"),
    "tma_redg": message("nv_tileas.tma.reduce_atom"),
}


def tma_atom(op: Operation, atom: AtomAttr, family: str | None = None) -> TmaAtom:
    """The TMA atom, of `family` if one is named."""
    data = atom.data
    if family is not None and data.family != family:
        raise op_error(op, EXPECTED_FAMILY[family])
    if not isinstance(data, TmaAtom):
        raise op_error(op, message("nv_tileas.tma.atom"))
    return data


def check_descriptor(op: Operation, atom: TmaAtom, descriptor: Descriptor | None) -> None:
    """The operation moves what its descriptor describes."""
    if descriptor is None:
        return
    made = descriptor.atom
    if (made.direction, made.rank, made.mode) != (atom.direction, atom.rank, atom.mode):
        raise op_error(op, f"uses atom {atom}, but its descriptor is for {made}")
    if atom.box and not _fits(descriptor.box, atom.box):
        raise op_error(op, message("nv_tileas.tma.box_of_copy"))


def _fits(box: Box, extents: tuple[int, ...]) -> bool:
    return len(box) == len(extents) and all(
        extent in (None, other) for extent, other in zip(box, extents, strict=True)
    )


def check_global(op: Operation, view: Attribute, atom: TmaAtom) -> None:
    """Check for a view of global memory (or of undecided memory space) of the rank of the atom."""
    elsewhere = space_of(view) not in (None, Space.GMEM)
    if shape_of(view) is None or isinstance(view, TensorType) or elsewhere:
        raise op_error(op, f"expects a view of global memory, but got {view}")
    check_rank(op, atom, view)


def check_descriptor_mode(op: Operation, atom: TmaAtom, mode: StringAttr | None) -> None:
    """The mode of a descriptor is one that its atom has, and the one that it is written with."""
    word = atom.mode if mode is None else mode.data
    check_mode(op, atom, word, TMA_ATOMS[atom.direction].modes)
    check_row_rank(op, atom, word)
    if word != atom.mode and atom.mode != TMA_ATOMS[atom.direction].modes[0]:
        raise op_error(op, f"has mode '{word}', but its atom has '{atom.mode}'")


def check_nan_fill(op: Operation, mode: OobModeAttr | None, element: Attribute | None) -> None:
    """Only floats are filled with NaN."""
    if mode is not None and mode.data is OobMode.NAN and not isinstance(element, AnyFloat):
        raise op_error(op, f"fills with NaN what is out of bounds, but elements are {element}")


def check_box(
    op: Operation,
    box: Box,
    atom: TmaAtom,
    element: Attribute | None,
    swizzle: SwizzleMode | None,
) -> None:
    """The box of a descriptor is that of its atom, with extents and rows that the hardware has."""
    if len(box) != atom.box_rank:
        raise op_error(op, message("nv_tileas.tma.box_rank"))
    if atom.box and not _fits(box, atom.box):
        raise op_error(op, message("nv_tileas.tma.box_of_atom"))
    check_extents(op, (*box, *atom.box))
    inner = box[0] if box[0] is not None else next(iter(atom.box), None)
    if inner is not None:
        _check_row(op, inner * bits_of(element), swizzle)


def check_extents(op: Operation, box: Box) -> None:
    """A box has as many elements along each dimension as the hardware can count."""
    for extent in box:
        if extent is not None and not 1 <= extent <= BOX_LIMIT:
            raise op_error(op, f"boxes have extents of 1 to {BOX_LIMIT}, not {extent}")


def _check_row(op: Operation, bits: int, swizzle: SwizzleMode | None) -> None:
    """A row is a multiple of 16 bytes, and no longer than what the swizzle spans."""
    if bits % ROW_BITS:
        raise op_error(
            op,
            message("nv_tileas.tma.row_multiple"),
        )
    span = None if swizzle is None else SWIZZLES[swizzle.value].span
    if swizzle is not None and span is not None and bits > span * 8:
        raise op_error(op, f"swizzle {swizzle.value} spans {span} bytes, but rows have {bits // 8}")


def number_of(attribute: Attribute | None) -> int | None:
    """The number that an attribute holds."""
    return attribute.value.data if isinstance(attribute, IntegerAttr) else None


def check_element_stride(op: Operation, view: Attribute) -> None:
    """Some dimension of global memory has adjacent elements."""
    strides = _strides(view)
    if strides and all(stride is not None and stride != 1 for stride in strides):
        raise op_error(op, message("nv_tileas.tma.element_stride"))


def _strides(view: Attribute) -> Sequence[int | None]:
    """The strides of a view as far as they are constants; nothing where elements are adjacent."""
    if isinstance(view, TiledViewType) and isinstance(view.layout, LayoutAttr):
        return [d if isinstance(d, int) else None for _, d in view.layout.data.layout.leaves()]
    if isinstance(view, MemRefType) and isinstance(view.layout, StridedLayoutAttr):
        return view.layout.get_strides()
    return ()


def check_alignment(op: Operation, alignment: int | None) -> None:
    """A descriptor is where the hardware can read it."""
    if alignment is None:
        return
    if alignment < DESCRIPTOR_ALIGNMENT:
        raise op_error(
            op, message("nv_tileas.tma.descriptor_alignment", alignment=DESCRIPTOR_ALIGNMENT)
        )
    if alignment & (alignment - 1):
        raise op_error(op, f"alignments are powers of two, not {alignment}")


def check_shared(op: Operation, buffer: Attribute, role: str) -> None:
    """Check for a buffer in shared memory, or of undecided memory space."""
    if shape_of(buffer) is None or space_of(buffer) not in (None, Space.SMEM):
        raise op_error(op, f"expects a {role} in shared memory, but got {buffer}")
    if DYNAMIC_INDEX in (shape_of(buffer) or ()):
        raise op_error(op, f"expects a {role} with constant extents, but got {buffer}")
    if min(shape_of(buffer) or (1,)) < 1:
        listed = ", ".join(str(extent) for extent in shape_of(buffer) or ())
        raise op_error(op, message("cuda_tile.tile.dimensions_positive", shape=listed))


def check_shared_box(op: Operation, buffer: Attribute, atom: TmaAtom) -> None:
    """The buffer holds the box of the atom, in rows of multiples of 16 bytes."""
    shape = shape_of(buffer)
    assert shape is not None
    row = next(iter(atom.box), shape[-1] if shape else 1)
    if row * bits_of(element_of(buffer)) % ROW_BITS:
        raise op_error(op, message("nv_tileas.tma.row_alignment"))
    check_extents(op, atom.box)
    if atom.mode in BLACKWELL_MODES:
        if atom.box and atom.box[:1] != shape[-1:]:
            raise op_error(op, message("nv_tileas.tile_size.same_shape"))
        return
    if not atom.box:
        check_rank(op, atom, buffer)
        return
    if (mismatch := size_mismatch(tuple(reversed(atom.box)), shape)) is not None:
        raise op_error(op, mismatch)


def check_shared_elements(op: Operation, buffer: Attribute, element: Attribute | None) -> None:
    """The buffer has the elements that TMA moves, as far as they are known."""
    found = element_of(buffer)
    if element is not None and element != found:
        text = message("nv_tileas.element_types.differ", view=element, tensor=found)
        raise op_error(op, text)


def check_rows(op: Operation, rows: Attribute, buffer: Attribute) -> None:
    """One row number for each row of the buffer, four rows at a time."""
    count = prod((shape_of(buffer) or ())[:-1])
    if element_of(rows) not in (i32, IndexType()) or shape_of(rows) != (count,):
        raise op_error(op, f"expects {count} row numbers for {buffer}, but got {rows}")
    if count % ROWS_OF_AN_INSTRUCTION:
        raise op_error(
            op, f"moves {ROWS_OF_AN_INSTRUCTION} rows by one instruction, but there are {count}"
        )


def check_multicast(
    op: Operation, atom: TmaAtom, number: int | None, tile_bits: int | None
) -> None:
    """Check that multicast is set iff the atom has it, with at least 128 bytes per atom."""
    if not atom.multicast:
        if number is not None:
            raise op_error(op, message("nv_tileas.tma.no_multicast", count=number))
        return
    if number is None or not 1 <= number <= MAX_MULTICAST:
        raise op_error(op, message("nv_tileas.tma.num_multicast"))
    if tile_bits is not None and tile_bits < MULTICAST_BYTES * 8:
        raise op_error(
            op,
            message("nv_tileas.tma.multicast_bytes"),
        )


def tile_bits(extents: Sequence[int | None], element: Attribute | None) -> int | None:
    """The bits of a tile, None where an extent is not constant."""
    known = [extent for extent in extents if extent is not None and extent != DYNAMIC_INDEX]
    return prod(known) * bits_of(element) if len(known) == len(extents) else None


def check_zero_padding(
    op: Operation, padding: Attribute | None, element: Attribute | None, text: str
) -> None:
    """Only floats are padded, and only with zeros; else the error is `text`."""
    if padding is None:
        return
    if not isinstance(element, AnyFloat):
        raise op_error(op, f"pads floating-point elements only, not {element}")
    if not is_zero(padding):
        raise op_error(op, text)


def check_tx_count(op: Operation, count: int | None, bits: int | None) -> None:
    """Check that the expected transaction bytes are those of the tile."""
    if count is not None and bits is not None and count * 8 != bits:
        raise op_error(op, f"tx_count is {count}, but the tile has {bits // 8} bytes")


def check_delivery(op: Operation, token: AsyncTokenType, buffer: Attribute) -> None:
    """A token that delivers a tile delivers one like the buffer."""
    tile = token.delivered
    if tile is None or isinstance(tile, NoneAttr):
        return
    if (shape_of(tile), element_of(tile)) != (shape_of(buffer), element_of(buffer)):
        raise op_error(op, f"fills {buffer}, but delivers {tile}")
