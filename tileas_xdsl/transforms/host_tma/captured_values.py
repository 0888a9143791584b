"""Compute on the host what tensor maps depend on: integers of kernel arguments, sign-extended.

A descriptor captures values of the kernel that only arguments determine.  Their computation is
replayed in host code before the launch:

    func.func @kernel(%a: memref<?x64xf16>, %n: index) {
      %w = nv_tileas.view %a[%n, %c0] : ... -> !nv_tileas.tiled_view<8x64xf16, gmem>
      %d = nv_tileas.make_tiled_tma_desc %w box[%c64, %c8] : ... -> !nv_tileas.tma_desc

becomes, where the map of `%d` is encoded,

    %begin  = llvm.mul %n, %row_stride_bytes : i64
    %global = llvm.add %a_address, %begin : i64
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import (
    DYNAMIC_INDEX,
    FixedBitwidthType,
    IntegerAttr,
    MemRefType,
    StridedLayoutAttr,
)
from xdsl.ir import Attribute, BlockArgument, Operation, OpResult, SSAValue
from xdsl.utils.hints import isa

from tileas_xdsl.analysis.memory.tma_descriptors import ArgumentView
from tileas_xdsl.analysis.values.launches.kernel_parameters import Parameter
from tileas_xdsl.analysis.values.launches.pointer_base_arrays import Count
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.transforms.host_tma.llvm_builder import PREDICATES, Words

WORD = 64

Emit = Callable[[Words, SSAValue, SSAValue], SSAValue]


def _extreme(predicate: str) -> Emit:
    def emit(code: Words, a: SSAValue, b: SSAValue) -> SSAValue:
        return code.select(code.compare(predicate, a, b), a, b)

    return emit


def _plain(name: str) -> Emit:
    return lambda code, a, b: code.binary(name, a, b)


def _divisor(code: Words, b: SSAValue) -> SSAValue:
    """A divisor that never traps: dividing by zero means nothing, and must not end the process."""
    return code.select(code.compare("eq", b, 0), 1, b)


def _unsigned(name: str) -> Emit:
    return lambda code, a, b: code.binary(name, a, _divisor(code, b))


def _quotient(code: Words, a: SSAValue, b: SSAValue) -> SSAValue:
    """The signed quotient, towards zero; of the least number by -1 the least number."""
    negates = code.compare("eq", b, -1)
    quotient = code.binary("sdiv", a, code.select(negates, 1, _divisor(code, b)))
    return code.select(negates, code.sub(code.const(0), a), quotient)


def _remainder(code: Words, a: SSAValue, b: SSAValue) -> SSAValue:
    return code.sub(a, code.mul(_quotient(code, a, b), b))


def _rounded(step: int, predicate: str) -> Emit:
    """A quotient with `step` added where there is a remainder and the exact one has this sign."""

    def emit(code: Words, a: SSAValue, b: SSAValue) -> SSAValue:
        quotient, rest = _quotient(code, a, b), _remainder(code, a, b)
        sign = code.compare(predicate, code.binary("xor", a, b), 0)
        inexact = code.compare("ne", rest, 0)
        moves = code.binary("and", code.wide(sign), code.wide(inexact))
        return code.add(quotient, code.mul(moves, step))

    return emit


def _ceildivui(code: Words, a: SSAValue, b: SSAValue) -> SSAValue:
    less = code.binary("udiv", code.sub(a, 1), _divisor(code, b))
    return code.select(code.compare("eq", a, 0), 0, code.add(less, 1))


SIGNED: Mapping[type[Operation], Emit] = {
    arith.AddiOp: _plain("add"),
    arith.SubiOp: _plain("sub"),
    arith.MuliOp: _plain("mul"),
    arith.AndIOp: _plain("and"),
    arith.OrIOp: _plain("or"),
    arith.XOrIOp: _plain("xor"),
    arith.ShLIOp: _plain("shl"),
    arith.ShRSIOp: _plain("ashr"),
    arith.DivSIOp: _quotient,
    arith.RemSIOp: _remainder,
    arith.FloorDivSIOp: _rounded(-1, "slt"),
    arith.CeilDivSIOp: _rounded(1, "sge"),
    arith.MinSIOp: _extreme("slt"),
    arith.MaxSIOp: _extreme("sgt"),
}
"""Operations that see the sign before their operands."""

UNSIGNED: Mapping[type[Operation], Emit] = {
    arith.DivUIOp: _unsigned("udiv"),
    arith.RemUIOp: _unsigned("urem"),
    arith.CeilDivUIOp: _ceildivui,
    arith.ShRUIOp: _plain("lshr"),
    arith.MinUIOp: _extreme("ult"),
    arith.MaxUIOp: _extreme("ugt"),
}
"""Operations that see zeros before their operands."""


def _width(type_: Attribute) -> int:
    """The bits of an integer; an `index` is a word."""
    return type_.bitwidth if isinstance(type_, FixedBitwidthType) else WORD


class Closure:
    """The code that computes what descriptors depend on, each value once."""

    def __init__(self, code: Words, parameters: Mapping[Parameter, SSAValue]) -> None:
        self.code, self._parameters = code, parameters
        self._known: dict[SSAValue, SSAValue] = {}

    # arrays

    def address(self, window: ArgumentView, bits: int) -> SSAValue:
        """Where a window begins."""
        kind = "ptr" if window.pointed is None else "scalar"
        found = self._parameters[Parameter(kind, window.argument.index)]
        strides = self.strides(window)
        for axis, start in enumerate(self.starts(window)):
            if start is not None:
                elements = self.code.mul(start, strides[axis])
                found = self.code.add(found, self._bytes(elements, bits))
        return found

    def extents(self, window: ArgumentView) -> Sequence[SSAValue]:
        """How far the array goes on from where the window begins."""
        whole = self._whole(window)
        starts = self.starts(window)
        return [n if s is None else self.code.sub(n, s) for n, s in zip(whole, starts, strict=True)]

    def _whole(self, window: ArgumentView) -> Sequence[SSAValue]:
        """The extents of the array that a window is of."""
        if window.pointed is not None:
            return [self._count(size) for size in window.pointed.sizes]
        axes = range(len(window.starts))
        return [self._extent(window.argument, window.type, axis) for axis in axes]

    def _count(self, count: Count) -> SSAValue:
        """Elements of an array behind a pointer; integers are read as unsigned."""
        if isinstance(count, int):
            return self.code.const(count)
        return self._zeros_before(self.value(count), count.type)

    def starts(self, window: ArgumentView) -> Sequence[SSAValue | None]:
        """Where the window begins along each dimension, None for the beginning."""
        return [self._sum(values) for values in window.starts]

    def strides(self, window: ArgumentView) -> Sequence[SSAValue]:
        """Along each dimension, how many elements the next one is away."""
        type_, code = window.type, self.code
        if window.pointed is not None:
            return [self._count(stride) for stride in window.pointed.strides]
        if isinstance(type_.layout, StridedLayoutAttr):
            return [
                self._stride(window.argument, axis, stride)
                for axis, stride in enumerate(type_.layout.get_strides())
            ]
        found = [code.const(1)]
        for axis in reversed(range(1, len(window.starts))):
            found.insert(0, code.mul(found[0], self._extent(window.argument, type_, axis)))
        return found

    def stride_bytes(self, window: ArgumentView, bits: int) -> Sequence[SSAValue]:
        """The strides in bytes."""
        return [self._bytes(stride, bits) for stride in self.strides(window)]

    def _bytes(self, elements: SSAValue, bits: int) -> SSAValue:
        if bits % 8 == 0:
            return self.code.mul(elements, bits // 8)
        return self.code.binary("ashr", self.code.mul(elements, bits), 3)

    def _sum(self, values: Sequence[SSAValue]) -> SSAValue | None:
        if not values:
            return None
        found = self.value(values[0])
        for value in values[1:]:
            found = self.code.add(found, self.value(value))
        return found

    def _extent(self, argument: BlockArgument, type_: MemRefType[Attribute], axis: int) -> SSAValue:
        extent = type_.get_shape()[axis]
        if extent != DYNAMIC_INDEX:
            return self.code.const(extent)
        return self._parameters[Parameter("size", argument.index, axis)]

    def _stride(self, argument: BlockArgument, axis: int, stride: int | None) -> SSAValue:
        if stride is not None:
            return self.code.const(stride)
        return self._parameters[Parameter("stride", argument.index, axis)]

    # numbers

    def value(self, value: SSAValue) -> SSAValue:
        """The word that a value of the program is."""
        if value not in self._known:
            self._known[value] = self._computed(value)
        return self._known[value]

    def _computed(self, value: SSAValue) -> SSAValue:
        if isinstance(value, BlockArgument):
            found = self._parameters[Parameter("scalar", value.index)]
            return self._signed(found, value.type)
        assert isinstance(value, OpResult)
        op = value.op
        match op:
            case arith.ConstantOp(value=IntegerAttr() as number):
                return self.code.const(number.value.data)
            case memref.DimOp():
                return self._dim(op)
            case arith.SelectOp():
                chosen, *values = map(self.value, op.operands)
                return self.code.select(self.code.compare("ne", chosen, 0), *values)
            case arith.CmpiOp():
                return self._compared(op)
            case arith.ExtUIOp():
                return self._zeros_before(self.value(op.input), op.input.type)
            case arith.ExtSIOp() | arith.IndexCastOp() | arith.TruncIOp():
                return self._signed(self.value(op.operands[0]), value.type)
            case _:
                return self._signed(self._arithmetic(op), value.type)

    def _arithmetic(self, op: Operation) -> SSAValue:
        operands = [self.value(operand) for operand in op.operands]
        if (emit := SIGNED.get(type(op))) is not None:
            return emit(self.code, operands[0], operands[1])
        if (emit := UNSIGNED.get(type(op))) is not None:
            a, b = (
                self._zeros_before(v, o.type) for v, o in zip(operands, op.operands, strict=True)
            )
            return emit(self.code, a, b)
        if op.name.startswith("math."):
            key = "nv_tileas.tma_capture.math"
            raise op_error(op, message(key))
        raise op_error(op, "is computed on the device; a host does not know it")

    def _compared(self, op: arith.CmpiOp) -> SSAValue:
        predicate = PREDICATES[op.predicate.value.data]
        operands = [self.value(op.lhs), self.value(op.rhs)]
        if predicate.startswith("u"):
            operands = [self._zeros_before(value, op.lhs.type) for value in operands]
        bit = self.code.compare(predicate, *operands)
        return self.code.wide_signed(bit)

    def _dim(self, op: memref.DimOp) -> SSAValue:
        source, axis = op.source, constant_integer(op.index)
        type_ = source.type
        if not isinstance(source, BlockArgument) or not isa(type_, MemRefType[Attribute]):
            raise op_error(op, f"asks a host for an extent of {type_}, which is no array argument")
        if axis is None or not 0 <= axis < len(type_.get_shape()):
            raise op_error(op, f"asks a host for an extent of {type_} that is not known by number")
        return self._extent(source, type_, axis)

    def _signed(self, word: SSAValue, type_: Attribute) -> SSAValue:
        """A word whose upper bits repeat the sign of a narrower type."""
        shift = WORD - _width(type_)
        if shift <= 0:
            return word
        return self.code.binary("ashr", self.code.binary("shl", word, shift), shift)

    def _zeros_before(self, word: SSAValue, type_: Attribute) -> SSAValue:
        width = _width(type_)
        return word if width >= WORD else self.code.binary("and", word, (1 << width) - 1)
