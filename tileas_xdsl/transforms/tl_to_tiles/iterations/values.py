"""Values of the iterations of a parallel loop: tiles by its dimensions, and choices among them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import field

from xdsl.dialects import arith
from xdsl.dialects.builtin import TensorType, i1, i32
from xdsl.ir import SSAValue

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.nv_tileaa.base import element_of, shape_of
from tileas_xdsl.dialects.nv_tileaa.compute import shapes
from tileas_xdsl.transforms.tl_to_tiles.raising import INDEX, Raising, check_extents
from tileas_xdsl.transforms.tl_to_tiles.scalars.index_forms import IndexForm


@dataclass(frozen=True)
class Condition:
    """A condition of the program under which iterations come to an operation."""

    value: SSAValue
    is_negated: bool


@dataclass
class Iterations:
    """What the iterations of one loop have: a tile for each value, or a scalar."""

    state: Raising
    extents: tuple[int, ...]
    variables: Sequence[SSAValue]
    values: dict[SSAValue, SSAValue] = field(default_factory=dict[SSAValue, SSAValue])
    mask: SSAValue | None = None
    """Which iterations come here."""
    conditions: tuple[Condition, ...] = ()
    """What the mask is the conjunction of."""
    private: dict[tuple[SSAValue, tuple[int, ...]], SSAValue] = field(
        default_factory=dict[tuple[SSAValue, tuple[int, ...]], SSAValue]
    )
    """Elements of buffers that each iteration has of its own."""

    def value(self, value: SSAValue) -> SSAValue:
        """Return what a value became: a tile, or a scalar that all iterations share."""
        if value in self.values:
            return self.values[value]
        form = self.state.indices.of(value) if value.type == INDEX else None
        if form is not None and form.is_constant:
            return self.state.constant(form.constant, i32)
        if value in self.variables:
            return self._counted(value)
        if form is not None and value not in form.terms and value not in self.state.scalars:
            return self._summed(value, form)
        scalar = self.state.scalar(value)
        return self.state.i32(scalar) if scalar.type == INDEX else scalar

    def _summed(self, value: SSAValue, form: IndexForm) -> SSAValue:
        """Return an affine form of variables and scalars as a tile."""
        total = self.state.constant(form.constant, i32)
        for atom, factor in form.terms.items():
            part = self.value(atom)
            if factor != 1:
                part = self.combined(arith.MuliOp, part, self.state.constant(factor, i32))
            total = (
                part if constant_integer(total) == 0 else self.combined(arith.AddiOp, total, part)
            )
        self.values[value] = total
        return total

    def combined(
        self, kind: type[arith.SignlessIntegerBinaryOperation], left: SSAValue, right: SSAValue
    ) -> SSAValue:
        """Return an operation on tiles, one of which is repeated where the other has more."""
        if (shape := self.common([left, right])) is not None:
            left, right = self.spread(left, shape), self.spread(right, shape)
        return self.state.insert(kind(left, right)).result

    def _counted(self, variable: SSAValue) -> SSAValue:
        axis = list(self.variables).index(variable)
        check_extents(self.state, [self.extents[axis]])
        extent = self.extents[axis]
        counted = self.state.insert(shapes.MakeRangeOp(0, extent, TensorType(i32, [extent]))).result
        shape = [n if k == axis else 1 for k, n in enumerate(self.extents)]
        self.values[variable] = self.state.reshaped(counted, shape)
        return self.values[variable]

    def spread(self, value: SSAValue, shape: Sequence[int]) -> SSAValue:
        """Return a value as a tile of a shape."""
        if not isinstance(value.type, TensorType):
            return self.state.splat(value, shape)
        return self.state.broadcast(value, shape)

    def common(self, values: Sequence[SSAValue]) -> tuple[int, ...] | None:
        """Return the extents that tiles have together; None where all are scalars."""
        found = [shape for value in values if (shape := shape_of(value.type))]
        return tuple(max(extents) for extents in zip(*found, strict=True)) if found else None


def where(work: Iterations, value: SSAValue, before: SSAValue | None) -> SSAValue:
    """Return a value where iterations come here, else what was before."""
    if work.mask is None:
        return value
    if before is None:
        raise work.state.refuse("writes under a condition what nothing was written to before")
    return choose(work, work.mask, value, before)


def choose(work: Iterations, condition: SSAValue, yes: SSAValue, no: SSAValue) -> SSAValue:
    """Select between values of iterations, element by element."""
    sides = [condition, yes, no]
    if (shape := work.common(sides)) is not None:
        sides = [work.spread(side, shape) for side in sides]

    def chosen(values: Sequence[SSAValue]) -> SSAValue:
        return work.state.insert(arith.SelectOp(*values)).result

    return work.state.by_element(element_of(yes.type), sides, chosen)


def negated(work: Iterations, value: SSAValue) -> SSAValue:
    """Return the negation of an `i1`, or of a tile of them."""
    one = work.state.constant(1, i1)
    if shape := shape_of(value.type):
        one = work.spread(one, shape)
    return work.state.insert(arith.XOrIOp(value, one)).result


def both(work: Iterations, a: SSAValue | None, b: SSAValue) -> SSAValue:
    """Return the conjunction of two conditions; the second alone where there is no first one."""
    if a is None:
        return b
    shape = work.common([a, b])
    sides = (a, b) if shape is None else (work.spread(a, shape), work.spread(b, shape))
    return work.state.insert(arith.AndIOp(*sides)).result
