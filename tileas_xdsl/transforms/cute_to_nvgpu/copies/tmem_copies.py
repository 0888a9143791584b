"""Lower copies between registers and tensor memory, each a warp's lanes at one address."""

from __future__ import annotations

from xdsl.ir import SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu import TmemLoadOp, TmemStoreOp
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import integer
from tileas_xdsl.dialects.cute_nvgpu.atoms.tmem_copies import (
    TmemLoadType,
    TmemMoveType,
    TmemStoreType,
)
from tileas_xdsl.layout import Layout
from tileas_xdsl.transforms.cute_to_nvgpu.converter import Converter
from tileas_xdsl.transforms.cute_to_nvgpu.element_access import (
    Side,
    is_registers,
    read,
    view_of,
    write,
)
from tileas_xdsl.transforms.cute_to_nvgpu.mma.async_waits import mark_in_flight


def load_cells(conv: Converter, atom: TmemLoadType, source: Side, to: Side) -> None:
    """`tcgen05.ld`; registers may be read behind a wait."""
    if not is_registers(to.view):
        raise op_error(conv.at, f"loads registers, not {to.view.type}")
    address = _address(conv, atom, source)
    loaded = conv.insert(TmemLoadOp(address, to.element, atom.shape, integer(atom.repeat)))
    write(conv, to.view, to.indices, loaded)
    mark_in_flight(conv, to.view)


def store_cells(conv: Converter, atom: TmemStoreType, source: Side, to: Side) -> None:
    """`tcgen05.st`."""
    if not is_registers(source.view):
        raise op_error(conv.at, f"stores registers, not {source.view.type}")
    value = read(conv, source.view, source.indices)
    address = _address(conv, atom, to)
    conv.effect(TmemStoreOp(address, value, atom.shape, integer(atom.repeat)))


def _address(conv: Converter, atom: TmemMoveType, side: Side) -> SSAValue:
    """Where the cells begin; they are those that the instruction moves, in its order."""
    pointer, layout = view_of(conv, side.view)
    if not isinstance(layout, Layout):
        raise op_error(conv.at, f"moves cells of a plain layout, not {side.view.type}")
    first = layout.index(side.indices[0])
    wanted = (atom.cells.index(n) for n in range(len(side.indices)))
    if any(layout.index(n) - first != cell for n, cell in zip(side.indices, wanted, strict=True)):
        raise op_error(
            conv.at,
            f"moves {integer(atom.lanes)} lanes of {atom.columns} columns, which those of "
            f"{side.view.type} are not",
        )
    return conv.tensor_address(pointer.moved(first))
