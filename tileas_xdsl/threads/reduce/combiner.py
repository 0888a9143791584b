"""The combining function of a commutative reduction on elements, vectors and lanes of a warp.

Floats narrower than f32 are combined as f32 and rounded once; integers narrower than 32 bits as
i32, since a shuffle moves 32 bits.  Operands may be reordered here; where that matters,
`ordered_combiner` keeps their order.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from math import gcd
from typing import Any

from xdsl.dialects import arith, math
from xdsl.dialects.builtin import AnyFloat, IntegerType, VectorType, f32, i1, i32
from xdsl.ir import Attribute, SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute_nvgpu import ReduxOp
from tileas_xdsl.dialects.nv_tileas.compute.combiners import COMBINERS
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import FloatMode, float_mode
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.tma.checks import bits_of
from tileas_xdsl.dialects.xdsl_ops import constant_op
from tileas_xdsl.layout.units import WARP, WORD_BITS
from tileas_xdsl.threads.codegen.builder import ThreadBuilder
from tileas_xdsl.threads.codegen.elementwise_ops import recreate
from tileas_xdsl.threads.codegen.warp_shuffle import across
from tileas_xdsl.threads.convert.element_conversion import map_elements
from tileas_xdsl.threads.reduce.constant_tail import ConstantTail, constant_tail
from tileas_xdsl.threads.registers.vector_values import element, joined, length, strip

REDUX: Mapping[str, str] = {
    "arith.addi": "add",
    "arith.andi": "and",
    "arith.maxsi": "max",
    "arith.maxui": "umax",
    "arith.minsi": "min",
    "arith.minui": "umin",
    "arith.ori": "or",
    "arith.xori": "xor",
}
"""What `redux.sync` combines over the lanes of a warp."""

EXTREMES = ("arith.maximumf", "arith.maxnumf", "arith.minimumf", "arith.minnumf")
"""What gives one of its operands, and rounds nothing."""

SUMS = ("arith.addf", "arith.addi")
"""What adds: a zero and a zero are a zero."""

UNSIGNED = ("arith.maxui", "arith.minui")

PARTIAL_SUMS = 4
"""Of products in a thread: so many fused operations hide the latency of one another."""

SHUFFLED_BITS = (32, 64)


@dataclass(frozen=True)
class Combiner:
    """The combining function of a reduction, and the wider type it computes in."""

    e: ThreadBuilder
    element: Attribute
    wide: Attribute
    name: str
    """The name of the combining operation, such as `arith.addf`."""
    make: Callable[[SSAValue, SSAValue], SSAValue]

    @staticmethod
    def of_kind(e: ThreadBuilder, kind: Any, element: Attribute) -> Combiner:
        """Return the combiner by a class of operations of `arith`."""
        wide = wide_type(element) or element
        return Combiner(e, element, wide, kind.name, lambda a, b: e.insert(kind(a, b)).results[0])

    @staticmethod
    def of_body(e: ThreadBuilder, op: ReduceOp) -> Combiner | None:
        """Return the combiner of a reduction; None where the order of its operands may matter."""
        operations = list(op.body.block.ops)
        inner = operations[0]
        plain = len(operations) == 2 and inner.name in COMBINERS
        if not plain or set(inner.operands) != set(op.body.block.args):
            return None
        type_ = op.source.type.element_type
        wide = wide_type(type_)
        if wide is None or type_ == i1:
            return None
        return Combiner(
            e, type_, wide, inner.name, lambda a, b: recreate(e, inner, [a, b], [a.type])[0]
        )

    def widened(self, value: SSAValue) -> SSAValue:
        """Return elements in the wider type."""
        if self.element == self.wide:
            return value
        kind: Any = arith.ExtSIOp
        if isinstance(self.element, AnyFloat):
            kind = arith.ExtFOp
        elif self.name in UNSIGNED or self.element == i1:
            kind = arith.ExtUIOp
        return self._converted(kind, value, self.wide)

    def narrowed(self, value: SSAValue) -> SSAValue:
        """Return elements in their own type, rounded once."""
        if self.element == self.wide:
            return value
        kind: Any = arith.TruncFOp if isinstance(self.element, AnyFloat) else arith.TruncIOp
        return self._converted(kind, value, self.element)

    def _converted(self, kind: Any, value: SSAValue, type_: Attribute) -> SSAValue:
        if isinstance(type_, AnyFloat) and isinstance(value.type, VectorType):
            return self.e.insert(kind(value, VectorType(type_, [length(value)]))).result
        return map_elements(self.e, value, kind, type_)

    def combine(self, a: SSAValue, b: SSAValue) -> SSAValue:
        """Combine two elements or vectors."""
        return self.make(a, b)

    def all_of(self, values: Sequence[SSAValue]) -> SSAValue:
        """Combine elements or vectors in a tree of pairs."""
        left = list(values)
        while len(left) > 1:
            half = len(left) // 2
            pairs = zip(left[:half], left[half : 2 * half], strict=True)
            left = [*(self.combine(a, b) for a, b in pairs), *left[2 * half :]]
        return left[0]

    def in_thread(self, part: SSAValue) -> SSAValue:
        """Combine the elements of a vector, halves first."""
        if self.name in EXTREMES and self.element != self.wide:
            return self.widened(self._halved(part))
        return self.in_thread_of_wide(self.widened(part))

    def in_thread_of_wide(self, part: SSAValue) -> SSAValue:
        """Combine the elements of a vector of the wider type, halves first.

        Extremes of what was extended are those of the narrower elements, two of 16 bits at once.
        """
        owner = part.owner
        if self.name in EXTREMES and isinstance(owner, arith.ExtFOp):
            narrow = self._halved(owner.input)
            return self.e.insert(arith.ExtFOp(narrow, self.wide)).result
        return self._halved(part)

    def _halved(self, part: SSAValue) -> SSAValue:
        """Combine the elements of a vector; of equal constants at its end one stands for all."""
        tail = self._tail(part)
        kept = length(part) if tail is None else length(part) - tail.count
        if self.name == arith.AddfOp.name and (product := exact_product(part)) is not None:
            part = self._sums_of_products(product, kept)
            kept = length(part)
        while (count := length(part)) > 1:
            part, kept = self._half(part, count // 2, kept)
        found = element(self.e, part, 0)
        if tail is None:
            return found
        return self.combine(found, self.e.insert(constant_op(tail.number)).result)

    def _half(self, part: SSAValue, half: int, kept: int) -> tuple[SSAValue, int]:
        """Combine the halves of a vector, whose elements behind `kept` are left out."""
        if kept <= half:
            return strip(self.e, part, 0, half), kept
        both = kept - half
        made = self.combine(*(strip(self.e, part, first, both) for first in (0, half)))
        if both < half:
            made = joined(self.e, [made, strip(self.e, part, both, half - both)])
        return made, half

    def _tail(self, part: SSAValue) -> ConstantTail | None:
        """The constants at the end of a vector, if combining two of them gives the same again."""
        tail = constant_tail(part)
        if tail is None or tail.count >= length(part):
            return None
        is_neutral = self.name in SUMS and not tail.number.value.data
        return tail if self.name in EXTREMES or is_neutral else None

    def _sums_of_products(self, product: arith.MulfOp, kept: int) -> SSAValue:
        """Return a few partial sums of products, each of which is added as it is computed.

        Products behind the first `kept` are left out.
        """
        few = gcd(length(product.result), PARTIAL_SUMS)

        def factors(first: int) -> tuple[SSAValue, SSAValue]:
            a, b = (strip(self.e, factor, first, few) for factor in product.operands)
            return a, b

        sums = self.e.insert(arith.MulfOp(*factors(0))).result
        for first in range(few, kept, few):
            a, b = factors(first)
            sums = self.e.insert(math.FmaOp(a, b, sums)).result
        return sums

    def in_warp(self, value: SSAValue, lanes: int) -> SSAValue:
        """Combine over groups of neighbouring lanes, for all of them: butterfly shuffles."""
        if lanes == WARP and self.wide == i32 and self.name in REDUX:
            return self.e.insert(ReduxOp(value, REDUX[self.name])).result
        distance = lanes // 2
        while distance:
            value = self.across(value, distance)
            distance //= 2
        return value

    def across(self, value: SSAValue, distance: int) -> SSAValue:
        """Combine the values of two lanes whose ids differ in the bits of `distance`, for both."""
        return self.combine(value, across(self.e, value, distance))


def exact_product(value: SSAValue) -> arith.MulfOp | None:
    """Return the product that a value is, if fusing it with a sum does no more than round once."""
    made = value.owner
    if not isinstance(made, arith.MulfOp) or float_mode(made) != FloatMode():
        return None
    return made


def wide_type(type_: Attribute) -> Attribute | None:
    """Return the type that elements are combined in; None for elements that lanes do not shuffle.

    f16 is combined in f32, i8 in i32, f64 as it is.
    """
    is_float, is_integer = isinstance(type_, AnyFloat), isinstance(type_, IntegerType)
    bits = bits_of(type_)
    if not is_float and not is_integer:
        return None
    if bits < WORD_BITS:
        return f32 if is_float else i32
    return type_ if bits in SHUFFLED_BITS else None
