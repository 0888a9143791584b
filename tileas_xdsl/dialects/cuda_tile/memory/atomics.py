"""Updates of memory that no other access can come between."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, NoneAttr
from xdsl.ir import Attribute
from xdsl.irdl import (
    operand_def,
    opt_operand_def,
    opt_prop_def,
    prop_def,
    result_def,
    var_operand_def,
)
from xdsl.parser import Parser
from xdsl.printer import Printer

from tileas_xdsl.dialects.cuda_tile.base import CudaTileOp, cuda_tile_op
from tileas_xdsl.dialects.cuda_tile.constraints import (
    I1_TILE,
    INT_TILE,
    POINTER_TILE,
    TILE,
    TILE_VIEW,
    TOKEN,
)
from tileas_xdsl.dialects.cuda_tile.enums import (
    AtomicRMWMode,
    AtomicRMWModeAttr,
    MemoryOrderingSemantics,
    MemoryOrderingSemanticsAttr,
    MemoryScope,
    MemoryScopeAttr,
)
from tileas_xdsl.dialects.cuda_tile.matches import same_shape, same_type, shape_of
from tileas_xdsl.dialects.cuda_tile.memory.access_checks import (
    check_atomic_mode,
    check_atomic_order,
    check_compared,
    order_of,
    pointee_of,
)
from tileas_xdsl.dialects.cuda_tile.memory.access_directives import (
    Scoped,
    TokenIn,
    parse_access,
    parse_token,
    print_access,
)
from tileas_xdsl.dialects.cuda_tile.memory.indexed import (
    INBOUNDS,
    SEGMENT_SIZES,
    flags_of,
    parse_attributes,
    parse_inbounds,
    parse_indexed,
    parse_values,
    print_attributes,
    print_inbounds,
    print_indexed,
    print_token,
    print_types_of,
    segments,
)
from tileas_xdsl.dialects.cuda_tile.memory.view_checks import quoted
from tileas_xdsl.dialects.cuda_tile.syntax.directives import (
    Mode,
    OptionalType,
    SameType2,
    Type,
    parse_word,
)
from tileas_xdsl.dialects.cuda_tile.syntax.short_forms import parse_type, print_type
from tileas_xdsl.dialects.cuda_tile.types.tile_types import element_of, listed
from tileas_xdsl.dialects.cuda_tile.types.view_types import GatherScatterViewType, TileView

_ORDERED = "custom<Scoped>($memory_ordering_semantics, $memory_scope) $pointers `,`"
_TOKEN = "(`,` $mask^)? custom<TokenIn>($token, type($token)) attr-dict"
_TYPES = (
    "custom<OptionalType>(type($mask)) `->` custom<Type>(type($result)) `,`"
    " custom<Type>(type($result_token))"
)


def _check_pointee(op: CudaTileOp, pointers: Attribute, name: str, value: Attribute) -> None:
    """The addresses are those of such values."""
    pointee, element = pointee_of(pointers), element_of(value)
    if pointee != element:
        raise op.refuse(
            "cuda_tile.atomic.pointee",
            pointee=quoted(pointee),
            operand=name,
            element=quoted(element),
        )


@cuda_tile_op
class AtomicCasTkoOp(CudaTileOp):
    """Where memory holds `cmp` it is set to `val`; the result is what it held before."""

    name = "cuda_tile.atomic_cas_tko"

    memory_ordering_semantics = prop_def(MemoryOrderingSemanticsAttr)
    memory_scope = prop_def(MemoryScopeAttr)
    pointers = operand_def(POINTER_TILE)
    cmp = operand_def(TILE)
    val = operand_def(TILE)
    mask = opt_operand_def(I1_TILE)
    token = opt_operand_def(TOKEN)
    result = result_def(TILE)
    result_token = result_def(TOKEN)

    custom_directives = (OptionalType, SameType2, Scoped, TokenIn, Type)
    MATCHES: ClassVar = (
        same_shape("pointers", "cmp", "val", "result"),
        same_type("cmp", "val", "result"),
    )
    assembly_format = (
        f"{_ORDERED} $cmp `,` $val {_TOKEN} `:` custom<Type>(type($pointers)) `,`"
        f" custom<SameType2>(type($cmp), type($val)) {_TYPES}"
    )

    def check(self) -> None:
        _check_pointee(self, self.pointers.type, "val", self.val.type)
        check_compared(self, element_of(self.val.type))
        if self.mask is not None and shape_of(self.mask.type) != shape_of(self.val.type):
            raise self.refuse("cuda_tile.atomic_cas.mask")
        check_atomic_order(self)


@cuda_tile_op
class AtomicRmwTkoOp(CudaTileOp):
    """Combine memory with `arg` atomically, as `mode` specifies; the result is the old value."""

    name = "cuda_tile.atomic_rmw_tko"

    memory_ordering_semantics = prop_def(MemoryOrderingSemanticsAttr)
    memory_scope = prop_def(MemoryScopeAttr)
    pointers = operand_def(POINTER_TILE)
    mode = prop_def(AtomicRMWModeAttr)
    arg = operand_def(TILE)
    mask = opt_operand_def(I1_TILE)
    token = opt_operand_def(TOKEN)
    result = result_def(TILE)
    result_token = result_def(TOKEN)

    custom_directives = (Mode, OptionalType, Scoped, TokenIn, Type)
    MATCHES: ClassVar = (same_shape("pointers", "arg", "result"), same_type("arg", "result"))
    assembly_format = (
        f"{_ORDERED} custom<Mode>($mode) `,` $arg {_TOKEN} `:` custom<Type>(type($pointers)) `,`"
        f" custom<Type>(type($arg)) {_TYPES}"
    )

    def check(self) -> None:
        _check_pointee(self, self.pointers.type, "arg", self.arg.type)
        if self.mask is not None and shape_of(self.mask.type) != shape_of(self.arg.type):
            raise self.refuse("cuda_tile.atomic_rmw.mask")
        check_atomic_mode(self, self.mode.data, element_of(self.arg.type))
        check_atomic_order(self)


_PRINTED = ("memory_ordering_semantics", "memory_scope", "mode", SEGMENT_SIZES)


@cuda_tile_op
class AtomicRedViewTkoOp(CudaTileOp):
    """Combine a tile of a view with `value` atomically; the old elements are not returned."""

    name = "cuda_tile.atomic_red_view_tko"

    memory_ordering_semantics = prop_def(MemoryOrderingSemanticsAttr)
    memory_scope = prop_def(MemoryScopeAttr)
    mode = prop_def(AtomicRMWModeAttr)
    inbounds = opt_prop_def(DenseArrayBase)
    """Along which dimensions the tile is known to be in bounds; since 13.5, else along none."""
    view = operand_def(TILE_VIEW)
    index = var_operand_def(INT_TILE)
    value = operand_def(TILE)
    token = opt_operand_def(TOKEN)
    result_token = result_def(TOKEN)

    @classmethod
    def parse(cls, parser: Parser) -> AtomicRedViewTkoOp:
        semantics, scope = parse_access(parser)
        indexed = parse_indexed(parser)
        parser.parse_punctuation(",")
        mode = parse_word(parser, AtomicRMWModeAttr, "cuda_tile.atomic.unknown_mode")
        parser.parse_punctuation(",")
        value = parser.parse_unresolved_operand()
        token = parse_token(parser)
        known = parse_inbounds(parser, indexed)
        attributes = parse_attributes(parser, (*_PRINTED, INBOUNDS))
        parser.parse_punctuation(":")
        stored = parser.resolve_operand(value, parse_type(parser))
        parser.parse_punctuation(",")
        values = parse_values(parser, indexed, token)
        parser.parse_punctuation("->")
        properties: dict[str, Attribute] = {
            "memory_ordering_semantics": semantics,
            "mode": mode,
            SEGMENT_SIZES: segments(1, len(values.indices), 1, len(values.token)),
        }
        if scope is not None:
            properties["memory_scope"] = scope
        if any(flags_of(known)):
            properties[INBOUNDS] = known
        return cls.create(
            operands=[values.view, *values.indices, stored, *values.token],
            result_types=[parse_type(parser)],
            properties=properties,
            attributes=attributes,
        )

    def print(self, printer: Printer) -> None:
        print_access(printer, self.memory_ordering_semantics, self.memory_scope)
        printer.print_string(" ")
        print_indexed(printer, self.view, self.index)
        printer.print_string(f", {self.mode.data}, ")
        printer.print_ssa_value(self.value)
        print_token(printer, self.token)
        if self.inbounds is not None:
            print_inbounds(printer, self.inbounds)
        print_attributes(printer, self)
        printer.print_string(" : ")
        print_type(printer, self.value.type)
        printer.print_string(", ")
        print_types_of(printer, self.view, self.index)
        printer.print_string(" -> ")
        print_type(printer, self.result_token.type)

    def check(self) -> None:
        view = self.view.type
        assert isinstance(view, TileView)
        self._check_view(view)
        self._check_value(view)
        self._check_order()
        self._check_index(view.index_rank)

    def _check_view(self, view: TileView) -> None:
        if isinstance(view, GatherScatterViewType):
            raise self.refuse("cuda_tile.atomic_red.gather")
        if not isinstance(view.padding_value, NoneAttr):
            raise self.refuse("cuda_tile.atomic_red.padding")

    def _check_value(self, view: TileView) -> None:
        tile, value = view.tile_type, self.value.type
        if tile.element_type != element_of(value):
            elements = (quoted(tile.element_type), quoted(element_of(value)))
            raise self.refuse("cuda_tile.atomic_red.element", view=elements[0], value=elements[1])
        if tile.get_shape() != shape_of(value):
            shapes = (listed(tile.get_shape()), listed(shape_of(value)))
            raise self.refuse("cuda_tile.atomic_red.shape", view=shapes[0], value=shapes[1])

    def _check_order(self) -> None:
        if self.mode.data is AtomicRMWMode.XCHG:
            raise self.refuse("cuda_tile.atomic_red.xchg")
        check_atomic_mode(self, self.mode.data, element_of(self.value.type))
        if order_of(self) is not MemoryOrderingSemantics.RELAXED:
            raise self.refuse("cuda_tile.atomic_red.relaxed")
        if self.memory_scope.data is MemoryScope.SYS:
            raise self.refuse("cuda_tile.atomic_red.sys")

    def _check_index(self, rank: int) -> None:
        types: Sequence[Attribute] = [value.type for value in self.index]
        if len(types) != rank:
            raise self.refuse("cuda_tile.atomic_red.index_count", expected=rank, given=len(types))
        for position, type_ in enumerate(types):
            if shape_of(type_):
                raise self.refuse(
                    "cuda_tile.atomic_red.index_rank", index=position, shape=listed(shape_of(type_))
                )
