"""TMA: bulk copies between shared memory and a tensor that a descriptor describes.

Coordinates count tiles and stand in the order of the shape, as those of a tiled load; offsets of
boxes count elements on top of that, as coordinates of the instruction do.  Loads report the
bytes that have arrived to a barrier, which a memory token stands for.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import SSAValue, TypeAttribute
from xdsl.irdl import AttrSizedOperandSegments, traits_def

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.nv_tileas.atoms import TmaAtom
from tileas_xdsl.dialects.nv_tileas.attributes import AtomAttr
from tileas_xdsl.dialects.nv_tileas.enums import RmwModeAttr
from tileas_xdsl.dialects.nv_tileas.interfaces import MemoryConsistency
from tileas_xdsl.dialects.nv_tileas.memory.arguments import (
    Atom,
    Mode,
    OptPadding,
    OptType,
    atom_attribute,
    mode_attribute,
    padding_attribute,
)
from tileas_xdsl.dialects.nv_tileas.memory.atoms import (
    TILED_MODES,
    check_mode,
    check_reducing_mode,
    check_reduction,
    check_row_rank,
)
from tileas_xdsl.dialects.nv_tileas.memory.checks import (
    LEADING_COORDINATES,
    check_coordinates,
    check_offsets,
)
from tileas_xdsl.dialects.nv_tileas.memory.ordering_checks import (
    check_atomic,
    check_padding_type,
    check_tma_reduction,
)
from tileas_xdsl.dialects.nv_tileas.memory.structure import MemoryOp, memory_op
from tileas_xdsl.dialects.nv_tileas.spaces import MemToken, element_of, shape_of
from tileas_xdsl.dialects.nv_tileas.syntax.directives import Coordinates
from tileas_xdsl.dialects.nv_tileas.tma.checks import (
    check_delivery,
    check_descriptor,
    check_multicast,
    check_rows,
    check_shared,
    check_shared_box,
    check_shared_elements,
    check_tx_count,
    check_zero_padding,
    number_of,
    tile_bits,
    tma_atom,
)
from tileas_xdsl.dialects.nv_tileas.tma.descriptor import descriptor_of
from tileas_xdsl.dialects.nv_tileas.tma.directives import (
    TransferTypes,
    TransferTypesAndOne,
    TransferTypesAndTwo,
)
from tileas_xdsl.dialects.nv_tileas.tma.index import TMA_INDEX, check_tma_index, has_descriptors
from tileas_xdsl.dialects.nv_tileas.tma.layout import check_shared_layout
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType, TmaDescType

GATHER_MODES = ("gather4",)
SCATTER_MODES = ("scatter4",)

STORE_REFUSES = ("padding_value",)


class TmaTransferOp(MemoryOp):
    """Base of bulk copies."""

    result: fields.ComputedResult[AsyncTokenType] = fields.typed_result(
        AsyncTokenType, type=AsyncTokenType(), default=None, kw_only=True, alias="result_type"
    )

    atom: Atom = fields.prop(AtomAttr, kw_only=True, convert=atom_attribute)
    tma_internal_type: OptType = fields.opt_prop(
        TypeAttribute, default=None, kw_only=True, alias="internal_type"
    )
    tma_index: fields.OptInt = fields.opt_prop(
        IntegerAttr.constr(i32), default=None, kw_only=True, prop_name=TMA_INDEX
    )

    traits = traits_def(MemoryConsistency())
    irdl_options = (AttrSizedOperandSegments(as_property=True),)

    def check_transfer(
        self, desc: SSAValue, buffer: SSAValue, role: str, family: str, modes: Sequence[str]
    ) -> TmaAtom:
        """Descriptor, atom, residency, mode, box and layout of the buffer; gives the atom."""
        if not isinstance(desc.type, TmaDescType):
            raise op_error(self, f"expects a TMA descriptor, but got {desc.type}")
        atom, descriptor = tma_atom(self, self.atom, family), descriptor_of(desc)
        check_shared(self, buffer.type, role)
        check_reducing_mode(self, atom)
        check_mode(self, atom, atom.mode, modes)
        check_row_rank(self, atom, atom.mode)
        check_descriptor(self, atom, descriptor)
        check_shared_box(self, buffer.type, atom)
        swizzle = None if descriptor is None else descriptor.swizzle
        check_shared_layout(self, buffer.type, swizzle)
        return atom

    def check_rest(self, desc: SSAValue, buffer: SSAValue) -> None:
        """Elements of the buffer and index of the descriptor."""
        descriptor = descriptor_of(desc)
        element = None if descriptor is None else descriptor.element
        check_shared_elements(self, buffer.type, self.tma_internal_type or element)
        if has_descriptors(self):
            check_tma_index(self, desc)


class TmaLoadBase(TmaTransferOp):
    """Base of bulk loads: with a barrier, padding and multicast."""

    padding_value: OptPadding = fields.opt_prop(
        default=None,
        kw_only=True,
        convert=padding_attribute,
        alias="padding",
        of="destination",
    )
    tx_count: fields.OptInt = fields.opt_prop(IntegerAttr.constr(i32), default=None, kw_only=True)
    num_multicast: fields.OptInt = fields.opt_prop(
        IntegerAttr.constr(i32), default=None, kw_only=True
    )

    def check_load(
        self, atom: TmaAtom, desc: SSAValue, buffer: SSAValue, barrier: SSAValue, padding: str
    ) -> None:
        """What follows on the coordinates."""
        shape, element = shape_of(buffer.type) or (), element_of(buffer.type)
        if not isinstance(barrier.type, MemToken):
            raise op_error(self, f"expects a barrier, a memory token, but got {barrier.type}")
        self.check_rest(desc, buffer)
        check_multicast(
            self, atom, number_of(self.num_multicast), tile_bits(atom.box or shape, element)
        )
        check_zero_padding(self, self.padding_value, element, padding)
        check_padding_type(self, self.padding_value, element)
        check_tx_count(self, number_of(self.tx_count), tile_bits(shape, element))
        check_delivery(self, self.result.type, buffer.type)


def _coordinate_count(atom: TmaAtom) -> int:
    return atom.rank + LEADING_COORDINATES.get(atom.mode, 0)


@memory_op
class AsyncTiledTmaLoadOp(TmaLoadBase):
    """Start to copy a box of the described tensor to shared memory.

    The token delivers the tile when it is awaited; the barrier counts its bytes.
    """

    name = "nv_tileas.async.tiled_tma_load"

    LAST_SEGMENT_MAY_LACK: ClassVar[bool] = True

    desc: fields.Operand = fields.operand()
    destination: fields.Operand = fields.operand()
    coords: fields.Operands = fields.operands()
    barrier: fields.Operand = fields.operand()
    offsets: fields.Operands = fields.operands(default=(), kw_only=True)

    custom_directives = (Coordinates, TransferTypesAndOne)
    assembly_format = (
        "$desc `,` $destination `` `[` $coords `]`"
        " (`offset` `` custom<Coordinates>($offsets, type($offsets))^)?"
        " `barrier` $barrier attr-dict"
        " `:` custom<TransferTypesAndOne>"
        "(type($desc), type($destination), type($coords), type($barrier))"
        " `->` type($result)"
    )

    def verify_(self) -> None:
        atom = self.check_transfer(
            self.desc, self.destination, "destination", "tma_load", TILED_MODES["tma_load"]
        )
        check_coordinates(self, self.coords, _coordinate_count(atom))
        check_offsets(self, self.offsets, atom.rank if atom.mode == "tiled" else 0)
        self.check_load(
            atom,
            self.desc,
            self.destination,
            self.barrier,
            message("tma_to_async.load_padding"),
        )


@memory_op
class AsyncGatherTmaLoadOp(TmaLoadBase):
    """Start to gather rows of the described tensor into shared memory.

    `rows` has the row index of each row of the destination; `coords` give the first column.  One
    instruction gathers four rows.
    """

    name = "nv_tileas.async.gather_tma_load"

    desc: fields.Operand = fields.operand()
    destination: fields.Operand = fields.operand()
    coords: fields.Operands = fields.operands()
    rows: fields.Operand = fields.operand()
    barrier: fields.Operand = fields.operand()

    custom_directives = (TransferTypesAndTwo,)
    assembly_format = (
        "$desc `,` $destination `` `[` $coords `]` `rows` $rows `barrier` $barrier attr-dict"
        " `:` custom<TransferTypesAndTwo>"
        "(type($desc), type($destination), type($coords), type($rows), type($barrier))"
        " `->` type($result)"
    )

    def verify_(self) -> None:
        atom = self.check_transfer(
            self.desc, self.destination, "destination", "tma_load", GATHER_MODES
        )
        check_coordinates(self, self.coords, atom.rank - 1)
        check_rows(self, self.rows.type, self.destination.type)
        self.check_load(
            atom,
            self.desc,
            self.destination,
            self.barrier,
            message("tma_to_async.gather_padding"),
        )


@memory_op
class AsyncTiledTmaStoreOp(TmaTransferOp):
    """Starts to copy a tile of shared memory to a box of the described tensor."""

    name = "nv_tileas.async.tiled_tma_store"

    LAST_SEGMENT_MAY_LACK: ClassVar[bool] = True
    REFUSED: ClassVar[tuple[str, ...]] = STORE_REFUSES

    desc: fields.Operand = fields.operand()
    source: fields.Operand = fields.operand()
    coords: fields.Operands = fields.operands()
    offsets: fields.Operands = fields.operands(default=(), kw_only=True)

    custom_directives = (Coordinates, TransferTypes)
    assembly_format = (
        "$desc `,` $source `` `[` $coords `]`"
        " (`offset` `` custom<Coordinates>($offsets, type($offsets))^)? attr-dict"
        " `:` custom<TransferTypes>(type($desc), type($source), type($coords))"
        " `->` type($result)"
    )

    def verify_(self) -> None:
        atom = self.check_transfer(
            self.desc, self.source, "source", "tma_store", TILED_MODES["tma_store"]
        )
        check_coordinates(self, self.coords, _coordinate_count(atom))
        check_offsets(self, self.offsets, atom.rank)
        self.check_rest(self.desc, self.source)


@memory_op
class AsyncScatterTmaStoreOp(TmaTransferOp):
    """Start to scatter rows of shared memory to rows of the described tensor.

    `rows` has the destination row index of each row of the source; `coords` give the first column.
    One instruction scatters four rows.
    """

    name = "nv_tileas.async.scatter_tma_store"

    REFUSED: ClassVar[tuple[str, ...]] = STORE_REFUSES

    desc: fields.Operand = fields.operand()
    source: fields.Operand = fields.operand()
    coords: fields.Operands = fields.operands()
    rows: fields.Operand = fields.operand()

    custom_directives = (TransferTypesAndOne,)
    assembly_format = (
        "$desc `,` $source `` `[` $coords `]` `rows` $rows attr-dict"
        " `:` custom<TransferTypesAndOne>(type($desc), type($source), type($coords), type($rows))"
        " `->` type($result)"
    )

    def verify_(self) -> None:
        atom = self.check_transfer(self.desc, self.source, "source", "tma_store", SCATTER_MODES)
        check_coordinates(self, self.coords, atom.rank - 1)
        check_rows(self, self.rows.type, self.source.type)
        self.check_rest(self.desc, self.source)


@memory_op
class AsyncTiledAtomicRmwOp(TmaTransferOp):
    """Start to reduce a tile of shared memory atomically into a box of the described tensor.

    The previous elements are not returned: the token only signals completion.
    """

    name = "nv_tileas.async.tiled_atomic_rmw"

    LAST_SEGMENT_MAY_LACK: ClassVar[bool] = True
    REFUSED: ClassVar[tuple[str, ...]] = STORE_REFUSES

    rmw_mode: Mode = fields.prop(RmwModeAttr, convert=mode_attribute, alias="mode")
    desc: fields.Operand = fields.operand()
    source: fields.Operand = fields.operand()
    coords: fields.Operands = fields.operands()
    offsets: fields.Operands = fields.operands(default=(), kw_only=True)

    custom_directives = (Coordinates, TransferTypes)
    assembly_format = (
        "$rmw_mode $desc `,` $source `` `[` $coords `]`"
        " (`offset` `` custom<Coordinates>($offsets, type($offsets))^)? attr-dict"
        " `:` custom<TransferTypes>(type($desc), type($source), type($coords))"
        " `->` type($result)"
    )

    def verify_(self) -> None:
        atom = self.check_transfer(
            self.desc, self.source, "source", "tma_redg", TILED_MODES["tma_redg"]
        )
        check_coordinates(self, self.coords, _coordinate_count(atom))
        check_offsets(self, self.offsets, atom.rank)
        self.check_rest(self.desc, self.source)
        check_atomic(self, self.rmw_mode.data, element_of(self.source.type))
        check_reduction(self, self.atom, self.rmw_mode.data)
        check_tma_reduction(self, self.rmw_mode.data, element_of(self.source.type))
