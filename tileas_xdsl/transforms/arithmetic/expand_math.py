"""The pass `expand-math`: expand math functions to accurate sequences of `arith`."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from xdsl.context import Context
from xdsl.dialects import arith, func, math, scf, vector
from xdsl.dialects.builtin import Float64Type, FloatAttr, ModuleOp, TensorType, f32, f64
from xdsl.ir import Operation
from xdsl.passes import ModulePass
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern

from tileas_xdsl.analysis.values.float_intervals import SMALLEST_NORMAL
from tileas_xdsl.analysis.values.float_ranges import FloatRanges
from tileas_xdsl.analysis.values.operand_ranges import operand_ranges
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import MapFragmentOp
from tileas_xdsl.dialects.cute.types.elements import as_vector, element_of
from tileas_xdsl.dialects.cute_nvgpu.mma.wgmma import MmaSm90Op
from tileas_xdsl.dialects.ir_queries import enclosing_function, uniform_constant
from tileas_xdsl.dialects.kinds import has_instance
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import float_mode
from tileas_xdsl.target.math_functions import MATH_FUNCTIONS
from tileas_xdsl.transforms.extension import apply_added, sweep
from tileas_xdsl.transforms.math_functions.expansions import (
    IN_ANY,
    IN_F32,
    IN_F64,
    OF_NORMAL,
    WHOLE_IN_F32,
    WHOLE_IN_F64,
    Expansion,
)
from tileas_xdsl.transforms.math_functions.expression_builder import (
    Scope,
    Value,
    is_integer,
    scope_of,
)
from tileas_xdsl.transforms.math_functions.f32.exponentials import (
    exp_of_fragment,
    one_plus_tanh,
)
from tileas_xdsl.transforms.math_functions.f32.roots import sqrt_of_fragment

MIN_ELEMENTS = 4
"""Elements from which on a test of all of them costs less than what it saves."""


class ExpandFunction(RewritePattern):
    """Expand a function to its sequence, unless an approximate instruction is allowed."""

    root_kinds = tuple({*IN_ANY, *IN_F32, *IN_F64, *WHOLE_IN_F32, *WHOLE_IN_F64, math.SqrtOp})

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if isinstance(op.results[0].type if op.results else None, TensorType):
            return
        expansion = _expansion(op)
        if expansion is None:
            return
        scope = scope_of(rewriter.insert, op)
        operands = [scope.take(value) for value in op.operands]
        rewriter.replace(op, (), [expansion(scope, operands).ssa])


def _expansion(op: Operation) -> Callable[[Scope, list[Value]], Value] | None:
    """What the operation becomes; None if it stays."""
    if isinstance(op, math.CopySignOp) and element_of(op.result.type) in (f32, f64):
        return None
    if (found := IN_ANY.get(type(op))) is not None:
        float_mode(op)
        return partial(_in_any, op, found)
    if op.results and _is_double(op):
        return _of_f64(op)
    in_f32 = _of_f32(op)
    if in_f32 is None:
        return None
    mode = float_mode(op)
    if MATH_FUNCTIONS[op.name.removeprefix("math.")].fast and mode.approximate:
        return None
    return partial(_in_f32, in_f32)


def _of_f64(op: Operation) -> Callable[[Scope, list[Value]], Value] | None:
    """The function of f64, which nothing approximates."""
    if (whole := WHOLE_IN_F64.get(type(op))) is not None:
        float_mode(op)
        return lambda _, operands: whole(*operands)
    if (found := IN_F64.get(type(op))) is None:
        return None
    float_mode(op)
    return lambda _, operands: _staged(found, *operands)


def _of_f32(op: Operation) -> Expansion | None:
    """The function of f32, for fragments too."""
    single, whole = IN_F32.get(type(op)), WHOLE_IN_F32.get(type(op))
    if (normal := OF_NORMAL.get(type(op))) is not None:
        (argument,) = operand_ranges(op, FloatRanges())
        single = normal if argument.low >= SMALLEST_NORMAL else single
    if isinstance(op, math.SqrtOp):
        return _roots(op) if _is_fragment(op) else None
    if isinstance(op, math.ExpOp) and _may_branch(op):
        (argument,) = operand_ranges(op, FloatRanges())
        return partial(exp_of_fragment, highest=argument.high, is_uniform=_is_uniform(op))
    return whole if single is None else partial(_staged, single)


def _may_branch(op: Operation) -> bool:
    """Whether a test of a fragment pays, and may stand there.

    ptxas waits for products of warpgroups at branches (C7510), so that nothing is computed beside
    them.
    """
    function = enclosing_function(op) if _is_fragment(op) else None
    return function is not None and not has_instance(function, MmaSm90Op)


def _is_fragment(op: Operation) -> bool:
    """Whether a test of all elements pays."""
    vector = as_vector(op.results[0].type)
    if vector is None or vector.get_shape()[0] < MIN_ELEMENTS:
        return False
    return not isinstance(op.parent_op(), MapFragmentOp)


def _roots(op: math.SqrtOp) -> Expansion | None:
    """Square roots to nearest, where the back end would branch at each element."""
    mode = float_mode(op)
    if mode.approximate or not mode.exact:
        return None
    (argument,) = operand_ranges(op, FloatRanges())
    return partial(sqrt_of_fragment, lowest=argument.low)


def _is_uniform(op: Operation) -> bool:
    """Whether all threads of a warp run an operation together: no branch is around it."""
    parent = op.parent_op()
    while isinstance(parent, scf.ForOp):
        parent = parent.parent_op()
    return isinstance(parent, func.FuncOp)


def _is_double(op: Operation) -> bool:
    return isinstance(element_of(op.results[0].type), Float64Type)


def _in_any(op: Operation, expansion: Expansion, scope: Scope, operands: list[Value]) -> Value:
    """Roundings of halves and bytes are computed in f32."""
    if isinstance(op, math.RoundOp) and not _is_double(op):
        return _in_f32(expansion, scope, operands)
    return expansion(*operands)


def _staged(expansion: Expansion, *operands: Value) -> Value:
    (result,) = operands[0].scope.stage(lambda *v: (expansion(*v),), *operands)
    return result


def _in_f32(expansion: Expansion, scope: Scope, operands: list[Value]) -> Value:
    """Narrower floats are extended before and rounded behind."""
    element = operands[0].element
    if element == f32:
        return expansion(*operands)
    wide = [v if is_integer(v.element) else v.wide_to(f32) for v in operands]
    return expansion(*wide).cast("truncf", element)


class ExpandOnePlusTanh(RewritePattern):
    """Expand `1 + tanh(x)` and `1 - tanh(x)` together, as a smooth step is written."""

    root_kinds = (arith.AddfOp, arith.SubfOp)

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        if element_of(op.results[0].type) != f32 or isinstance(op.results[0].type, TensorType):
            return
        one, function = op.operands
        if isinstance(op, arith.AddfOp) and isinstance(one.owner, math.TanhOp):
            one, function = function, one
        if isinstance(one.owner, vector.BroadcastOp):
            one = one.owner.source
        tanh, number = function.owner, uniform_constant(one)
        if not isinstance(tanh, math.TanhOp) or not function.has_one_use():
            return
        is_one = isinstance(number, FloatAttr) and number.value.data == 1
        modes = [float_mode(each) for each in (op, tanh)]
        if not is_one or not all(mode.exact and not mode.approximate for mode in modes):
            return
        scope = scope_of(rewriter.insert, op)
        x = scope.take(tanh.operand)
        made = one_plus_tanh(x if isinstance(op, arith.AddfOp) else -x)
        rewriter.replace(op, (), [made.ssa])
        rewriter.erase(tanh)


PATTERNS: tuple[RewritePattern, ...] = (ExpandFunction(),)
"""The patterns of `expand-math`."""


@dataclass(frozen=True)
class ExpandMath(ModulePass):
    """Expand functions of `math`, within the error bounds of `target/math_functions.py`.

    On scalars and on fragments; tiles are to be fragments first.  Functions of f64 that are not
    written out stay, and the back end says which of them it has.
    """

    name = "expand-math"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        apply_added(ExpandMath.name, op)
        sweep(op, (ExpandOnePlusTanh(),))
        sweep(op, PATTERNS)
