"""How a copy by a tensor map partitions a tensor: atoms that are not bound to a descriptor yet.

The verifier has eleven steps, in the order of `STEPS`; the first that fails is the error.  The
G-basis says for each element of a box, in the order of shared memory, which coordinate it has.
Source: CUTLASS include/cute/atom/copy_traits_sm90_tma.hpp, construct_tma_gbasis.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, cast

from xdsl.dialects.builtin import IntegerAttr, i32
from xdsl.ir import Attribute
from xdsl.irdl import IRDLOperation, operand_def, opt_prop_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute.memory.views import bit_width
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.layouts import ComposedLayoutType, LayoutType
from tileas_xdsl.dialects.cute.types.views import CoordTensorType, MemRefType
from tileas_xdsl.dialects.cute_nvgpu.atoms.syntax import integer
from tileas_xdsl.dialects.cute_nvgpu.atoms.tma_copies import (
    NonExecTiledTmaLoadType,
    NonExecTiledTmaReduceType,
    NonExecTiledTmaStoreType,
    PartitionType,
    TmaCopyType,
    TmaLoadType,
    TmaReduceType,
    TmaStoreType,
    dimensions,
)
from tileas_xdsl.dialects.cute_nvgpu.operands import Value, optional_number, value_of
from tileas_xdsl.dialects.cute_nvgpu.types import TmaDescriptorTiledType
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.layout import Layout, Swizzle, coalesce, composition, right_inverse
from tileas_xdsl.layout.axes import AxisSum
from tileas_xdsl.layout.composed import innermost
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.int_tuple import flat, product_each

__all__ = [
    "MakeExecTmaOp",
    "MakeNonExecTiledTmaLoadOp",
    "MakeNonExecTiledTmaReduceOp",
    "MakeNonExecTiledTmaStoreOp",
    "MakeTmaDescTiledOp",
]

RANKS = range(1, 6)
"""The dimensions that a tensor map may have."""


class BoxOp(IRDLOperation):
    """What is made of a tensor `gmem`, of the layout of a box of it, and of the box itself."""

    gmem = operand_def()
    smem_layout = operand_def()
    cta_v_map = operand_def()
    num_multicast = opt_prop_def(IntegerAttr.constr(i32))

    traits = traits_def(Pure())

    @property
    def smem(self) -> Layout:
        """The layout of the box, without its swizzle."""
        type_ = self.smem_layout.type
        if isinstance(type_, ComposedLayoutType):
            plain: Layout = innermost(type_.data)
            return plain
        assert isinstance(type_, LayoutType)
        return type_.data

    @property
    def global_layout(self) -> Layout:
        """The layout of the tensor."""
        type_ = self.gmem.type
        assert isinstance(type_, MemRefType)
        assert isinstance(type_.layout, Layout)
        return type_.layout

    @property
    def box(self) -> Layout:
        """What of the tensor a box is."""
        type_ = self.cta_v_map.type
        assert isinstance(type_, LayoutType)
        return type_.data

    @property
    def basis(self) -> Layout:
        """Elements in the order of shared memory to coordinates; `LayoutError` if there is none."""
        inverse = right_inverse(self.smem)
        if inverse.size() != self.smem.size():
            raise LayoutError(f"{self.smem} leaves holes or overlaps")
        return cast("Layout", coalesce(composition(self.box, inverse)))

    @property
    def share(self) -> int:
        """The elements that one copy moves: those of the box, or a part of it by multicast."""
        blocks = 1 if self.num_multicast is None else max(value_of(self.num_multicast), 1)
        return self.basis.size() // blocks


class MakePartitionOp(BoxOp):
    """An atom that partitions `gmem` by boxes, and the tensor of its coordinates."""

    gmem = operand_def()
    smem_layout = operand_def()
    cta_v_map = operand_def()
    num_multicast = opt_prop_def(IntegerAttr.constr(i32))
    atom = result_def()
    coordinates = result_def()

    assembly_format = (
        "$gmem `,` $smem_layout `,` $cta_v_map (`multicast` $num_multicast^)? attr-dict"
        " `:` type($gmem) `,` type($smem_layout) `,` type($cta_v_map)"
        " `->` type($atom) `,` type($coordinates)"
    )

    def __init__(
        self,
        gmem: Value,
        smem_layout: Value,
        cta_v_map: Value,
        types: tuple[Attribute, Attribute],
        num_multicast: int | None = None,
    ) -> None:
        super().__init__(
            operands=[gmem, smem_layout, cta_v_map],
            result_types=[*types],
            properties={"num_multicast": optional_number(num_multicast)},
        )

    def verify_(self) -> None:
        if not isinstance(self.atom.type, PartitionType):
            raise op_error(self, f"makes an atom that partitions, not {self.atom.type}")
        self.check_kind(self.atom.type)
        for step in STEPS:
            step(self)

    def check_kind(self, atom: PartitionType) -> None:
        """The atom is of the family of the operation."""

    @property
    def partition(self) -> PartitionType:
        """The type of the atom."""
        type_ = self.atom.type
        assert isinstance(type_, PartitionType)
        return type_


def _quoted(*types: Attribute) -> str:
    return " and ".join(f"'{type_}'" for type_ in types)


def _fail(op: BoxOp, key: str, *types: Attribute) -> None:
    raise op_error(op, message(key, types=_quoted(*types)))


def _operands(op: BoxOp) -> None:
    type_ = op.gmem.type
    is_tensor = isinstance(type_, MemRefType) and type_.space is AddressSpace.GMEM
    if not is_tensor or not isinstance(op.cta_v_map.type, LayoutType):
        _fail(op, "cute_nvgpu.tma_partition.operands", type_, op.cta_v_map.type)


def _smem_kind(op: BoxOp) -> None:
    if not isinstance(op.smem_layout.type, LayoutType | ComposedLayoutType):
        key = "cute_nvgpu.tma_partition.smem_layout"
        _fail(op, key, op.smem_layout.type)


def _gmem_kind(op: BoxOp) -> None:
    type_ = op.gmem.type
    if isinstance(type_, MemRefType) and not isinstance(type_.layout, Layout):
        _fail(op, "cute_nvgpu.tma_partition.gmem_layout", type_)


def _has_bases(layout: Layout) -> bool:
    return any(isinstance(stride, AxisSum) for stride in flat(layout.stride))


def _integer_strides(op: BoxOp) -> None:
    if _has_bases(op.global_layout) or _has_bases(op.smem):
        key = "cute_nvgpu.tma_partition.integer_strides"
        _fail(op, key, op.gmem.type, op.smem_layout.type)


def _swizzled(op: BoxOp) -> None:
    type_ = op.smem_layout.type
    if isinstance(type_, ComposedLayoutType) and not isinstance(type_.data.outer, Swizzle):
        _fail(op, "cute_nvgpu.tma_partition.swizzle", type_)


def _is_static(layout: Layout) -> bool:
    leaves: Sequence[Any] = (*flat(layout.shape), *flat(layout.stride))
    return all(isinstance(leaf, int | AxisSum) for leaf in leaves)


def _static(op: BoxOp) -> None:
    if not _is_static(op.smem) or not _is_static(op.box):
        key = "cute_nvgpu.tma_partition.static"
        _fail(op, key, op.smem_layout.type, op.cta_v_map.type)


def _same_shape(op: BoxOp) -> None:
    if _extents(op.smem) != _extents(op.box):
        key = "cute_nvgpu.tma_partition.shapes"
        _fail(op, key, op.smem_layout.type, op.cta_v_map.type)


def _extents(layout: Layout) -> tuple[int, ...]:
    """The sizes of the top-level modes."""
    return tuple(product_each(layout.shape))


def _basis(op: BoxOp) -> None:
    try:
        _ = op.basis
    except LayoutError:
        _fail(op, "cute_nvgpu.tma_partition.basis", op.smem_layout.type)


def _valid(op: MakePartitionOp) -> None:
    """The atom says the basis and the bits of a box that were computed; several blocks share it."""
    type_, basis, declared = op.gmem.type, op.basis, op.partition
    assert isinstance(type_, MemRefType)
    count = op.share if declared.is_multicast else basis.size()
    bits = count * (bit_width(type_.element_type) or 0)
    same = declared.basis.data == basis and integer(declared.bits) == bits
    if not same or declared.value_type != type_.element_type:
        _fail(op, "cute_nvgpu.tma_partition.layout", LayoutType(basis))


def _tensor(op: MakePartitionOp) -> None:
    """A coordinate for each mode of the tensor, its number in the tensor map as the basis."""
    expected = _coordinates(op.global_layout, op.basis)
    type_ = op.coordinates.type
    if expected is None or not isinstance(type_, CoordTensorType) or type_.layout != expected:
        raise op_error(op, message("cute_nvgpu.tma_partition.tensor"))


def _coordinates(gmem: Layout, basis: Layout) -> Layout | None:
    """The layout of the tensor of coordinates; None if no tensor map has its dimensions."""
    modes = [str(mode) for mode in range(gmem.rank)]
    if gmem.rank not in RANKS:
        return None
    order = list(dict.fromkeys([*dimensions(basis), *modes]))
    if sorted(order) != sorted(modes):
        return None
    strides = tuple(AxisSum(((str(order.index(mode)), 1),)) for mode in modes)
    shape = gmem.shape if isinstance(gmem.shape, tuple) else (gmem.shape,)
    return Layout(shape, strides)


def _multicast(op: MakePartitionOp) -> None:
    atom, asked = op.partition, op.num_multicast
    if not isinstance(atom, NonExecTiledTmaLoadType):
        return
    if atom.is_multicast:
        if asked is None or value_of(asked) < 1:
            raise op_error(op, message("nv_tileas.tma.num_multicast"))
    elif asked is not None and value_of(asked) != 1:
        text = message("cute_nvgpu.tma_partition.num_multicast", count=value_of(asked))
        raise op_error(op, text)


BOX_STEPS: Sequence[Callable[[BoxOp], None]] = (
    _operands,
    _smem_kind,
    _gmem_kind,
    _integer_strides,
    _swizzled,
    _static,
    _same_shape,
    _basis,
)
"""Those that are about the tensor and the box."""

STEPS: Sequence[Callable[[MakePartitionOp], None]] = (*BOX_STEPS, _valid, _tensor, _multicast)
"""The steps of the verifier, in their order."""


@irdl_op_definition
class MakeTmaDescTiledOp(BoxOp):
    """The tensor map of boxes of a tensor, as a partition makes one."""

    name = "cute_nvgpu.make_tma_desc_tiled"
    gmem = operand_def()
    smem_layout = operand_def()
    cta_v_map = operand_def()
    num_multicast = opt_prop_def(IntegerAttr.constr(i32))
    result = result_def(TmaDescriptorTiledType())

    assembly_format = (
        "$gmem `,` $smem_layout `,` $cta_v_map (`multicast` $num_multicast^)? attr-dict"
        " `:` type($gmem) `,` type($smem_layout) `,` type($cta_v_map)"
    )

    def __init__(
        self, gmem: Value, smem_layout: Value, cta_v_map: Value, num_multicast: int | None = None
    ) -> None:
        super().__init__(
            operands=[gmem, smem_layout, cta_v_map],
            result_types=[TmaDescriptorTiledType()],
            properties={"num_multicast": optional_number(num_multicast)},
        )

    def verify_(self) -> None:
        for step in BOX_STEPS:
            step(self)
        if self.num_multicast is not None and self.basis.size() % self.share:
            raise op_error(self, f"shares {self.basis.size()} elements evenly by multicast")


@irdl_op_definition
class MakeNonExecTiledTmaLoadOp(MakePartitionOp):
    """The atom of loads."""

    name = "cute_nvgpu.atom.make_non_exec_tiled_tma_load"

    def check_kind(self, atom: PartitionType) -> None:
        if not isinstance(atom, NonExecTiledTmaLoadType):
            raise op_error(self, message("nv_tileas.tma.load_atom"))


@irdl_op_definition
class MakeNonExecTiledTmaStoreOp(MakePartitionOp):
    """The atom of stores."""

    name = "cute_nvgpu.atom.make_non_exec_tiled_tma_store"

    def check_kind(self, atom: PartitionType) -> None:
        if not isinstance(atom, NonExecTiledTmaStoreType):
            raise op_error(self, message("nv_tileas.tma.store_atom"))


@irdl_op_definition
class MakeNonExecTiledTmaReduceOp(MakePartitionOp):
    """The atom of reductions."""

    name = "cute_nvgpu.atom.make_non_exec_tiled_tma_reduce"

    def check_kind(self, atom: PartitionType) -> None:
        if not isinstance(atom, NonExecTiledTmaReduceType):
            raise op_error(self, message("nv_tileas.tma.reduce_atom"))


_EXECUTED: Sequence[tuple[type[PartitionType], type[TmaCopyType]]] = (
    (NonExecTiledTmaLoadType, TmaLoadType),
    (NonExecTiledTmaStoreType, TmaStoreType),
    (NonExecTiledTmaReduceType, TmaReduceType),
)


@irdl_op_definition
class MakeExecTmaOp(FieldsOp):
    """The atom that executes what another one partitions: same family, elements, box."""

    name = "cute_nvgpu.atom.make_exec_tma"

    source: fields.Operand = fields.operand()
    atom: fields.Result[Attribute] = fields.typed_result()

    traits = traits_def(Pure())
    assembly_format = "$source attr-dict `:` type($source) `->` type($atom)"

    def verify_(self) -> None:
        given, made = self.source.type, self.atom.type
        for source, target in _EXECUTED:
            if not isinstance(given, source) or not isinstance(made, target):
                continue
            kept = [(type_.value_type, type_.bits, type_.basis) for type_ in _pair(given, made)]
            if kept[0] != kept[1]:
                raise op_error(self, f"executes {given}, with its elements and box, not {made}")
            return
        raise op_error(self, f"makes a copy of its partition, not {made} of {given}")


def _pair(given: Any, made: Any) -> tuple[Any, Any]:
    return given, made
