"""Values of `cute` while a function is converted: pointers, integers, and views of registers.

A view of memory is a pointer and the numbers of its layout that run time knows; what its type says
needs no value.  Operations are replaced where they stand, and what is left of them is erased at the
end.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute import (
    AddressSpace,
    IntToPtrOp,
    PtrAddOp,
    PtrToIntOp,
    PtrType,
    RecastPtrOp,
)
from tileas_xdsl.dialects.cute.base.symbolic_values import (
    Handle,
    Number,
    Pointer,
    View,
    is_integer,
    leaf_of,
    numbers,
    symbol,
)
from tileas_xdsl.dialects.cute.types.elements import element_bits, integer_bits
from tileas_xdsl.dialects.cute.types.views import DescIterType, MemRefType
from tileas_xdsl.dialects.cute_nvgpu import SmemDescAddOp
from tileas_xdsl.layout import NO_SWIZZLE, Swizzle
from tileas_xdsl.layout.expr.expression import Expression, Variable, width_of
from tileas_xdsl.threads.index.expression_codegen import ARITH, NumberEmitter
from tileas_xdsl.transforms.cute_lowering.lowering_state import pointer_of
from tileas_xdsl.transforms.cute_to_nvgpu.copies.tensor_maps import TensorMaps
from tileas_xdsl.transforms.cute_to_nvgpu.register_file import (
    RegisterFile,
    RegisterView,
)

DESCRIPTOR_UNIT = 16
"""Bytes that views of descriptors count in."""

TENSOR_BITS = 32
"""Of an element of tensor memory: a column of one lane."""

Handler: TypeAlias = "Callable[[Any, Converter], None]"


@dataclass
class Converter:
    """One function while its operations of `cute` are replaced."""

    handlers: Callable[[Operation], Handler | None]
    """By operation, what replaces it; None for one that stays."""
    at: Operation
    """Code is written in front of it."""
    maps: TensorMaps
    smem_bytes: int = 0
    """Dynamic shared memory that is taken."""
    pointers: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """By a view of memory, the pointer to its first element."""
    tensors: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """By a view of tensor memory, its address."""
    descriptors: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    """By a view of descriptors, the first of them."""
    atoms: dict[SSAValue, Mapping[str, SSAValue]] = field(
        default_factory=dict[SSAValue, Mapping[str, SSAValue]]
    )
    """By an atom, its values of run time."""
    in_flight: list[SSAValue] = field(default_factory=list[SSAValue])
    """Allocations of registers that products write until a wait."""
    views: dict[SSAValue, RegisterView] = field(default_factory=dict[SSAValue, RegisterView])
    leaves: dict[SSAValue, Sequence[SSAValue]] = field(
        default_factory=dict[SSAValue, Sequence[SSAValue]]
    )
    dead: list[Operation] = field(default_factory=list[Operation])
    registers: RegisterFile = field(init=False)
    numbers: NumberEmitter = field(init=False)

    def __post_init__(self) -> None:
        self.registers = RegisterFile(self.insert)
        self.numbers = NumberEmitter(ARITH, self.insert, self._leaf)

    # Walking

    def run(self, block: Block) -> None:
        """Replace the operations of a block; what it computes is not known outside."""
        outer, known = self.at, dict(self.numbers.done)
        for op in tuple(block.ops):
            self.at = op
            handler = self.handlers(op)
            if handler is None:
                continue
            handler(op, self)
        self.at, self.numbers.done = outer, known

    def kill(self, op: Operation) -> None:
        """Erase an operation at the end."""
        self.dead.append(op)

    def finish(self) -> None:
        """Erase what was replaced."""
        for op in reversed(self.dead):
            op.detach()
            op.erase()

    # Writing

    def insert(self, op: Operation) -> SSAValue:
        """Put an operation where code is written; its result."""
        self.effect(op)
        return op.results[0]

    def effect(self, op: Operation) -> None:
        """Put an operation without a result where code is written."""
        op.location = self.at.location
        Builder(InsertPoint.before(self.at)).insert(op)

    def number(self, number: Any, width: int | None = None) -> SSAValue:
        """A number of the algebra as an integer, of 32 or 64 bits if no width is wanted."""
        if width is None:
            width = 64 if isinstance(number, Expression) and width_of(number) > 32 else 32
        return self.numbers.emit(number, width)

    def _leaf(self, number: Variable) -> SSAValue:
        owner, place = leaf_of(number)
        if isinstance(owner.type, IndexType):
            return self.insert(arith.IndexCastOp(owner, IntegerType(64)))
        return owner if is_integer(owner.type) else self.leaves[owner][place]

    # Values of the algebra

    def define(self, result: SSAValue, value: Any) -> None:
        """Let a value of the algebra stand for a result of the operation that is replaced."""
        if is_integer(result.type):
            assert isinstance(value, Number)
            self.replace(result, self._integer(value.number, result))
            return
        if (pointer := pointer_of(value)) is not None:
            self._point(result, pointer)
        if isinstance(value, View) and isinstance(value.iterator, Handle):
            self.descriptors[result] = self.descriptor(value.iterator)
        if isinstance(result.type, PtrType):
            return
        wanted = zip(numbers(symbol(result)), numbers(value), strict=True)
        self.leaves[result] = [
            self.number(have, want.width) for want, have in wanted if isinstance(want, Expression)
        ]

    def replace(self, result: SSAValue, value: SSAValue) -> None:
        """Let another value stand for a result, under its name."""
        if value.name_hint is None:
            value.name_hint = result.name_hint
        result.replace_all_uses_with(value)

    def _integer(self, number: Any, result: SSAValue) -> SSAValue:
        width = integer_bits(result.type)
        if width:
            return self.number(number, width)
        return self.insert(arith.IndexCastOp(self.number(number, 64), IndexType()))

    def _point(self, result: SSAValue, pointer: Pointer) -> None:
        if pointer.space is AddressSpace.RMEM:
            self.views[result] = self.register_view(pointer)
            return
        if pointer.space is AddressSpace.TMEM:
            self._point_to_tensor(result, self.tensor_address(pointer))
            return
        if isinstance(type_ := result.type, PtrType):
            self.replace(result, self.address(replace(pointer, align=type_.align)))
        else:
            assert isinstance(type_, MemRefType | DescIterType)
            self.pointers[result] = self.address(replace(pointer, align=type_.align))

    def _point_to_tensor(self, result: SSAValue, address: SSAValue) -> None:
        if isinstance(type_ := result.type, PtrType):
            self.replace(result, self.insert(IntToPtrOp(address, type_)))
        else:
            self.tensors[result] = address

    # Places

    def tensor_address(self, pointer: Pointer) -> SSAValue:
        """The lane and the column of a place in tensor memory, as an integer."""
        if element_bits(pointer.element) != TENSOR_BITS:
            raise op_error(
                self.at,
                f"views tensor memory in elements of {TENSOR_BITS} bits, not of {pointer.element}",
            )
        base: SSAValue = pointer.base
        address = self.tensors.get(base)
        if address is None:
            if not isinstance(base.type, PtrType):
                raise op_error(self.at, "has a view of tensor memory that nothing allocates")
            made = base.owner
            address = (
                made.address if isinstance(made, IntToPtrOp) else self.insert(PtrToIntOp(base))
            )
        if isinstance(pointer.offset, int) and pointer.offset == 0:
            return address
        return self.insert(arith.AddiOp(address, self.number(pointer.offset, 32)))

    def descriptor(self, handle: Handle) -> SSAValue:
        """The descriptor of a place in a view of descriptors."""
        base = self.descriptors.get(handle.base)
        if base is None:
            raise op_error(self.at, "has descriptors that no operation of this function makes")
        step = handle.offset * DESCRIPTOR_UNIT
        if isinstance(step, int):
            return base if step == 0 else self.insert(SmemDescAddOp(base, step))
        return self.insert(SmemDescAddOp(base, self.number(step, 32)))

    def register_view(self, pointer: Pointer) -> RegisterView:
        """Which registers a pointer to registers means."""
        known = self.views.get(pointer.base)
        if known is None:
            raise op_error(self.at, "has registers that no operation of this function allocates")
        if not isinstance(pointer.offset, int):
            raise op_error(self.at, "reaches registers by an index that only run time knows")
        held = self.registers.held[known.base].type
        if getattr(held, "element_type", None) != pointer.element:
            raise op_error(self.at, f"reads registers of {held} as elements {pointer.element}")
        return RegisterView(known.base, known.offset + pointer.offset)

    def address(self, pointer: Pointer) -> SSAValue:
        """A pointer to a place, which the type says the alignment and the swizzle of."""
        owner: SSAValue = pointer.base
        base = self.pointers.get(owner, owner)
        type_ = base.type
        assert isinstance(type_, PtrType)
        stays = isinstance(pointer.offset, int) and pointer.offset == 0
        align = pointer.align if stays else type_.align
        if (type_.element_type, type_.align) != (pointer.element, align):
            base = self.insert(RecastPtrOp(base, pointer.element, align))
        if stays:
            return base
        return self.insert(PtrAddOp(base, self.number(pointer.offset), pointer.align))

    def access(self, pointer: Pointer) -> SSAValue:
        """The plain pointer to where a place leads."""
        return self.swizzled(self.address(pointer), pointer.swizzle)

    def swizzled(self, address: SSAValue, swizzle: Swizzle) -> SSAValue:
        """A pointer with the bits of a swizzle exchanged."""
        if not swizzle.bits:
            return address
        type_ = address.type
        assert isinstance(type_, PtrType)
        place = self.insert(PtrToIntOp(address))
        width = integer_bits(place.type)
        mask = self.insert(_constant(swizzle.source_mask, width))
        shift = self.insert(_constant(abs(swizzle.shift), width))
        masked = self.insert(arith.AndIOp(place, mask))
        move = arith.ShRUIOp if swizzle.shift >= 0 else arith.ShLIOp
        moved = self.insert(move(masked, shift))
        align = min(type_.align, 1 << swizzle.base)
        plain = PtrType(type_.element_type, type_.space, align, NO_SWIZZLE)
        return self.insert(IntToPtrOp(self.insert(arith.XOrIOp(place, moved)), plain))


def _constant(value: int, width: int) -> Operation:
    return arith.ConstantOp(IntegerAttr(value, IntegerType(width)))
