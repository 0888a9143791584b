"""The pass `balance-inverses`: between products, a quarter of the inverses is computed by `fma`.

    %q = divf %a, %b {approx, ftz} : vector<64xf32>
    // becomes
    %l = divf %a[0..47], %b[0..47] {approx, ftz}
    %y = as_float(0x7EF311C7 - bits(%b[48..63]))       // 1 / b, 12 % off
    %y = fma(fma(-b, %y, 1), %y, %y), three times      // 1 / b, 2**-24 off
    %q = %l, %a[48..63] * select(b > 2**126, 0, %y)

The unit of `ex2` and `rcp` (MUFU) has four lanes a cycle for each scheduler, which issues an
instruction of 32 lanes a cycle.  Where an iteration has more than an eighth of its instructions
there, as weights of two functions do, schedulers wait for it, and nine instructions of others cost
little more than one of it does.  The first inverse is the line through powers of two that exponents
give (Blinn), and each step of Newton's method squares its error.
"""

from __future__ import annotations

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, math
from xdsl.dialects.builtin import ModuleOp, VectorType, f32
from xdsl.ir import Block, Operation, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.analysis.values.float_intervals import SMALLEST_NORMAL
from tileas_xdsl.analysis.values.float_ranges import FloatRanges
from tileas_xdsl.analysis.values.operand_ranges import operand_ranges
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import MakeFragmentOp, SliceFragmentOp
from tileas_xdsl.dialects.cute.types.elements import element_of
from tileas_xdsl.dialects.cute_nvgpu import MmaSm90Op
from tileas_xdsl.dialects.ir_queries import ELEMENTWISE_DIALECTS
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import FLUSH, ROUNDING, float_mode
from tileas_xdsl.threads.registers.vector_values import length
from tileas_xdsl.transforms.math_functions.expression_builder import Scope, Value

PART = 4
"""One inverse of so many.

On an H200, TFLOP/s of none, a quarter, half: scores bounded by a tangent, d 64 213, 233, 235; silu
of scores, d 64 336, 359, 333, d 128 527, 561, 534.
"""

MIN_ELEMENTS = 16
"""Of a fragment, so that a quarter of it is worth a piece of its own."""

CYCLES = 8
"""Of an instruction of a warp in the unit for functions; others take one."""

EXPONENTS = 0x7EF311C7
"""Less the bits of a positive f32, the bits of its inverse, 12 % off at most."""

STEPS = 3
"""Of Newton's method: 0.12 to the power of eight is 2**-24."""

LARGEST = 2.0**126
"""Inverses of larger numbers are subnormal, which the instruction flushes to zero."""


@dataclass(frozen=True)
class BalanceInverses(ModulePass):
    """Compute a quarter of approximate quotients by fused multiply-adds, between products.

    Needs: kernels of threads, behind `place-turns`.

    Leaves: of fragments in blocks that multiply by warpgroups, and that have more work for the unit
    of functions than for schedulers, quotients by positive numbers in two parts.

    It has no diagnostics and never stops a pipeline.
    """

    name = "balance-inverses"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        ranges = FloatRanges()
        quotients = [one for one in instances_in(op, arith.DivfOp) if _is_approximate(one, ranges)]
        waiting = {block for one in quotients if (block := one.parent) and _waits(block)}
        for quotient in quotients:
            if quotient.parent in waiting:
                _divide(quotient)


def _is_approximate(op: arith.DivfOp, ranges: FloatRanges) -> bool:
    """Whether a quotient of a fragment is by the instruction, and a positive number."""
    type_, mode = op.result.type, float_mode(op)
    if not isinstance(type_, VectorType) or length(op.result) < MIN_ELEMENTS:
        return False
    if element_of(type_) != f32 or mode.rounding != "approx" or not mode.ftz:
        return False
    _, divisor = operand_ranges(op, ranges)
    return divisor.low >= SMALLEST_NORMAL


def _waits(block: Block) -> bool:
    """Whether a block multiplies, and its functions take longer than what schedulers issue."""
    ops = list(block.ops)
    issued = sum(length(op.results[0]) for op in ops if _is_of_elements(op))
    functions = sum(length(op.results[0]) for op in ops if _is_function(op))
    return any(isinstance(op, MmaSm90Op) for op in ops) and CYCLES * functions > issued


def _is_of_elements(op: Operation) -> bool:
    is_fragment = len(op.results) == 1 and isinstance(op.results[0].type, VectorType)
    return is_fragment and op.name.startswith(ELEMENTWISE_DIALECTS)


def _is_function(op: Operation) -> bool:
    """Whether a fragment is computed by the unit of functions."""
    if not _is_of_elements(op):
        return False
    is_quotient = isinstance(op, arith.DivfOp) and float_mode(op).rounding == "approx"
    return is_quotient or isinstance(op, math.Exp2Op)


def _divide(op: arith.DivfOp) -> None:
    """Compute the last quarter of the quotients by fused multiply-adds."""
    whole = length(op.result)
    first = whole - whole // PART
    build = Builder(InsertPoint.before(op))

    def insert(made: Operation) -> None:
        build.insert(made)

    def part(value: SSAValue, begin: int, count: int) -> SSAValue:
        return build.insert(SliceFragmentOp(value, begin, count)).result

    left = arith.DivfOp(part(op.lhs, 0, first), part(op.rhs, 0, first))
    left.attributes.update({name: op.attributes[name] for name in (ROUNDING, FLUSH)})
    build.insert(left)
    scope = Scope(insert, whole - first)
    a, b = (scope.take(part(value, first, whole - first)) for value in op.operands)
    (right,) = scope.stage(_quotient, a, b)
    Rewriter.replace_op(op, MakeFragmentOp([left.result, right.ssa]))


def _quotient(a: Value, b: Value) -> tuple[Value]:
    """The product with the inverse of a positive number; NaN of NaN."""
    inverse = (EXPONENTS - b.bits()).as_float()
    for _ in range(STEPS):
        inverse = (-b).fma(inverse, 1.0).fma(inverse, inverse)
    return (a * b.compare("gt", LARGEST).then(0.0, inverse),)
