"""Lower copies by atoms: `cute.copy_atom_call`, and `cute.copy`, which repeats one over two views.

What an atom's type is says which instruction does it; how many elements a thread gives it, its
layouts say.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from xdsl.dialects.builtin import VectorType
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.clauses import ClausedType
from tileas_xdsl.dialects.cute.atom.calls import atom_of
from tileas_xdsl.dialects.cute.atom.interfaces import CopyAtomType
from tileas_xdsl.dialects.cute.base.operands import has_static_shape
from tileas_xdsl.dialects.cute.base.symbolic_values import Pointer
from tileas_xdsl.dialects.cute.memory.views import bit_width
from tileas_xdsl.dialects.cute.types.views import MemRefType
from tileas_xdsl.dialects.cute_nvgpu import CpAsyncOp, LdsmOp, StsmOp
from tileas_xdsl.dialects.cute_nvgpu.atoms.copies import (
    LdsmType,
    MatrixCopyType,
    SimtAsyncCopyType,
    StsmType,
    UniversalCopyType,
)
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import integer, text
from tileas_xdsl.dialects.cute_nvgpu.atoms.tma_copies import (
    TmaCopyType,
    TmaLoadType,
    TmaReduceType,
    TmaStoreType,
)
from tileas_xdsl.dialects.cute_nvgpu.atoms.tmem_copies import TmemLoadType, TmemStoreType
from tileas_xdsl.dialects.cute_nvgpu.threads.warp_collectives import ROW_BYTES
from tileas_xdsl.layout import Layout
from tileas_xdsl.transforms.cute_to_nvgpu.converter import Converter
from tileas_xdsl.transforms.cute_to_nvgpu.copies.tma_copies import (
    CopyCallOp,
    convert_load,
    convert_reduce,
    convert_store,
)
from tileas_xdsl.transforms.cute_to_nvgpu.copies.tmem_copies import load_cells, store_cells
from tileas_xdsl.transforms.cute_to_nvgpu.element_access import (
    Side,
    contiguous,
    is_registers,
    read,
    write,
)

Copy = Callable[[Converter, Any, Side, Side], None]


def convert_copy(op: CopyCallOp, conv: Converter) -> None:
    """One instruction for as many elements as the atom copies at once, in their order."""
    atom = atom_of(op, op.atom, CopyAtomType, "a copy atom")
    if op.predicate is not None:
        raise op_error(op, "is not lowered with a predicate: branch around the copy")
    if len(op.sources) != 1 or len(op.destinations) != 1:
        raise op_error(op, "is lowered for one source and one destination")
    if isinstance(atom, TmaCopyType) and (boxes := _BOXES.get(type(atom))) is not None:
        boxes(op, conv, atom)
        return
    emit = _COPIES.get(type(atom)) if isinstance(atom, ClausedType) else None
    if emit is None:
        raise op_error(op, f"is not lowered for {atom}: only for {_known()}")
    sources = _sides(op, op.sources[0], atom, atom.source_layout)
    destinations = _sides(op, op.destinations[0], atom, atom.destination_layout)
    if len(sources) != len(destinations):
        raise op_error(
            op,
            f"reads {len(sources)} times what the atom copies at once, and writes "
            f"{len(destinations)} times",
        )
    for source, destination in zip(sources, destinations, strict=True):
        emit(conv, atom, source, destination)
    conv.kill(op)


def _known() -> str:
    return ", ".join(type_.name for type_ in (*_COPIES, *_BOXES))


def _sides(op: CopyCallOp, view: SSAValue, atom: CopyAtomType, side: Layout | None) -> list[Side]:
    """The elements of a view, split in what the atom takes at once."""
    if not isinstance(view.type, MemRefType):
        raise op_error(op, f"is lowered for views of memory, not {view.type}")
    if not has_static_shape(view.type.layout):
        raise op_error(op, f"copies views whose extents are known, not {view.type}")
    bits, size = bit_width(view.type.element_type), view.type.layout.size()
    at_once = (atom.bits_at_once(side) or bits * size) // bits
    if at_once == 0 or size % at_once:
        raise op_error(op, f"copies {at_once} elements at once, and {view.type} has {size}")
    return [Side(view, range(n, n + at_once)) for n in range(0, size, at_once)]


# Instructions


def _universal(conv: Converter, atom: UniversalCopyType, source: Side, to: Side) -> None:
    stated = [name for name in (text(atom.order), text(atom.scope)) if name not in ("", "weak")]
    if stated or atom.dsmem.value.data:
        raise op_error(conv.at, f"is lowered for weak copies of a block only, not {atom}")
    fragment = read(conv, source.view, source.indices)
    write(conv, to.view, to.indices, _as_elements(conv, fragment, to.element))


def _as_elements(conv: Converter, fragment: SSAValue, element: Attribute) -> SSAValue:
    """A copy moves bits: both sides have to say the same element."""
    type_ = fragment.type
    assert isinstance(type_, VectorType)
    if type_.get_element_type() != element:
        raise op_error(conv.at, f"is lowered for one element type, not {type_} to {element}")
    return fragment


def _async(conv: Converter, atom: SimtAsyncCopyType, source: Side, to: Side) -> None:
    size = integer(atom.bits) // 8
    gmem, smem = (_row(conv, side, size) for side in (source, to))
    conv.effect(CpAsyncOp(conv.access(smem), conv.access(gmem), size, text(atom.cache)))


def _row(conv: Converter, side: Side, size: int) -> Pointer:
    """Where the elements begin, which lie beside one another and aligned to what they take."""
    pointer = contiguous(conv, side.view, side.indices)
    if pointer is None:
        raise op_error(
            conv.at,
            f"takes {size} bytes that lie together in memory, which those of {side.view.type} "
            "do not",
        )
    if pointer.align % size:
        raise op_error(
            conv.at,
            f"takes places aligned to {size} bytes, but those of {side.view.type} are to "
            f"{pointer.align}",
        )
    return pointer


def _check_matrices(conv: Converter, atom: MatrixCopyType) -> None:
    if atom.mode.data != (8, 8):
        raise op_error(conv.at, f"is lowered for matrices of 8x8 only, not {atom}")


def _ldsm(conv: Converter, atom: LdsmType, source: Side, to: Side) -> None:
    _check_matrices(conv, atom)
    address = conv.access(_row(conv, source, ROW_BYTES))
    type_ = VectorType(to.element, [len(to.indices)])
    transposed = text(atom.direction) == "t"
    loaded = conv.insert(LdsmOp(address, type_, integer(atom.count), transposed))
    write(conv, to.view, to.indices, loaded)


def _stsm(conv: Converter, atom: StsmType, source: Side, to: Side) -> None:
    _check_matrices(conv, atom)
    if not is_registers(source.view):
        raise op_error(conv.at, f"stores registers, not {source.view.type}")
    fragment = read(conv, source.view, source.indices)
    address = conv.access(_row(conv, to, ROW_BYTES))
    conv.effect(StsmOp(address, fragment, integer(atom.count), text(atom.direction) == "t"))


_COPIES: Mapping[type[ClausedType], Copy] = {
    UniversalCopyType: _universal,
    SimtAsyncCopyType: _async,
    LdsmType: _ldsm,
    StsmType: _stsm,
    TmemLoadType: load_cells,
    TmemStoreType: store_cells,
}
"""By the type of the atom: the instruction that does it."""

_BOXES: Mapping[type[TmaCopyType], Callable[[CopyCallOp, Converter, Any], None]] = {
    TmaLoadType: convert_load,
    TmaStoreType: convert_store,
    TmaReduceType: convert_reduce,
}
"""Those that copy boxes, which one thread does for all."""
