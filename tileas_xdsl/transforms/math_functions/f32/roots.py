"""Square roots of fragments: rounded, by one test of all elements instead of a branch for each.

    r = rsqrt.approx(x)        s = x * r        sqrt(x) = s + (x - s * s) * (r / 2)

That is what ptxas makes of `sqrt.rn` where nothing under- or overflows, and rounds as that does; it
branches at every element, so that no two of them are computed beside one another.
"""

from __future__ import annotations

from xdsl.dialects import arith, math, scf, vector
from xdsl.dialects.builtin import UnitAttr, f32, i32
from xdsl.ir import Block, Region

from tileas_xdsl.dialects.cute import MakeFragmentOp, SliceFragmentOp
from tileas_xdsl.dialects.nv_tileas.compute.float_modes import FLUSH
from tileas_xdsl.transforms.math_functions.expression_builder import Scope, Value
from tileas_xdsl.transforms.math_functions.fragment_reductions import reduced

SMALLEST = 2.0**-101
SMALLEST_BITS = 0x0D000000
"""From here on no number on the way is subnormal."""
LARGEST_BITS = 0x7F7FFFFF
"""Above are infinity, NaN and what is negative, as unsigned integers."""


def sqrt_of_fragment(x: Value, lowest: float) -> Value:
    """The square roots of a fragment of f32, none of them of less than `lowest`."""
    is_plain = reduced([x.bits()], arith.MaxUIOp).compare("ule", LARGEST_BITS)
    if lowest < SMALLEST:
        bits = x.bits()
        # Zero becomes the largest of all.
        keys = reduced([bits + bits + -1], arith.MinUIOp)
        is_plain = is_plain & keys.compare("uge", 2 * SMALLEST_BITS - 1)
    block = Block()
    inner = Scope(block.add_op, x.scope.length)
    found = _root(Value(inner, x.ssa, x.element), may_be_zero=lowest < SMALLEST)
    block.add_op(scf.YieldOp(found.ssa))
    choice = scf.IfOp(is_plain.ssa, [x.ssa.type], Region(block), _one_by_one(x))
    x.scope.insert(choice)
    return x.scope.take(choice.output[0])


def _root(x: Value, *, may_be_zero: bool) -> Value:
    """The square root of what is zero, or large and finite."""
    y = x.at_least(SMALLEST) if may_be_zero else x
    inverse = y.scope.make(math.RsqrtOp, [y], f32, {FLUSH: UnitAttr()})
    about = x * inverse
    return (-about).fma(about, x).fma(inverse * 0.5, about)


def _one_by_one(x: Value) -> Region:
    """A loop past whose fixed position the fragment rotates: registers have no numbers."""
    block, length = Block(), x.scope.length
    assert length is not None
    scope = Scope(block.add_op)
    zero, count, one = (scope.constant(number, i32).ssa for number in (0, length, 1))
    body = Block(arg_types=[i32, x.ssa.type])
    head = vector.ExtractOp(body.args[1], [0], f32)
    tail = SliceFragmentOp(body.args[1], 1, length - 1)
    root = math.SqrtOp(head.result)
    turned = MakeFragmentOp([tail.result, root.result])
    body.add_ops([head, tail, root, turned, scf.YieldOp(turned.result)])
    loop = scf.ForOp(zero, count, one, [x.ssa], body)
    block.add_ops([loop, scf.YieldOp(loop.results[0])])
    return Region(block)
