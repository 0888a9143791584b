"""Build `arith` and `math` operations with Python operators.

`x * x + 1.0` of `Value`s inserts a multiplication and an addition. The same text serves scalars
and fragments: every value has the shape that its `Scope` was made for.

    s = scope_of(insert, op)              op : f32                op : vector<4xf32>
    y = x.fma(x, 1.0)                     math.fma %x, %x, %one   the same, on vectors

Fragments have no comparisons and conversions in the thread-level IR; code that needs these is a
`Scope.stage`: inserted as it is for scalars, as the body of `cute.fragment.map` for fragments.

Every float operation is marked `fastmath<none>`, because the error bounds of the functions built
here (`target/math_functions.py`) are proven for exactly these roundings: contraction of a
product and a sum by ptxas would void Fast2Sum and the Cody-Waite reductions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from xdsl.dialects import arith, math
from xdsl.dialects.arith import FastMathFlagsAttr
from xdsl.dialects.builtin import (
    DenseIntOrFPElementsAttr,
    StringAttr,
    UnitAttr,
    f32,
    f64,
    i1,
    i32,
    i64,
)
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import MapFragmentOp, YieldFragmentOp
from tileas_xdsl.dialects.cute.types.elements import as_vector, element_of, integer_bits
from tileas_xdsl.dialects.interned import float_attr, integer_attr, vector_of
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import FLUSH, ROUNDING, SATURATE
from tileas_xdsl.dialects.xdsl_ops import constant_op
from tileas_xdsl.transforms.math_functions.coefficients import Polynomial

Number: TypeAlias = "Value | float"

_EXACT = {"fastmath": FastMathFlagsAttr("none")}
_APPROXIMATE = {ROUNDING: StringAttr("approx"), FLUSH: UnitAttr()}
_ORDERED = {"eq": 1, "gt": 2, "ge": 3, "lt": 4, "le": 5}
"""Ordered predicates of `arith.cmpf`: false for NaN."""
_SIGNED = {"eq": 0, "ne": 1, "lt": 2, "le": 3, "gt": 4, "ge": 5, "ult": 6, "ule": 7, "uge": 9}
"""Predicates of `arith.cmpi`."""


@dataclass
class Scope:
    """Where operations go, and the shape that all values have."""

    insert: Callable[[Operation], object]
    length: int | None = None
    """How many elements fragments have; None for scalars."""
    straight: bool = False
    """Whether nothing may branch: in a body for each element."""

    def type(self, element: Attribute) -> Any:
        """Return the type of this shape with another element type."""
        return element if self.length is None else vector_of(element, self.length)

    def constant(self, number: float, element: Attribute) -> Value:
        """Return a constant, splat for fragments."""
        type_ = self.type(element)
        if type_ is not element:
            attribute: Any = DenseIntOrFPElementsAttr.from_list(type_, [number])
        elif is_integer(element):
            attribute = integer_attr(int(number), type_)
        else:
            attribute = float_attr(number, type_)
        return self.take(constant_op(attribute).result)

    def take(self, value: SSAValue) -> Value:
        """Wrap an SSA value, and insert its operation if that is new."""
        owner = value.owner
        if isinstance(owner, Operation) and owner.parent is None:
            self.insert(owner)
        return Value(self, value, element_of(value.type))

    def stage(self, body: Callable[..., Sequence[Value]], *values: Value) -> Sequence[Value]:
        """Run a body on scalars: inline, or for each element of fragments."""
        if self.length is None:
            return body(*values)
        block = Block(arg_types=[value.element for value in values])
        inner = Scope(block.add_op, straight=True)
        given = body(*(inner.take(arg) for arg in block.args))
        block.add_op(YieldFragmentOp([value.ssa for value in given]))
        types = [self.type(value.element) for value in given]
        op = MapFragmentOp([value.ssa for value in values], types, block)
        self.insert(op)
        return [self.take(result) for result in op.outputs]

    def make(
        self,
        kind: type[Operation],
        operands: Sequence[Value],
        element: Attribute,
        attributes: Mapping[str, Attribute] | None = None,
        /,
        **properties: Attribute,
    ) -> Value:
        """Insert an operation with one result."""
        op = kind.create(
            operands=[value.ssa for value in operands],
            result_types=[self.type(element)],
            properties=properties,
            attributes=dict(attributes or {}),
        )
        return self.take(op.results[0])


def scope_of(insert: Callable[[Operation], object], op: Operation) -> Scope:
    """A scope for the replacement of an operation on scalars or fragments."""
    vector = as_vector(op.results[0].type)
    length = None if vector is None else vector.get_shape()[0]
    return Scope(insert, length, straight=isinstance(op.parent_op(), MapFragmentOp))


def is_integer(element: Attribute) -> bool:
    """Whether it is an integer of some width."""
    return integer_bits(element) > 0


_FLOATING: dict[str, type[Operation]] = {
    "+": arith.AddfOp, "-": arith.SubfOp, "*": arith.MulfOp, "/": arith.DivfOp,
}  # fmt: skip
_INTEGER: dict[str, type[Operation]] = {
    "+": arith.AddiOp, "-": arith.SubiOp, "*": arith.MuliOp, "/": arith.DivUIOp,
    "&": arith.AndIOp, "|": arith.OrIOp, "^": arith.XOrIOp,
    "<<": arith.ShLIOp, ">>": arith.ShRUIOp, ">>s": arith.ShRSIOp,
}  # fmt: skip
_CASTS: dict[str, type[Operation]] = {
    "extf": arith.ExtFOp, "truncf": arith.TruncFOp, "bitcast": arith.BitcastOp,
    "sitofp": arith.SIToFPOp, "fptosi": arith.FPToSIOp,
    "extui": arith.ExtUIOp, "trunci": arith.TruncIOp,
}  # fmt: skip


@dataclass(frozen=True, eq=False)
class Value:
    """A float, an integer or a boolean, or a fragment of such."""

    scope: Scope
    ssa: SSAValue
    element: Attribute

    def _other(self, other: Number) -> Value:
        return other if isinstance(other, Value) else self.scope.constant(other, self.element)

    def _binary(self, symbol: str, other: Number, *, swapped: bool = False) -> Value:
        operands = (self._other(other), self) if swapped else (self, self._other(other))
        if is_integer(self.element):
            return self.scope.make(_INTEGER[symbol], operands, self.element)
        return self.scope.make(_FLOATING[symbol], operands, self.element, **_EXACT)

    def __add__(self, other: Number) -> Value:
        return self._binary("+", other)

    def __radd__(self, other: float) -> Value:
        return self._binary("+", other, swapped=True)

    def __sub__(self, other: Number) -> Value:
        return self._binary("-", other)

    def __rsub__(self, other: float) -> Value:
        return self._binary("-", other, swapped=True)

    def __mul__(self, other: Number) -> Value:
        return self._binary("*", other)

    def __rmul__(self, other: float) -> Value:
        return self._binary("*", other, swapped=True)

    def __truediv__(self, other: Number) -> Value:
        return self._binary("/", other)

    def __rtruediv__(self, other: float) -> Value:
        return self._binary("/", other, swapped=True)

    def __and__(self, other: Number) -> Value:
        return self._binary("&", other)

    def __or__(self, other: Number) -> Value:
        return self._binary("|", other)

    def __xor__(self, other: Number) -> Value:
        return self._binary("^", other)

    def __lshift__(self, other: Number) -> Value:
        return self._binary("<<", other)

    def __rshift__(self, other: Number) -> Value:
        """Logical shift right."""
        return self._binary(">>", other)

    def halved(self) -> Value:
        """Arithmetic shift right by one."""
        return self.shifted(1)

    def shifted(self, count: int) -> Value:
        """Arithmetic shift right."""
        return self._binary(">>s", count)

    def __neg__(self) -> Value:
        if is_integer(self.element):
            return 0 - self
        return self.scope.make(arith.NegfOp, [self], self.element, **_EXACT)

    def __abs__(self) -> Value:
        return self.function(math.AbsFOp)

    def __invert__(self) -> Value:
        """Bitwise complement."""
        return self ^ -1

    def function(self, kind: type[Operation]) -> Value:
        """Apply a unary operation of `math`."""
        return self.scope.make(kind, [self], self.element, **_EXACT)

    def fma(
        self, factor: Number, addend: Number, *, rounding: str = "", saturate: bool = False
    ) -> Value:
        """`self * factor + addend`, rounded once; to nearest unless a direction is given."""
        operands = [self, self._other(factor), self._other(addend)]
        modes: dict[str, Attribute] = {ROUNDING: StringAttr(rounding)} if rounding else {}
        if saturate:
            modes[SATURATE] = UnitAttr()
        return self.scope.make(math.FmaOp, operands, self.element, modes, **_EXACT)

    def exp2(self) -> Value:
        """2 to the power of an f32 by `ex2.approx.ftz`: 2 ulp off, subnormals are zero."""
        return self.scope.make(math.Exp2Op, [self], f32, {FLUSH: UnitAttr()}, **_EXACT)

    def reciprocal(self) -> Value:
        """The inverse of an f32 by `rcp.approx.ftz`: 1 ulp off, subnormals are zero."""
        operands = [self.scope.constant(1.0, f32), self]
        return self.scope.make(arith.DivfOp, operands, f32, _APPROXIMATE, **_EXACT)

    def compare(self, relation: str, other: Number) -> Value:
        """Ordered comparison: false for NaN."""
        operands = [self, self._other(other)]
        if is_integer(self.element):
            predicate = integer_attr(_SIGNED[relation], i64)
            return self.scope.make(arith.CmpiOp, operands, i1, predicate=predicate)
        predicate = integer_attr(_ORDERED[relation], i64)
        return self.scope.make(arith.CmpfOp, operands, i1, predicate=predicate, **_EXACT)

    def is_nan(self) -> Value:
        """Whether the value is NaN."""
        # 14 is `uno`: true if one operand is NaN.
        predicate = integer_attr(14, i64)
        return self.scope.make(arith.CmpfOp, [self, self], i1, predicate=predicate, **_EXACT)

    def then(self, yes: Number, no: Number, element: Attribute = f32) -> Value:
        """Select between two values."""
        one, other = (
            v if isinstance(v, Value) else self.scope.constant(v, element) for v in (yes, no)
        )
        return self.scope.make(arith.SelectOp, [self, one, other], one.element)

    def at_least(self, bound: float) -> Value:
        """Maximum that propagates NaN."""
        return self.scope.make(arith.MaximumfOp, [self, self._other(bound)], self.element, **_EXACT)

    def at_most(self, bound: float) -> Value:
        """Minimum that propagates NaN."""
        return self.scope.make(arith.MinimumfOp, [self, self._other(bound)], self.element, **_EXACT)

    def cast(self, name: str, element: Attribute) -> Value:
        """Convert by a cast of `arith`, given by name."""
        return self.scope.make(_CASTS[name], [self], element)

    def bits(self) -> Value:
        """Bitcast an f32 to i32."""
        return self.cast("bitcast", i32)

    def as_float(self) -> Value:
        """Bitcast an i32 to f32."""
        return self.cast("bitcast", f32)

    def wide_to(self, element: Attribute) -> Value:
        """Extend a float to a wider type."""
        return self.cast("extf", element)

    def wide(self) -> Value:
        """Extend an f32 to f64."""
        return self.wide_to(f64)

    def signed_like(self, other: Value) -> Value:
        """Return the f32 or f64 with the sign of another one, which is one instruction."""
        return self.scope.make(math.CopySignOp, [self, other], self.element, **_EXACT)

    def polynomial(self, polynomial: Polynomial) -> Value:
        """Evaluate a polynomial by Horner's rule, with fused multiply-adds."""
        *rest, highest = polynomial.coefficients
        total = self._other(highest)
        for coefficient in reversed(rest):
            total = total.fma(self, coefficient)
        return total


SIGN = -(1 << 31)
"""The sign bit of an f32, as an i32."""
INFINITY = float("inf")
NAN = float("nan")


def complement(condition: Value, y: Value, whole: tuple[float, float]) -> Value:
    """Return `whole - y`, `whole` being the sum of two floats, where the condition holds."""
    high, low = whole
    return condition.then(high - (y - low), y)


def renormalized(high: Value, low: Value) -> tuple[Value, Value]:
    """Return the rounded sum of two floats, |high| >= |low|, and its error (Dekker's Fast2Sum)."""
    total = high + low
    return total, (high - total) + low
