"""Expand a planned layout conversion to the operations that carry it out.

    %y = convert_layout %x : #r0 -> #r1              between registers of threads:

    by shuffles      %y = shuffle %x {atom_plan}
    by memory        %m = alloc_tensor : #shared; copy %x, %m {atom = sts}
                     %y = convert_layout %m {atom_plan} : #shared -> #r1

Narrow floats are moved as bytes where the plan says so (`reinterpret` before and behind).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.dialects.builtin import (
    AnyFloat,
    DictionaryAttr,
    IntegerAttr,
    TensorType,
    UnitAttr,
    i8,
)
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter
from xdsl.rewriter import InsertPoint

from tileas_xdsl.analysis.layouts.layout_flow import ATOM_PLAN
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.nv_tileas.attributes import (
    AtomAttr,
    LayoutAttr,
    LinearEncoding,
    SharedEncoding,
)
from tileas_xdsl.dialects.nv_tileas.memory.copy import CopyOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp, ReinterpretOp, ShuffleOp
from tileas_xdsl.dialects.nv_tileas.shapes.slices import AllocTensorOp
from tileas_xdsl.dialects.nv_tileas.spaces import Tile
from tileas_xdsl.dialects.nv_tileas.tile_operands import as_tile
from tileas_xdsl.layout.errors import LayoutError
from tileas_xdsl.layout.layout import Layout
from tileas_xdsl.layout.memory.memory_layout import MemoryLayout
from tileas_xdsl.layout.units import BYTE_BITS
from tileas_xdsl.transforms.materialize_convert_layout.plans import (
    COPY_BYTES,
    REGISTERS,
    ConversionPlan,
    bytes_of_pairs,
    fragment_of,
)

ROOT = "nv_tileas.root_reg_to_reg_copy_op"

PAIR = 4
"""Bits of elements two of which are a byte."""


@dataclass(frozen=True)
class PlannedConversion:
    """A conversion, between which types it is done, and how."""

    op: ConvertLayoutOp
    source: Tile
    result: Tile
    """Types of bytes where the elements are read as those."""
    plan: ConversionPlan

    def expand(self, rewriter: PatternRewriter, max_bytes: int) -> None:
        """Replace the conversion."""
        made: list[Operation] = []
        value = self.op.source
        if value.type != self.source:
            value = _added(made, ReinterpretOp(value, self.source))
        value = self._converted(made, value, max_bytes)
        if value.type != self.op.result.type:
            back = ReinterpretOp(value, self.op.result.type, reinterpret_byte=True)
            value = _added(made, back)
        value.name_hint = self.op.result.name_hint
        rewriter.insert(made, InsertPoint.before(self.op))
        rewriter.replace(self.op, [], [value])

    def _converted(self, made: list[Operation], value: SSAValue, max_bytes: int) -> SSAValue:
        plan = self.plan
        if plan.tag == REGISTERS:
            kind = ShuffleOp if plan.kind == "shuffle" else ConvertLayoutOp
            moved = kind(value, self.result)
            moved.attributes[ATOM_PLAN] = _description(plan)
            if max_bytes < COPY_BYTES:
                moved.attributes[ROOT] = UnitAttr()
            return _added(made, moved)
        if plan.store:
            value = _stored(made, value, self.result, plan)
        if not plan.load:
            return value
        read = ConvertLayoutOp(value, self.result)
        read.attributes[ATOM_PLAN] = _description(plan)
        return _added(made, read)


def _added(made: list[Operation], op: Operation) -> SSAValue:
    made.append(op)
    return op.results[0]


def _stored(
    made: list[Operation], value: SSAValue, result: Attribute, plan: ConversionPlan
) -> SSAValue:
    """The tile in new shared memory; the copy is done for all threads and for TMA when it ends."""
    tile, kept = as_tile(value.type), as_tile(result)
    assert tile is not None
    assert kept is not None
    assert plan.smem is not None
    type_ = TensorType(tile.element_type, tile.get_shape(), SharedEncoding(plan.smem))
    memory = _added(made, AllocTensorOp(type_ if plan.load else kept))
    copy = CopyOp(value, memory, atom=AtomAttr.of(plan.store))
    if not plan.load:
        copy.attributes[ATOM_PLAN] = _description(plan)
    made.append(copy)
    return memory


def _description(plan: ConversionPlan) -> DictionaryAttr:
    """What later passes may know of the plan: its tag, its shared memory, one of its accesses."""
    entries: dict[str, Attribute] = {"tag": IntegerAttr(plan.tag, 32)}
    if plan.smem is not None:
        entries["smem_layout"] = LayoutAttr(plan.smem)
    entries["atom_layout"] = LayoutAttr(MemoryLayout(Layout((plan.vector,), (1,))))
    if word := plan.load or plan.store:
        entries["atom"] = AtomAttr.of(word)
    return DictionaryAttr(entries)


def as_bytes(type_: Tile, threads: int) -> Tile | None:
    """The type of the same tile in bytes; None where its elements are no narrow floats.

    Elements of 8 bits stay where they are, two of 4 bits must be in one byte.
    """
    element, shape = type_.element_type, type_.get_shape()
    if not isinstance(element, AnyFloat):
        return None
    if element.bitwidth == BYTE_BITS:
        return TensorType(i8, shape, type_.encoding)
    if element.bitwidth != PAIR:
        return None
    try:
        fragment = fragment_of(type_, threads)
        packed = None if fragment is None else bytes_of_pairs(fragment)
    except LayoutError:
        return None
    return None if packed is None else TensorType(i8, packed.shape, LinearEncoding(packed.layout))


def reinterpreted(types: Sequence[Tile], threads: int) -> Sequence[Tile]:
    """Source and result in bytes; as they are where one of them is not."""
    source, result = (as_bytes(type_, threads) for type_ in types)
    return types if source is None or result is None else (source, result)
