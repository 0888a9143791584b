"""Compute on whole buffers: reductions, scans, matrix products; and atomic updates."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import BoolAttr, IndexType, IntegerAttr, MemRefType, UnitAttr, i64
from xdsl.irdl import (
    AnyAttr,
    VarConstraint,
)

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition
from tileas_xdsl.dialects.tl.base import (
    BUFFER,
    check_scope,
    check_static,
    element_of,
    extents_text,
    number,
    shape_of,
)
from tileas_xdsl.dialects.tl.checks import (
    check_in_kernel,
    check_indices,
    check_not_in_loop,
    check_same_shape,
    parallel_around,
)
from tileas_xdsl.dialects.tl.elements import PRODUCTS, has_nan_order, is_combinable, is_summable
from tileas_xdsl.dialects.tl.enums import Policy, PolicyAttr, Reduction, ReductionAttr
from tileas_xdsl.inference.program import Scope

_IN_BLOCK = (Scope.SHARED, Scope.FRAGMENT)


def _reduction(kind: Reduction | str) -> ReductionAttr:
    return ReductionAttr(Reduction(kind))


def _policy(policy: Policy | str) -> PolicyAttr:
    return PolicyAttr(Policy(policy))


@irdl_op_definition
class ReduceOp(FieldsOp):
    """`tl.reduce max %x to %m axis 1`: reduce `source` along `axis` into `target`.

    The axis is dropped, or has extent 1 with `keep_dims`.  With `clear = false` the old elements of
    `target` take part.  The order of the reduction is unspecified.

    `max`, `min` and `absmax` of floats leave out NaN (of NaN alone they are -inf, inf and 0);
    with `nan_propagate` a NaN among the elements is the result.
    """

    name = "tl.reduce"

    kind: fields.Field[ReductionAttr, Reduction | str] = fields.prop(
        ReductionAttr, convert=_reduction
    )
    source: fields.Operand = fields.operand(BUFFER)
    target: fields.Operand = fields.operand(BUFFER)
    axis: fields.Int = fields.prop(IntegerAttr.constr(i64), convert=number)
    keep_dims: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)
    clear: fields.Field[BoolAttr, bool] = fields.prop(
        BoolAttr,
        default=True,
        kw_only=True,
        convert=BoolAttr.from_bool,
        default_value=BoolAttr.from_bool(True),
    )
    nan_propagate: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)

    assembly_format = (
        "$kind $source `to` $target `axis` $axis attr-dict `:` type($source) `to` type($target)"
    )

    @property
    def reduction(self) -> Reduction:
        """How elements combine."""
        return self.kind.data

    @property
    def is_cleared(self) -> bool:
        """Whether what the target holds before does not count."""
        return bool(self.clear)

    def verify_(self) -> None:
        _check_along_axis(self, (Scope.FRAGMENT,))
        shape, axis = shape_of(self.source.type), self.axis.value.data
        kept = (1,) if self.keep_dims is not None else ()
        wanted = (*shape[:axis], *kept, *shape[axis + 1 :])
        if shape_of(self.target.type) != wanted:
            text = f"of {extents_text(shape)} along axis {axis} gives {extents_text(wanted)}"
            raise op_error(self, f"{text}, not {extents_text(shape_of(self.target.type))}")
        element = element_of(self.source.type)
        if not is_combinable(self.reduction, element):
            raise op_error(self, f"has no {self.reduction} of {element}")
        if self.nan_propagate is not None and not has_nan_order(self.reduction, element):
            text = "nan_propagate is of max, min and absmax of floats"
            raise op_error(self, f"{text}, not of {self.reduction} of {element}")


@irdl_op_definition
class CumSumOp(FieldsOp):
    """`tl.cumsum %x to %y axis 1`: inclusive prefix sum along `axis`.

    With `reverse` it runs from the last element to the first.  Both may be one buffer.
    """

    name = "tl.cumsum"

    source: fields.Operand = fields.operand(BUFFER)
    target: fields.Operand = fields.operand(BUFFER)
    axis: fields.Int = fields.prop(IntegerAttr.constr(i64), convert=number)
    reverse: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)

    assembly_format = (
        "$source `to` $target `axis` $axis attr-dict `:` type($source) `to` type($target)"
    )

    def verify_(self) -> None:
        _check_along_axis(self, _IN_BLOCK)
        check_same_shape(self, "sums", self.source.type, self.target.type)
        if not is_summable(element := element_of(self.source.type)):
            raise op_error(self, f"has no sums of {element}")


def _check_along_axis(op: ReduceOp | CumSumOp, allowed: Sequence[Scope]) -> None:
    """Both buffers, their elements, and the axis."""
    check_in_kernel(op)
    check_not_in_loop(op)
    for what, type_ in (("a source", op.source.type), ("a target", op.target.type)):
        check_scope(op, what, type_, allowed)
        check_static(op, what, type_)
    elements = element_of(op.source.type), element_of(op.target.type)
    if elements[0] != elements[1]:
        raise op_error(op, f"combines {elements[0]} into {elements[0]}, not {elements[1]}")
    rank, axis = len(shape_of(op.source.type)), op.axis.value.data
    if not 0 <= axis < rank:
        raise op_error(op, f"has an axis from 0 to {rank - 1}, not {axis}")


@irdl_op_definition
class GemmOp(FieldsOp):
    """`tl.gemm %a, %b, %c`: C += A B, or C = A B with `clear`.

    A is M x K (K x M with `transpose_a`), B is K x N (N x K with `transpose_b`).  A and B are in
    shared memory or fragments, C is a fragment.  f32 operands are read as tf32; the accumulator of
    floats is f32.
    """

    name = "tl.gemm"

    a: fields.Operand = fields.operand(BUFFER)
    b: fields.Operand = fields.operand(BUFFER)
    c: fields.Operand = fields.operand(BUFFER)
    policy: fields.Field[PolicyAttr | None, Policy | str | None] = fields.opt_prop(
        PolicyAttr, default=None, kw_only=True, convert=_policy
    )
    transpose_a: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)
    transpose_b: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)
    clear: fields.Flag = fields.opt_prop(UnitAttr, default=False, kw_only=True)

    assembly_format = (
        "$a `,` $b `,` $c (`policy` `(` $policy^ `)`)? attr-dict "
        "`:` type($a) `,` type($b) `,` type($c)"
    )

    @property
    def warp_policy(self) -> Policy:
        """How warps partition the product; `square` by default."""
        return Policy.SQUARE if self.policy is None else self.policy.data

    @property
    def sizes(self) -> tuple[int, int, int]:
        """M, N and K."""
        (m, k), (_, n) = self._operand_shapes()
        return m, n, k

    def _operand_shapes(self) -> tuple[tuple[int, int], tuple[int, int]]:
        """The extents of A as M x K and of B as K x N."""
        a, b = shape_of(self.a.type), shape_of(self.b.type)
        a, b = (a[::-1] if self.transpose_a else a), (b[::-1] if self.transpose_b else b)
        return (a[0], a[1]), (b[0], b[1])

    def verify_(self) -> None:
        check_in_kernel(self)
        check_not_in_loop(self)
        for what, type_, allowed in (
            ("A", self.a.type, _IN_BLOCK),
            ("B", self.b.type, _IN_BLOCK),
            ("C", self.c.type, (Scope.FRAGMENT,)),
        ):
            check_scope(self, what, type_, allowed)
            check_static(self, what, type_)
            if len(shape_of(type_)) != 2:
                raise op_error(self, f"has {what} of 2 dimensions, not {type_}")
        (m, k), (depth, n) = self._operand_shapes()
        if k != depth:
            text = "multiplies M x K by K x N"
            raise op_error(
                self, f"{text}, not {extents_text((m, k))} by {extents_text((depth, n))}"
            )
        if shape_of(self.c.type) != (m, n):
            given = extents_text(shape_of(self.c.type))
            raise op_error(self, f"has C of {extents_text((m, n))}, not {given}")
        self._check_elements()

    def _check_elements(self) -> None:
        a, b, c = (str(element_of(value.type)) for value in (self.a, self.b, self.c))
        accumulators = PRODUCTS.get((a, b))
        if accumulators is None:
            raise op_error(self, f"multiplies no {a} by {b}")
        if c not in accumulators:
            raise op_error(
                self, f"sums products of {a} and {b} in {' or '.join(accumulators)}, not in {c}"
            )


@irdl_op_definition
class AtomicAddOp(FieldsOp):
    """`tl.atomic_add %buf[%i], %v`: one iteration adds to an element; others may add to it too."""

    name = "tl.atomic_add"

    T: ClassVar = VarConstraint("T", AnyAttr())

    buffer: fields.Operand = fields.operand(MemRefType.constr(T))
    indices: fields.Operands = fields.operands(IndexType())
    value: fields.Operand = fields.operand(T)

    assembly_format = "$buffer `[` $indices `]` `,` $value attr-dict `:` type($buffer)"

    def verify_(self) -> None:
        check_in_kernel(self)
        if parallel_around(self) is None:
            raise op_error(self, "adds for one iteration: put it into a tl.parallel")
        check_scope(self, "a buffer", self.buffer.type, (Scope.GLOBAL, Scope.SHARED))
        check_indices(self, self.buffer, self.indices)
        if not is_summable(element := element_of(self.buffer.type)):
            raise op_error(self, f"has no sums of {element}")
