"""Constants, tuples and moves: values that cost nothing, and copies of registers."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import Float32Type, Float64Type, FloatAttr, IntegerAttr, StringAttr
from xdsl.ir import Attribute, SSAValue
from xdsl.irdl import (
    AnyAttr,
    operand_def,
    prop_def,
    result_def,
    traits_def,
    var_operand_def,
    var_result_def,
)
from xdsl.traits import Pure

from tileas_xdsl.dialects.interned import float_attr
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.ptx.base import (
    REG,
    ElementwiseOp,
    PtxOp,
    Value,
    count_of,
    elementwise,
    int_attr,
    kind_of,
    vector,
)
from tileas_xdsl.dialects.ptx.checks import (
    check_count,
    check_keyword,
    check_kind,
    check_tuples,
    check_type,
)
from tileas_xdsl.dialects.ptx.emission import Writer
from tileas_xdsl.dialects.ptx.types import reg
from tileas_xdsl.target.isa.kinds import KINDS, TYPE_KINDS

_FLOATS = {"f32": Float32Type(), "f64": Float64Type()}


@irdl_op_definition
class ConstOp(PtxOp):
    """A constant: a literal where the instruction takes one, else a move.  Prints nothing itself.

    Integers and predicates are bit patterns (negative ones are fine), floats are numbers.
    """

    name = "ptx.const"

    value = prop_def(AnyAttr())
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(self, value: float, kind: str = "b32", count: int = 1) -> None:
        """`count` registers that all hold `value`."""
        attr: Attribute = (
            float_attr(value, _FLOATS[kind]) if kind in _FLOATS else int_attr(int(value))
        )
        self.fill((), (reg(kind, count),), value=attr)

    def check(self) -> None:
        kind, value = kind_of(self.result), self.properties["value"]
        floats = isinstance(value, FloatAttr)
        if not floats and not isinstance(value, IntegerAttr):
            raise self.error(f"has a number as value, not {value}")
        if floats != (kind in _FLOATS):
            wanted, given = (
                ("a float", "an integer") if kind in _FLOATS else ("an integer", "a float")
            )
            raise self.error(f"of {kind} holds {wanted}, not {given}")
        bits = KINDS[kind].bits
        if isinstance(value, IntegerAttr) and not -(1 << bits - 1) <= value.value.data < 1 << bits:
            raise self.error(f"of {kind} has {bits} bits: {value.value.data} does not fit")

    def literal(self) -> str:
        """The text of the constant as an operand."""
        attr = self.properties["value"]
        if isinstance(attr, FloatAttr):
            return float_literal(attr.value.data, wide=kind_of(self.results[0]) == "f64")
        assert isinstance(attr, IntegerAttr)
        return str(attr.value.data)

    def emit(self, out: Writer) -> None:
        """Nothing: users print the literal."""


def float_literal(value: float, *, wide: bool) -> str:
    """A float in PTX, by its bits: `0f3F800000`, `0d3FF0000000000000`."""
    if wide:
        return f"0d{struct.unpack('<Q', struct.pack('<d', value))[0]:016X}"
    return f"0f{struct.unpack('<I', struct.pack('<f', value))[0]:08X}"


@irdl_op_definition
class UndefOp(PtxOp):
    """Registers that hold nothing yet: accumulators whose first product does not add."""

    name = "ptx.undef"

    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(self, kind: str, count: int = 1) -> None:
        self.fill((), (reg(kind, count),))

    def emit(self, out: Writer) -> None:
        """Nothing."""


@irdl_op_definition
class PackOp(PtxOp):
    """The registers of several values of one kind, in order, as one tuple; costs nothing."""

    name = "ptx.pack"

    values = var_operand_def(REG)
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(self, values: Sequence[Value]) -> None:
        count = sum(map(count_of, values))
        self.fill((values,), (reg(kind_of(values[0]), count),))

    def check(self) -> None:
        kind = kind_of(self.result)
        for value in self.values:
            check_kind(self, "parts", value, kind)
        check_count(self, "its result", self.result, sum(map(count_of, self.values)))

    def emit(self, out: Writer) -> None:
        """Nothing: the tuple has the names of its parts."""


@irdl_op_definition
class ExtractOp(PtxOp):
    """Registers [start, start + count) of a tuple; costs nothing."""

    name = "ptx.extract"

    tuple = operand_def(REG)
    start = prop_def(IntegerAttr)
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(self, tuple: Value, start: int, count: int = 1) -> None:
        self.fill((tuple,), (reg(kind_of(tuple), count),), start=start)

    def check(self) -> None:
        start, count, length = self.number("start"), count_of(self.result), count_of(self.tuple)
        if not 0 <= start <= length - count:
            raise self.error(f"takes {start} to {start + count} of {length} registers")
        check_kind(self, "its result", self.result, kind_of(self.tuple))

    def emit(self, out: Writer) -> None:
        """Nothing: the registers keep their names."""


@irdl_op_definition
class UnpackOp(PtxOp):
    """A tuple cut into equal pieces, one result each; costs nothing."""

    name = "ptx.unpack"

    tuple = operand_def(REG)
    pieces = var_result_def(REG)

    traits = traits_def(Pure())

    def __init__(self, tuple: Value, size: int = 1) -> None:
        """Pieces of `size` registers."""
        piece = reg(kind_of(tuple), size)
        self.fill((tuple,), (piece,) * (count_of(tuple) // size))

    def check(self) -> None:
        length, sizes = count_of(self.tuple), {count_of(piece) for piece in self.pieces}
        if len(sizes) != 1 or sizes.pop() * len(self.pieces) != length:
            raise self.error(f"cuts {length} registers into equal pieces, all of them")
        for piece in self.pieces:
            check_kind(self, "pieces", piece, kind_of(self.tuple))

    def emit(self, out: Writer) -> None:
        """Nothing: the registers keep their names."""


@irdl_op_definition
class MovOp(ElementwiseOp):
    """`mov`: a copy, also between registers of bits and floats of one width."""

    name = "ptx.mov"

    a = operand_def(REG)
    type = prop_def(StringAttr)
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(self, a: Value, type: str | None = None, *, kind: str | None = None) -> None:
        """To registers of `kind` (default: those of `type`, which is by default the kind of a)."""
        type = kind_of(a) if type is None else type
        result = reg(TYPE_KINDS[type] if kind is None else kind, count_of(a))
        self.fill((a,), (result,), type=type)

    def check(self) -> None:
        check_keyword(self, "type", self.text("type"), (*_MOVES, "pred"))
        check_type(self, "its operand", self.a, self.text("type"))
        check_type(self, "its result", self.result, self.text("type"))
        check_tuples(self, self.operands, self.result)

    def emit(self, out: Writer) -> None:
        elementwise(out, f"mov.{self.text('type')}", self.results[0], self._operands[0])


@irdl_op_definition
class JoinOp(PtxOp):
    """`mov.b64 d, {a, b}`: narrow registers as bits of wide ones, the first one lowest.

    A tuple of more than one wide register's worth becomes a tuple of wide registers.
    """

    name = "ptx.join"

    READS_FIRST: ClassVar[bool] = False
    a = operand_def(REG)
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(self, a: Value, kind: str) -> None:
        """To registers of `kind` b32 or b64."""
        ratio = _BITS[kind] // _BITS[kind_of(a)]
        self.fill((a,), (reg(kind, count_of(a) // max(1, ratio)),))

    def check(self) -> None:
        _check_widths(self, self.a, self.result)

    def emit(self, out: Writer) -> None:
        narrow, wide = out.names(self._operands[0]), out.names(self.results[0])
        size = len(narrow) // len(wide)
        kind = kind_of(self.results[0])
        for index, name in enumerate(wide):
            out.line(f"mov.{kind} {name}, {vector(narrow[index * size : (index + 1) * size])}")


@irdl_op_definition
class SplitOp(PtxOp):
    """`mov.b64 {a, b}, d`: the bits of wide registers as narrow ones, the lowest first."""

    name = "ptx.split"

    READS_FIRST: ClassVar[bool] = False
    a = operand_def(REG)
    result = result_def(REG)

    traits = traits_def(Pure())

    def __init__(self, a: Value, kind: str) -> None:
        """To registers of `kind` b16, b32 or f32."""
        ratio = _BITS[kind_of(a)] // _BITS[kind]
        self.fill((a,), (reg(kind, count_of(a) * ratio),))

    def check(self) -> None:
        _check_widths(self, self.result, self.a)

    def emit(self, out: Writer) -> None:
        wide, narrow = out.registers(self._operands[0]), out.names(self.results[0])
        size = len(narrow) // len(wide)
        kind = kind_of(self._operands[0])
        for index, name in enumerate(wide):
            out.line(f"mov.{kind} {vector(narrow[index * size : (index + 1) * size])}, {name}")


_BITS = {"b16": 16, "b32": 32, "f32": 32, "b64": 64, "f64": 64}
_MOVES = (*(f"{letter}{bits}" for letter in "bus" for bits in (16, 32, 64)), "f32", "f64")


def _check_widths(op: JoinOp | SplitOp, narrow: SSAValue, wide: SSAValue) -> None:
    check_kind(op, "the wide side", wide, "b32", "b64")
    check_kind(op, "the narrow side", narrow, "b16", "b32", "f32")
    ratio = _BITS[kind_of(wide)] // _BITS[kind_of(narrow)]
    if ratio not in (2, 4):
        raise op.error(f"needs wider registers than {kind_of(narrow)}, but got {kind_of(wide)}")
    check_count(op, "the narrow side", narrow, ratio * count_of(wide))
