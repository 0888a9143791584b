"""A builder of straight-line `llvm` code on 64-bit integers."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import llvm
from xdsl.dialects.builtin import DenseArrayBase, IntegerAttr, IntegerType, StringAttr, i32, i64
from xdsl.ir import Attribute, Block, Operation, Region, SSAValue

POINTER = llvm.LLVMPointerType()

_BINARY: Mapping[str, Callable[[SSAValue, SSAValue], Operation]] = {
    "add": llvm.AddOp,
    "sub": llvm.SubOp,
    "mul": llvm.MulOp,
    "udiv": llvm.UDivOp,
    "sdiv": llvm.SDivOp,
    "urem": llvm.URemOp,
    "srem": llvm.SRemOp,
    "and": llvm.AndOp,
    "or": llvm.OrOp,
    "xor": llvm.XOrOp,
    "shl": llvm.ShlOp,
    "lshr": llvm.LShrOp,
    "ashr": llvm.AShrOp,
}

PREDICATES = ("eq", "ne", "slt", "sle", "sgt", "sge", "ult", "ule", "ugt", "uge")
"""Comparisons, in the order of their numbers."""


class Words:
    """Code at the end of a block; what is a number becomes a constant of 64 bits."""

    def __init__(self, block: Block) -> None:
        self.block = block

    def insert(self, op: Operation) -> SSAValue:
        """An operation with one result."""
        self.block.add_op(op)
        return op.results[0]

    def effect(self, op: Operation) -> None:
        """An operation for what it does."""
        self.block.add_op(op)

    def const(self, number: int, type_: IntegerType = i64) -> SSAValue:
        """A constant."""
        return self.insert(llvm.ConstantOp(IntegerAttr(number, type_), type_))

    def word(self, value: SSAValue | int) -> SSAValue:
        """A value, or a number as constant."""
        return self.const(value) if isinstance(value, int) else value

    def binary(self, name: str, a: SSAValue | int, b: SSAValue | int) -> SSAValue:
        """An arithmetic operation by its name in LLVM."""
        return self.insert(_BINARY[name](self.word(a), self.word(b)))

    def add(self, a: SSAValue | int, b: SSAValue | int) -> SSAValue:
        """The sum."""
        return self.binary("add", a, b)

    def sub(self, a: SSAValue | int, b: SSAValue | int) -> SSAValue:
        """The difference."""
        return self.binary("sub", a, b)

    def mul(self, a: SSAValue | int, b: SSAValue | int) -> SSAValue:
        """The product."""
        return self.binary("mul", a, b)

    def either(self, values: Sequence[SSAValue]) -> SSAValue:
        """All bits that any of the values has."""
        found = values[0]
        for value in values[1:]:
            found = self.binary("or", found, value)
        return found

    def compare(self, predicate: str, a: SSAValue | int, b: SSAValue | int) -> SSAValue:
        """One bit."""
        number = IntegerAttr(PREDICATES.index(predicate), i64)
        return self.insert(llvm.ICmpOp(self.word(a), self.word(b), number))

    def select(self, bit: SSAValue, a: SSAValue | int, b: SSAValue | int) -> SSAValue:
        """`a` where the bit is set, else `b`."""
        return self.insert(llvm.SelectOp(bit, self.word(a), self.word(b)))

    def narrow(self, value: SSAValue, type_: IntegerType = i32) -> SSAValue:
        """The low bits of a word."""
        return self.insert(llvm.TruncOp(value, type_))

    def wide(self, value: SSAValue) -> SSAValue:
        """A word from fewer bits, zeros before them."""
        return self.insert(llvm.ZExtOp(value, i64))

    def wide_signed(self, value: SSAValue) -> SSAValue:
        """A word from fewer bits, the sign before them."""
        return self.insert(llvm.SExtOp(value, i64))

    # memory

    def at(self, pointer: SSAValue, index: SSAValue | int, type_: Attribute) -> SSAValue:
        """The pointer to an entry of an array."""
        where = self.word(index)
        return self.insert(llvm.GEPOp(pointer, [llvm.GEP_USE_SSA_VAL], type_, [where]))

    def load(
        self, pointer: SSAValue, index: SSAValue | int = 0, type_: Attribute = i64
    ) -> SSAValue:
        """An entry of an array."""
        return self.insert(llvm.LoadOp(self.at(pointer, index, type_), type_))

    def store(self, value: SSAValue | int, pointer: SSAValue, index: SSAValue | int = 0) -> None:
        """Write an entry of an array."""
        value = self.word(value)
        self.effect(llvm.StoreOp(value, self.at(pointer, index, value.type)))

    def array(self, count: int, type_: IntegerType) -> SSAValue:
        """A local array."""
        return self.insert(llvm.AllocaOp(self.const(count), type_, 16))

    def address(self, symbol: str) -> SSAValue:
        """The address of a global or a function."""
        return self.insert(llvm.AddressOfOp(symbol, POINTER))

    def pointer(self, word: SSAValue) -> SSAValue:
        """A word as pointer."""
        return self.insert(llvm.IntToPtrOp(word))

    def number(self, pointer: SSAValue) -> SSAValue:
        """A pointer as word."""
        return self.insert(llvm.PtrToIntOp(pointer))

    # calls

    def call(
        self, name: str, arguments: Sequence[SSAValue], result: Attribute | None = None
    ) -> SSAValue | None:
        """Call a function by name."""
        op = llvm.CallOp(name, *arguments, return_type=result)
        self.effect(op)
        return op.returned

    def ret(self, value: SSAValue | None = None) -> None:
        """Return."""
        self.effect(llvm.ReturnOp(value))


def function(
    name: str,
    inputs: Sequence[Attribute],
    output: Attribute | None = None,
    names: Sequence[str] = (),
) -> tuple[llvm.FuncOp, Words]:
    """A function that others see, and its code, which has no end yet."""
    block = Block(arg_types=inputs)
    for argument, hint in zip(block.args, names, strict=False):
        argument.name_hint = hint
    made = llvm.FuncOp(
        name,
        llvm.LLVMFunctionType(inputs, output),
        llvm.LinkageAttr("external"),
        body=Region(block),
    )
    return made, Words(block)


def declaration(
    name: str, inputs: Sequence[Attribute], output: Attribute | None = None, *, variadic: bool
) -> llvm.FuncOp:
    """A function that is elsewhere."""
    type_ = llvm.LLVMFunctionType(inputs, output, variadic)
    return llvm.FuncOp(name, type_, llvm.LinkageAttr("external"))


def word_table(
    name: str, words: Sequence[int | str], *, constant: bool = True, linkage: str = "external"
) -> llvm.GlobalOp:
    """A global array of words: numbers, and the addresses of symbols."""
    type_ = llvm.LLVMArrayType(len(words), i64)
    block = Block()
    code = Words(block)
    array = code.insert(llvm.UndefOp(type_))
    for position, word in enumerate(words):
        value = code.const(word) if isinstance(word, int) else code.number(code.address(word))
        array = code.insert(llvm.InsertValueOp(_position(position), array, value))
    code.ret(array)
    return llvm.GlobalOp(type_, name, linkage, constant=constant, alignment=8, body=Region(block))


def _position(number: int) -> DenseArrayBase:
    return DenseArrayBase.from_list(i64, [number])


def text(name: str, value: str) -> llvm.GlobalOp:
    """A global text that ends with a zero byte."""
    data = value + "\0"
    type_ = llvm.LLVMArrayType(len(data.encode()), IntegerType(8))
    return llvm.GlobalOp(
        type_, name, "internal", constant=True, value=StringAttr(data), alignment=1
    )
