"""Moving whole buffers: copies of regions, fills, and fragments in other layouts."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import ClassVar, TypeAlias

from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    DenseArrayBase,
    IndexType,
    IntegerAttr,
    IntegerType,
    MemRefType,
    UnitAttr,
    i64,
)
from xdsl.ir import SSAValue
from xdsl.irdl import (
    AnyAttr,
    VarConstraint,
    opt_prop_def,
)

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.tl.attributes import FragmentAttr
from tileas_xdsl.dialects.tl.base import (
    BUFFER,
    check_scope,
    check_static,
    element_of,
    extents_text,
    number,
    scope_of,
    shape_of,
)
from tileas_xdsl.dialects.tl.checks import (
    check_in_kernel,
    check_indices,
    check_layout,
    check_not_in_loop,
    check_same_shape,
    check_vector,
)
from tileas_xdsl.dialects.tl.directives import Extents, Offsets
from tileas_xdsl.dialects.tl.elements import is_convertible
from tileas_xdsl.inference.program import Scope

_ANYWHERE = (Scope.GLOBAL, Scope.SHARED, Scope.FRAGMENT)

_Extents: TypeAlias = "fields.Field[DenseArrayBase[IntegerType] | None, Sequence[int] | None]"
_OptFragment: TypeAlias = fields.Field[FragmentAttr | None, FragmentAttr | None]


@dataclass(frozen=True)
class Side:
    """The region of a buffer that a copy reads or writes.

    Dimension `k` of the buffer has the index `offsets[k]` (0 without offsets) plus the variable
    number `variables[k]` of the loop of the copy, None where the region is one element thick.
    """

    buffer: SSAValue
    offsets: Sequence[SSAValue]
    variables: tuple[int | None, ...]


@irdl_op_definition
class CopyOp(FieldsOp):
    """`tl.copy %A[%y, %k] to %As`: the elements of a region, converted to those of the target.

    The extents are those of the side that is not in global memory, else of the smaller one;
    `extents` gives others, one for each dimension of the side with more of them.  The other side
    has the same extents but for ones.  What is outside of global memory reads as 0, and is not
    written; no other region may leave its buffer.
    """

    name = "tl.copy"

    source: fields.Operand = fields.operand(BUFFER)
    target: fields.Operand = fields.operand(BUFFER, position=2)
    source_offsets: fields.Operands = fields.operands(IndexType(), default=())
    target_offsets: fields.Operands = fields.operands(IndexType(), default=())
    extents: _Extents = fields.opt_prop(
        DenseArrayBase.constr(i64), default=None, convert=partial(DenseArrayBase.from_list, i64)
    )
    layout: _OptFragment = fields.opt_prop(FragmentAttr, default=None)
    vector = opt_prop_def(IntegerAttr.constr(i64))
    runs_once = opt_prop_def(UnitAttr)
    is_padded = opt_prop_def(UnitAttr)
    coalesced_width = opt_prop_def(IntegerAttr.constr(i64))

    custom_directives = (Offsets, Extents)
    assembly_format = (
        "$source `` custom<Offsets>($source_offsets) `to` "
        "$target `` custom<Offsets>($target_offsets) "
        "custom<Extents>($extents) attr-dict `:` type($source) `to` type($target)"
    )

    @property
    def region_extents(self) -> tuple[int, ...]:
        """The extents of the region, one for each dimension of the side with more of them."""
        if self.extents is not None:
            return tuple(int(n) for n in self.extents.get_values())
        shape = shape_of(self._whole_side().type)
        rank = max(len(shape_of(side.type)) for side in (self.source, self.target))
        return (*[1] * (rank - len(shape)), *shape)

    @property
    def loop_extents(self) -> tuple[int, ...]:
        """The extents of the loop that copies: those of the side with fewer dimensions."""
        return tuple(self.region_extents[k] for k in self._kept())

    @property
    def fills_target(self) -> bool:
        """Whether every element of the target is written; offsets may be stated as zeros."""
        is_at_start = all(constant_integer(offset) == 0 for offset in self.target_offsets)
        return is_at_start and prod(self.region_extents) == prod(shape_of(self.target.type))

    @property
    def source_side(self) -> Side:
        """What is read."""
        return self._side(self.source, self.source_offsets)

    @property
    def target_side(self) -> Side:
        """What is written."""
        return self._side(self.target, self.target_offsets)

    def _whole_side(self) -> SSAValue:
        """The side whose extents are copied: not in global memory, or else with fewer elements."""
        sides = (self.target, self.source)
        inside = [side for side in sides if scope_of(side.type) is not Scope.GLOBAL] or sides
        known = [side for side in inside if DYNAMIC_INDEX not in shape_of(side.type)] or inside
        return min(known, key=lambda side: prod(shape_of(side.type)))

    def _kept(self) -> Sequence[int]:
        """The dimensions of the region that the side with fewer dimensions has: ones go first."""
        extents = self.region_extents
        surplus = len(extents) - min(len(shape_of(s.type)) for s in (self.source, self.target))
        dropped = [k for k, extent in enumerate(extents) if extent == 1][:surplus]
        return [k for k in range(len(extents)) if k not in dropped]

    def _side(self, buffer: SSAValue, offsets: Sequence[SSAValue]) -> Side:
        kept = self._kept()
        rank = len(shape_of(buffer.type))
        if rank == len(kept):
            return Side(buffer, offsets, tuple(range(rank)))
        return Side(
            buffer, offsets, tuple(kept.index(k) if k in kept else None for k in range(rank))
        )

    def verify_(self) -> None:
        kernel = check_in_kernel(self)
        check_not_in_loop(self)
        for what, side in (("a source", self.source), ("a target", self.target)):
            check_scope(self, what, side.type, _ANYWHERE)
        for buffer, offsets in (
            (self.source, self.source_offsets),
            (self.target, self.target_offsets),
        ):
            if offsets:
                check_indices(self, buffer, offsets)
        self._check_region()
        source, target = element_of(self.source.type), element_of(self.target.type)
        if not is_convertible(source, target):
            raise op_error(self, f"converts no {source} to {target}")
        check_vector(self, self.vector)
        check_vector(self, self.coalesced_width)
        check_layout(self, self.layout, self.loop_extents, kernel.thread_count)

    def _check_region(self) -> None:
        whole = self._whole_side()
        offsets = self.source_offsets if whole is self.source else self.target_offsets
        if self.extents is None and offsets:
            raise op_error(self, f"copies how much of {whole.type}? Say it: extents(...)")
        extents = self.region_extents
        ranks = [len(shape_of(side.type)) for side in (self.source, self.target)]
        if len(extents) != max(ranks):
            raise op_error(self, f"has {len(extents)} extents for {max(ranks)} dimensions")
        if any(n < 1 for n in extents):
            text = extents_text(extents)
            raise op_error(self, f"copies a region of known extents of 1 or more, not {text}")
        if len(self._kept()) != min(ranks):
            text = f"of {extents_text(extents)} has no region in {min(ranks)} dimensions"
            raise op_error(self, text)
        for side in (self.source_side, self.target_side):
            self._check_fits(side)

    def _check_fits(self, side: Side) -> None:
        if scope_of(side.buffer.type) is Scope.GLOBAL:
            return
        shape, loop = shape_of(side.buffer.type), self.loop_extents
        check_static(self, "a buffer of the block", side.buffer.type)
        wanted = tuple(1 if k is None else loop[k] for k in side.variables)
        if any(n > m for n, m in zip(wanted, shape, strict=True)):
            text = f"copies {extents_text(wanted)}, which {side.buffer.type} does not have"
            raise op_error(self, text)


@irdl_op_definition
class FillOp(FieldsOp):
    """`tl.fill %c, %value`: every element of a buffer is one value."""

    name = "tl.fill"

    T: ClassVar = VarConstraint("T", AnyAttr())

    buffer: fields.Operand = fields.operand(MemRefType.constr(T))
    value: fields.Operand = fields.operand(T)
    layout: _OptFragment = fields.opt_prop(FragmentAttr, default=None)
    vector = opt_prop_def(IntegerAttr.constr(i64))
    runs_once = opt_prop_def(UnitAttr)
    is_padded = opt_prop_def(UnitAttr)

    assembly_format = "$buffer `,` $value attr-dict `:` type($buffer)"

    @property
    def loop_extents(self) -> tuple[int, ...]:
        """The extents of the loop that fills."""
        return shape_of(self.buffer.type)

    def verify_(self) -> None:
        kernel = check_in_kernel(self)
        check_not_in_loop(self)
        check_scope(self, "a buffer", self.buffer.type, (*_ANYWHERE, Scope.LOCAL))
        check_static(self, "a buffer", self.buffer.type)
        check_vector(self, self.vector)
        check_layout(self, self.layout, self.loop_extents, kernel.thread_count)


@irdl_op_definition
class ConvertLayoutOp(FieldsOp):
    """The same elements in a fragment of another layout; `cost` is in cycles of the block."""

    name = "tl.convert_layout"

    source: fields.Operand = fields.operand(BUFFER)
    target: fields.Operand = fields.operand(BUFFER)
    cost: fields.OptInt = fields.opt_prop(IntegerAttr.constr(i64), default=None, convert=number)

    assembly_format = "$source `to` $target attr-dict `:` type($source) `to` type($target)"

    def verify_(self) -> None:
        check_in_kernel(self)
        check_not_in_loop(self)
        check_scope(self, "a source", self.source.type, (Scope.FRAGMENT,))
        check_scope(self, "a target", self.target.type, (Scope.FRAGMENT,))
        check_same_shape(self, "converts", self.source.type, self.target.type)
        if element_of(self.source.type) != element_of(self.target.type):
            raise op_error(self, "keeps the elements: tl.copy converts them")
