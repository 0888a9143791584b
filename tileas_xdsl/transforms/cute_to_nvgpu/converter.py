"""State of `convert-cute-to-nvgpu`: what stands for each `cute` value while a function is
converted.

Most of a `cute` value is static: its type has the layout. What remains at run time is mapped
here:

* a view of global or shared memory -> a pointer to its first element (`pointers`) and the dynamic
  leaves of its layout (`leaves`);
* a view of registers -> an allocation and a constant offset (`views`). The contents of each
  allocation are one SSA value (`registers`), threaded through the function as mem2reg does, so
  that no load or store of registers remains;
* a view of tensor memory -> an i32 address, lane and column (`tensors`);
* a view of matrix descriptors -> the first descriptor (`descriptors`).

A copy by an atom of 16 bytes, from a view of global memory to a fragment of registers, is thus
one load, and nothing is left of both views:

    cute.copy_atom_call(%atom, %mine, %r)
    %4 = cute.ptr.load %2 : !cute.ptr<f16, gmem, align<16>> -> vector<8xf16>

Handlers (`handlers.py`) insert code in front of the operation that they replace. Replaced
operations are erased at the end, in reverse order, since later ones still use their results.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any, TypeAlias

from xdsl.builder import Builder
from xdsl.dialects import arith
from xdsl.dialects.builtin import IndexType, IntegerAttr, IntegerType, i32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint

from tileas_xdsl.data_classes import dataclass
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
"""Bytes of a unit of descriptor addresses (PTX ISA, "Matrix descriptor": bits 4 and up)."""

TENSOR_BITS = 32
"""Bits of an element of tensor memory: one column of one lane."""

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
        """Replace the operations of a block; computed integers are not reused outside of it."""
        outer, known = self.at, dict(self.numbers.done)
        for op in tuple(block.ops):
            self.at = op
            handler = self.handlers(op)
            if handler is None:
                continue
            handler(op, self)
        self.at, self.numbers.done = outer, known

    def kill(self, op: Operation) -> None:
        """Mark an operation for erasure by `finish`."""
        self.dead.append(op)

    def finish(self) -> None:
        """Erase all replaced operations, users first."""
        for op in reversed(self.dead):
            op.detach()
            op.erase()

    # Writing

    def insert(self, op: Operation) -> SSAValue:
        """Insert an operation at the insertion point and return its result."""
        self.effect(op)
        return op.results[0]

    def effect(self, op: Operation) -> None:
        """Insert an operation without results at the insertion point."""
        op.location = self.at.location
        Builder(InsertPoint.before(self.at)).insert(op)

    def number(self, number: Any, width: int | None = None) -> SSAValue:
        """Emit an integer of the layout algebra, of 32 or 64 bits if no width is given."""
        if width is None:
            width = 64 if isinstance(number, Expression) and width_of(number) > 32 else 32
        return self.numbers.emit(number, width)

    def _leaf(self, number: Variable) -> SSAValue:
        owner, index = leaf_of(number)
        if isinstance(owner.type, IndexType):
            return self.insert(arith.IndexCastOp(owner, IntegerType(64)))
        return owner if is_integer(owner.type) else self.leaves[owner][index]

    # Values of the algebra

    def define(self, result: SSAValue, value: Any) -> None:
        """Bind a value of the layout algebra to a result of the replaced operation."""
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
        """Replace all uses of a result, and keep its name."""
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
            self._point_to_tensor(result, self.tensor_address(in_columns(pointer)))
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

    # Addresses

    def tensor_address(self, pointer: Pointer) -> SSAValue:
        """Return the tensor-memory address (lane and column) of a pointer, as an i32."""
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
        """Return the descriptor at an offset in a view of descriptors."""
        base = self.descriptors.get(handle.base)
        if base is None:
            raise op_error(self.at, "has descriptors that no operation of this function makes")
        step = handle.offset * DESCRIPTOR_UNIT
        if isinstance(step, int):
            return base if step == 0 else self.insert(SmemDescAddOp(base, step))
        return self.insert(SmemDescAddOp(base, self.number(step, 32)))

    def register_view(self, pointer: Pointer) -> RegisterView:
        """Return the registers that a pointer to registers refers to."""
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
        """Return the pointer with the alignment and swizzle of its type, not yet swizzled."""
        owner: SSAValue = pointer.base
        base = self.pointers.get(owner, owner)
        type_ = base.type
        assert isinstance(type_, PtrType)
        # At offset 0 the pointer keeps the alignment that is asked for; else that of the base
        # holds for the base alone.
        stays = isinstance(pointer.offset, int) and pointer.offset == 0
        align = pointer.align if stays else type_.align
        if (type_.element_type, type_.align) != (pointer.element, align):
            base = self.insert(RecastPtrOp(base, pointer.element, align))
        if stays:
            return base
        return self.insert(PtrAddOp(base, self.number(pointer.offset), pointer.align))

    def access(self, pointer: Pointer) -> SSAValue:
        """Return the pointer to access memory by, with its swizzle applied."""
        return self.swizzled(self.address(pointer), pointer.swizzle)

    def swizzled(self, address: SSAValue, swizzle: Swizzle) -> SSAValue:
        """Apply a swizzle to an address: `a ^ ((a & source_mask) >> shift)` (CuTe, `Swizzle<B, M,
        S>`).
        """
        if not swizzle.bits:
            return address
        type_ = address.type
        assert isinstance(type_, PtrType)
        raw = self.insert(PtrToIntOp(address))
        width = integer_bits(raw.type)
        mask = self.insert(_constant(swizzle.source_mask, width))
        shift = self.insert(_constant(abs(swizzle.shift), width))
        masked = self.insert(arith.AndIOp(raw, mask))
        move = arith.ShRUIOp if swizzle.shift >= 0 else arith.ShLIOp
        source_bits = self.insert(move(masked, shift))
        align = min(type_.align, 1 << swizzle.base)
        plain = PtrType(type_.element_type, type_.space, align, NO_SWIZZLE)
        return self.insert(IntToPtrOp(self.insert(arith.XOrIOp(raw, source_bits)), plain))


def _constant(value: int, width: int) -> Operation:
    return arith.ConstantOp(IntegerAttr(value, IntegerType(width)))


def in_columns(pointer: Pointer) -> Pointer:
    """Return a pointer to elements of 8 bits in tensor memory, four to a column, as one to columns.

    These are scales and metadata, which only products read; other pointers stay as they are.
    """
    per_column = TENSOR_BITS // 8
    if element_bits(pointer.element) != 8 or not isinstance(pointer.offset, int):
        return pointer
    return replace(pointer, element=i32, offset=pointer.offset // per_column)
