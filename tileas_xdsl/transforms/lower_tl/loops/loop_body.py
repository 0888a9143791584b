"""Lower the scalar operations of a `tl.parallel` body, vectorised over the iterations of a thread.

Layout inference gave the loop a layout, so the indices of iteration `k` of thread `t` are
numbers known at compile time. A value of the body is one of two things:

* `ThreadAffine`: an affine form whose constant and coefficients are tables `(threads, iterations)`;
  code is emitted only where the value is used, mostly as an address plus an immediate offset;
* an SSA value: a `vector` over the iterations of a thread, or a scalar where all agree (uniform).

For 128 threads and 4 iterations with the layout `i = 4 * thread + k`:

    tl.parallel (%i) in (512) {
      %v = memref.load %x[%i]                 vector<4xf32>: one 16-byte load at 4 * thread
      %h = arith.mulf %v, %half               arith.mulf on vector<4xf32>
      %c = arith.cmpi slt, %i, %c512          folded: every index is below 512
      memref.store %h, %y[%i]                 one 16-byte store
    }

Divisions and comparisons of affine forms are decided by their ranges where possible; only what
depends on a run-time scalar in a non-affine way is computed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias, TypeGuard

import numpy as np
from xdsl.dialects import affine, arith, math, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr, VectorType, i1, i32, i64
from xdsl.ir import Attribute, Block, Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.locations import name_of
from tileas_xdsl.dialects.affine_expressions import number_of_affine
from tileas_xdsl.dialects.cute import SelectFragmentOp
from tileas_xdsl.dialects.cute.registers.elementwise import MapFragmentOp, YieldFragmentOp
from tileas_xdsl.dialects.xdsl_ops import on_types
from tileas_xdsl.layout.expr.affine_form import AffineForm
from tileas_xdsl.layout.expr.expression import BinaryExpression, Number, Position, Variable
from tileas_xdsl.threads.codegen.elementwise_ops import on_scalars, on_vectors
from tileas_xdsl.threads.codegen.integer_ops import divide, index_constant, modulo, multiply
from tileas_xdsl.threads.codegen.lowered_values import GlobalView
from tileas_xdsl.threads.index.constant_tables import constant_table, folded
from tileas_xdsl.threads.index.generate import ONE_BY_ONE
from tileas_xdsl.threads.index.thread_affine import (
    ThreadAffine,
    is_uniform,
    of_iterations,
    of_scalar,
    of_table,
    uniform,
)
from tileas_xdsl.transforms.lower_tl.loops.loop_body_state import LoopBodyState, Value

BodyHandler: TypeAlias = Callable[[LoopBodyState, Any], Sequence[Value]]
"""What an operation of a body gives."""

INDEX_TYPES = (IndexType(), i32, i64)
"""Integer types that are wide enough for every index."""

Bodies: TypeAlias = Mapping[type[Operation], BodyHandler]


def run(work: LoopBodyState, block: Block, handlers: Bodies) -> Sequence[Value]:
    """Lower a block of a body and return the operands of its terminator."""
    for op in block.ops:
        if op.name.endswith("yield"):
            return [work.value(value) for value in op.operands]
        lower(work, op, handlers)
    return ()


def lower(work: LoopBodyState, op: Operation, handlers: Bodies) -> None:
    """Lower one operation of a body."""
    outer, work.e.source = work.e.source, op
    handler = handlers.get(type(op)) or _SCALARS.get(type(op))
    if handler is None:
        raise op_error(op, f"'{name_of(op)}' is not lowered to threads yet")
    found = handler(work, op)
    work.values.update(zip(op.results, found, strict=True))
    work.e.source = outer


# integers


def apply(work: LoopBodyState, op: affine.ApplyOp) -> Sequence[Value]:
    """Lower `affine.apply` to an affine form."""
    map_ = op.map.data
    operands = [work.affine(value) for value in op.mapOperands]
    dims, symbols = operands[: map_.num_dims], operands[map_.num_dims :]
    return [_expression(work, number_of_affine(map_.results[0]), dims, symbols)]


def _expression(
    work: LoopBodyState,
    expression: Number,
    dims: Sequence[ThreadAffine],
    symbols: Sequence[ThreadAffine],
) -> ThreadAffine:
    if isinstance(expression, int):
        return uniform(expression)
    if isinstance(expression, Variable):
        key: Position = expression.key
        return dims[key.number] if key.letter == "d" else symbols[key.number]
    assert isinstance(expression, BinaryExpression)
    left = _expression(work, expression.lhs, dims, symbols)
    right = _expression(work, expression.rhs, dims, symbols)
    return _combined(work, expression.kind, left, right)


def _combined(
    work: LoopBodyState, kind: str, left: ThreadAffine, right: ThreadAffine
) -> ThreadAffine:
    if kind == "add":
        return left.plus(right)
    if kind == "mul":
        return product(work, left, right)
    assert right.is_constant
    number = int(right.constant[0, 0])
    if kind == "floormod":
        return remainder(work, left, number)
    if kind == "floordiv":
        return quotient(work, left, number)
    return quotient(work, left.plus(uniform(number - 1)), number)


def product(work: LoopBodyState, left: ThreadAffine, right: ThreadAffine) -> ThreadAffine:
    """Multiply two forms: scale by the constant one, else compute the product."""
    if right.is_constant:
        return left.times(right.constant)
    if left.is_constant:
        return right.times(left.constant)
    if is_uniform(left) and is_uniform(right):
        return of_scalar(multiply(work.e, work.at(left, 0), work.at(right, 0)))
    pairs = [(work.at(left, k), work.at(right, k)) for k in range(work.count)]
    return of_iterations([multiply(work.e, *pair) for pair in pairs])


def quotient(work: LoopBodyState, left: ThreadAffine, divisor: int) -> ThreadAffine:
    """Floor division by a positive constant."""
    found = left.divided(divisor)
    if found is not None:
        return found
    if _may_be_negative(work, left):
        by = index_constant(work.e, divisor)
        return _of_each(work, left, lambda a: work.e.insert(arith.FloorDivSIOp(a, by)).result)
    return _of_each(work, left, lambda a: divide(work.e, a, divisor))


def remainder(work: LoopBodyState, left: ThreadAffine, divisor: int) -> ThreadAffine:
    """Floor modulus by a positive constant, never negative."""
    found = left.remainder(divisor)
    if found is not None:
        return of_table(found)
    if _may_be_negative(work, left):
        return left.plus(quotient(work, left, divisor).times(-divisor))
    return _of_each(work, left, lambda a: modulo(work.e, a, divisor))


def _may_be_negative(work: LoopBodyState, form: ThreadAffine) -> bool:
    limits = form.range(work.state.ranges.get)
    return limits is None or bool((limits[0] < 0).any())


def _of_each(
    work: LoopBodyState, operand: ThreadAffine, make: Callable[[SSAValue], SSAValue]
) -> ThreadAffine:
    """Apply a function to an affine form: once if it is uniform, else in each iteration."""
    if is_uniform(operand):
        return of_scalar(make(work.at(operand, 0)))
    return of_iterations([make(work.at(operand, k)) for k in range(work.count)])


def _integer(
    make: Callable[[LoopBodyState, ThreadAffine, ThreadAffine], ThreadAffine],
) -> BodyHandler:
    """Return a handler of index arithmetic that keeps affine forms where it can."""

    def handle(work: LoopBodyState, op: Operation) -> Sequence[Value]:
        known = [work.value(value) for value in op.operands]
        is_index = isinstance(op.results[0].type, IndexType)
        if not is_index or not any(isinstance(value, AffineForm) for value in known):
            return computed(work, op)
        return [make(work, *(work.affine(value) for value in op.operands))]

    return handle


def _minus(work: LoopBodyState, left: ThreadAffine, right: ThreadAffine) -> ThreadAffine:
    return left.plus(right.times(-1))


def _division(
    make: Callable[[LoopBodyState, ThreadAffine, int], ThreadAffine], *, floor: bool
) -> BodyHandler:
    """Return a handler of division by a constant.

    Truncating and flooring division agree on operands that are not negative; only those are
    folded where the operation truncates (`floor=False`).
    """

    def handle(work: LoopBodyState, op: Operation) -> Sequence[Value]:
        left, right = (work.value(value) for value in op.operands)
        divisor = known_number(right)
        if not isinstance(op.results[0].type, IndexType) or not isinstance(left, AffineForm):
            return computed(work, op)
        if divisor is None or divisor < 1:
            return computed(work, op)
        if not floor and _may_be_negative(work, left):
            return computed(work, op)
        return [make(work, left, divisor)]

    return handle


def known_number(value: Value) -> int | None:
    """Return the value if it is one constant for all threads and iterations, else None."""
    if not isinstance(value, AffineForm) or not value.is_constant:
        return None
    first = value.constant[0, 0]
    return int(first) if (value.constant == first).all() else None


def index_cast(work: LoopBodyState, op: arith.IndexCastOp) -> Sequence[Value]:
    """Change the integer type; every index type has 32 bits in generated code."""
    found = work.value(op.input)
    if isinstance(found, AffineForm) and not found.is_constant and op.result.type in INDEX_TYPES:
        return [found]
    return computed(work, op)


def compare(work: LoopBodyState, op: arith.CmpiOp) -> Sequence[Value]:
    """Lower a comparison; fold it where the ranges of its operands decide it."""
    sides = [work.value(value) for value in op.operands]
    if all(isinstance(side, AffineForm) for side in sides):
        known = _decided(work, op)
        if known is not None:
            return [uniform(int(known))]
    return computed(work, op)


def _decided(work: LoopBodyState, op: arith.CmpiOp) -> bool | None:
    """Return what a signed comparison is in all iterations that run, or None where they differ.

    The difference of both sides has a range per thread and iteration; a comparison with zero is
    monotonic, so that its value at both ends of the range decides it.
    """
    predicate = op.predicate.value.data
    difference = _minus(work, work.affine(op.lhs), work.affine(op.rhs))
    limits = difference.range(work.state.ranges.get)
    if limits is None or predicate not in _ORDERS:
        return None
    active = work.active
    low, high = (np.broadcast_to(limit, active.shape)[active] for limit in limits)
    if not len(low):
        return False
    found = [_ORDERS[predicate](side) for side in (low, high)]
    if all(bool(side.all()) for side in found):
        return True
    return False if not any(bool(side.any()) for side in found) else None


_ORDERS: Mapping[int, Callable[[Any], Any]] = {
    2: lambda difference: difference < 0,
    3: lambda difference: difference <= 0,
    4: lambda difference: difference > 0,
    5: lambda difference: difference >= 0,
}
"""By the predicate of `arith.cmpi`; both ends of a range decide these."""


# everything else


def constant(work: LoopBodyState, op: arith.ConstantOp) -> Sequence[Value]:
    """Lower a constant, an integer as an affine form."""
    if isinstance(op.value, IntegerAttr):
        table = constant_table(op)
        assert table is not None
        return [of_table(table.reshape(1, 1))]
    return [work.e.insert(arith.ConstantOp(op.value)).result]


def computed(work: LoopBodyState, op: Operation) -> Sequence[Value]:
    """Lower `arith` or `math`: fold constants, compute uniform values once, else on vectors."""
    values = [work.value(value) for value in op.operands]
    if values and all(isinstance(value, AffineForm) and value.is_constant for value in values):
        known = folded(op, [value.constant for value in values if isinstance(value, AffineForm)])
        if known is not None:
            return [of_table(known)]
    operands = [work.operand(value) for value in op.operands]
    if not any(isinstance(value.type, VectorType) for value in operands):
        return on_scalars(work.e, op, operands)
    return [_on_vectors(work, op, operands)]


def _on_vectors(work: LoopBodyState, op: Operation, operands: Sequence[SSAValue]) -> SSAValue:
    e, type_ = work.e, VectorType(op.results[0].type, [work.count])
    if isinstance(op, arith.SelectOp) and isinstance(operands[0].type, VectorType):
        mask, *sides = (work.spread(value) for value in operands)
        return e.insert(SelectFragmentOp(mask, *sides)).result
    if isinstance(op, ONE_BY_ONE):
        return _mapped(work, op, operands, type_)
    if isinstance(op, arith.SelectOp):
        first, *sides = operands
        return on_vectors(e, op, [first, *(work.spread(value) for value in sides)], type_)
    return on_vectors(e, op, [work.spread(value) for value in operands], type_)


def _mapped(
    work: LoopBodyState, op: Operation, operands: Sequence[SSAValue], type_: VectorType[Attribute]
) -> SSAValue:
    """An operation that xDSL has on scalars only, element by element."""
    vectors = [value for value in operands if isinstance(value.type, VectorType)]
    arguments = [given.type for given, v in zip(op.operands, operands, strict=True) if v in vectors]
    body = Block(arg_types=arguments)
    inner = iter(body.args)
    given = [next(inner) if isinstance(v.type, VectorType) else v for v in operands]
    made = on_types(op, given, [op.results[0].type])
    with work.e.within(body):
        work.e.insert(made)
        work.e.insert(YieldFragmentOp([made.results[0]]))
    return work.e.insert(MapFragmentOp(vectors, [type_], body)).results[0]


def dimension(work: LoopBodyState, op: memref.DimOp) -> Sequence[Value]:
    """An extent of an array."""
    view, axis = work.state.locations[op.source], known_number(work.value(op.index))
    if not isinstance(view, GlobalView) or axis is None:
        raise op_error(op, "asks for a constant dimension of an array")
    extent = view.extents[axis]
    return [uniform(extent) if isinstance(extent, int) else of_scalar(extent)]


def _is_known(value: Value) -> TypeGuard[ThreadAffine]:
    return isinstance(value, AffineForm) and value.is_constant


def chosen(
    work: LoopBodyState, condition: Value, first: Value, second: Value, type_: Attribute
) -> Value:
    """Lower a select, where the condition or both values may be known at compile time."""
    if isinstance(condition, AffineForm):
        if condition.is_constant and _is_known(first) and _is_known(second):
            return of_table(np.where(condition.constant != 0, first.constant, second.constant))
        decided = known_number(condition)
        if decided is not None:
            return first if decided else second
    sides = [work.written(v, type_) if isinstance(v, AffineForm) else v for v in (first, second)]
    mask = work.written(condition, i1) if isinstance(condition, AffineForm) else condition
    vectors = [v for v in (mask, *sides) if isinstance(v.type, VectorType)]
    if vectors:
        sides = [work.spread(value) for value in sides]
    if isinstance(mask.type, VectorType):
        return work.e.insert(SelectFragmentOp(mask, *sides)).result
    return work.e.insert(arith.SelectOp(mask, *sides)).result


def _all_of(module: Any) -> dict[type[Operation], BodyHandler]:
    known: Any = module
    return dict.fromkeys(known.operations, computed)


_SCALARS: Bodies = {
    **_all_of(arith.Arith),
    **_all_of(math.Math),
    affine.ApplyOp: apply,
    arith.AddiOp: _integer(lambda _, a, b: a.plus(b)),
    arith.CmpiOp: compare,
    arith.ConstantOp: constant,
    arith.DivSIOp: _division(quotient, floor=False),
    arith.DivUIOp: _division(quotient, floor=False),
    arith.FloorDivSIOp: _division(quotient, floor=True),
    arith.IndexCastOp: index_cast,
    arith.MuliOp: _integer(product),
    arith.RemSIOp: _division(remainder, floor=False),
    arith.RemUIOp: _division(remainder, floor=False),
    arith.SubiOp: _integer(_minus),
    memref.DimOp: dimension,
}
"""Operations that touch no buffer."""
