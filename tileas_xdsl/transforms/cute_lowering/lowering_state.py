"""The state of the lowering to LLVM: insertion point, value mapping, packed structs.

A value of `cute` has static parts, which are in its type, and dynamic ones, which an LLVM struct
carries: a view of layout `(?,64):(?,1)` is a pointer, an extent and a stride; one of
`(8,64):(64,1)` is a pointer alone. Parts are extracted where they are needed, once in a block, and
never from a struct that was packed in the same block, whose parts are known.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field
from typing import Any

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerType, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute.base.symbolic_values import (
    Descriptor,
    Pointer,
    View,
    leaf_of,
    numbers,
    symbol,
)
from tileas_xdsl.dialects.cute.types.elements import element_bits
from tileas_xdsl.layout import Swizzle
from tileas_xdsl.layout.expr.expression import Expression, Variable
from tileas_xdsl.threads.index.expression_codegen import LLVM, NumberEmitter
from tileas_xdsl.transforms.cute_lowering.llvm_types import (
    Carrier,
    Memory,
    Path,
    carrier_of,
)


@dataclass
class Lowering:
    """One function while it is made: where code goes, and what stands for each value."""

    memory: Memory
    block: Block
    values: dict[SSAValue, SSAValue | None] = field(
        default_factory=dict[SSAValue, "SSAValue | None"]
    )
    blocks: dict[Block, Block] = field(default_factory=dict[Block, Block])
    parts: dict[SSAValue, dict[Path, SSAValue]] = field(
        default_factory=dict[SSAValue, dict[Path, SSAValue]]
    )
    """By a struct that was packed, what was put where."""
    numbers: NumberEmitter = field(init=False)

    def __post_init__(self) -> None:
        self.begin(self.block)

    def begin(self, block: Block) -> None:
        """Go on at the end of `block`; what other blocks computed may not be known there."""
        self.block = block
        self.numbers = NumberEmitter(LLVM, self.insert, self.leaf)
        self.parts = {}

    def insert(self, op: Operation) -> SSAValue:
        """Put an operation at the end; its result."""
        self.block.add_op(op)
        return op.results[0]

    def effect(self, op: Operation) -> None:
        """Put an operation without a result at the end."""
        self.block.add_op(op)

    def carrier(self, value: SSAValue) -> Carrier | None:
        """How a value of the old function is carried."""
        return carrier_of(value, self.memory)

    def of(self, value: SSAValue) -> SSAValue:
        """What stands for a value that carries something."""
        found = self.values[value]
        if found is None:
            raise ValueError(f"{value.type} carries nothing at run time")
        return found

    # Structs

    def extract(self, whole: SSAValue, path: Path) -> SSAValue:
        """A part of a struct; the struct itself at `()`."""
        if not path:
            return whole
        known: dict[Path, SSAValue] = self.parts.setdefault(whole, {})
        if path not in known:
            type_: Attribute = part_type(whole.type, path)
            position = DenseArrayBase.from_list(i64, path)
            known[path] = self.insert(llvm.ExtractValueOp(position, whole, type_))
        return known[path]

    def pack(self, type_: Attribute, parts: Sequence[tuple[Path, SSAValue]]) -> SSAValue:
        """The struct with these parts."""
        if len(parts) == 1 and not parts[0][0]:
            return parts[0][1]
        whole = self.insert(llvm.UndefOp(type_))
        for path, value in parts:
            position = DenseArrayBase.from_list(i64, path)
            whole = self.insert(llvm.InsertValueOp(position, whole, value))
        self.parts[whole] = dict(parts)
        return whole

    # Values of the algebra

    def leaf(self, number: Variable) -> SSAValue:
        """The value of an unknown leaf: the part of the struct that its owner is."""
        owner, index = leaf_of(number)
        carrier = self.carrier(owner)
        assert carrier is not None
        return self.extract(self.of(owner), carrier.leaves[index])

    def number(self, number: Any, width: int = 64) -> SSAValue:
        """A number of the algebra as an integer of `width` bits."""
        return self.numbers.emit(number, width)

    def base_of(self, owner: SSAValue) -> SSAValue:
        """The pointer that a pointer, view or descriptor has."""
        carrier = self.carrier(owner)
        assert carrier is not None
        assert carrier.pointer is not None
        return self.extract(self.of(owner), carrier.pointer)

    def address(self, op: Operation, pointer: Pointer) -> SSAValue:
        """The plain address of a place: base and offset, without its swizzle."""
        base = self.base_of(pointer.base)
        if isinstance(pointer.offset, int) and pointer.offset == 0:
            return base
        return self.step(op, base, pointer, pointer.offset)

    def step(self, op: Operation, base: SSAValue, pointer: Pointer, offset: Any) -> SSAValue:
        """The address some elements further on."""
        if bits_of(pointer.element) is None:
            raise op_error(op, f"{pointer.element} has no address of its own in memory")
        width = 64 if self.memory.host else 32
        if isinstance(offset, Expression):
            width = max(32, offset.width)
        index = self.number(offset, width)
        type_ = self.memory.pointer(pointer.space)
        return self.insert(
            llvm.GEPOp(base, [llvm.GEP_USE_SSA_VAL], pointer.element, [index], type_)
        )

    def followed(self, op: Operation, pointer: Pointer) -> SSAValue:
        """The address that is accessed: that of the place, swizzled."""
        address = self.address(op, pointer)
        return self.swizzled(address, pointer.swizzle)

    def swizzled(self, address: SSAValue, swizzle: Swizzle) -> SSAValue:
        """An address with the bits of a swizzle exchanged."""
        if not swizzle.bits:
            return address
        raw = self.insert(llvm.PtrToIntOp(address, i64))
        masked = self.insert(llvm.AndOp(raw, self.number(swizzle.source_mask)))
        shift = self.number(abs(swizzle.shift))
        move = llvm.LShrOp if swizzle.shift >= 0 else llvm.ShlOp
        other = self.insert(move(masked, shift))
        result = self.insert(llvm.XOrOp(raw, other))
        return self.insert(llvm.IntToPtrOp.create(operands=[result], result_types=[address.type]))

    def define(self, op: Operation, result: SSAValue, value: Any) -> None:
        """Let `value` of the algebra stand for a result of the old operation."""
        carrier = self.carrier(result)
        if carrier is None:
            self.values[result] = None
            return
        parts: list[tuple[Path, SSAValue]] = []
        pointer = pointer_of(value)
        if carrier.pointer is not None and pointer is not None:
            parts.append((carrier.pointer, self.address(op, pointer)))
        parts += self._leaves(carrier, result, value)
        parts += [(path, self.number(known, 32)) for path, known in carrier.constants]
        self.values[result] = self.pack(carrier.type, parts)

    def _leaves(
        self, carrier: Carrier, result: SSAValue, value: Any
    ) -> list[tuple[Path, SSAValue]]:
        """What the result type does not know: computed, or known to this operation."""
        wanted = numbers(symbol(result))
        needed = [
            (want, have)
            for want, have in zip(wanted, numbers(value), strict=True)
            if isinstance(want, Expression)
        ]
        return [
            (path, self.number(have, want.width))
            for path, (want, have) in zip(carrier.leaves, needed, strict=True)
        ]


def pointer_of(value: Any) -> Pointer | None:
    """The pointer that a value of the algebra has."""
    if isinstance(value, Pointer):
        return value
    if isinstance(value, (View, Descriptor)) and isinstance(value.iterator, Pointer):
        return value.iterator
    return None


def part_type(type_: Attribute, path: Path) -> Attribute:
    """The type of a part of a struct."""
    for index in path:
        assert isinstance(type_, llvm.LLVMStructType)
        type_ = type_.types.data[index]
    return type_


def bits_of(element: Attribute) -> int | None:
    """Bits of an element that memory holds; an `i1` is a byte."""
    if element == IntegerType(1):
        return 8
    return element_bits(element)
