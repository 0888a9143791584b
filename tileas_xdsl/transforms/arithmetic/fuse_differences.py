"""The pass `fuse-differences`: arguments of weights are one instruction each, near zero.

    %x = subf %s, (%m for each row)           %n = mulf %m, %c                // of two rows
    %y = mulf %x, %c                          %near = all lanes: |%n| <= 64
    %p = math.exp2 %y {weight}         ->     %t, %o = if %near { %s, %n } else { %s - %m, 0 }
                                              %y = fma %t, %c, -(%o for each row)
                                              %p = math.exp2 %y

Rounding `m c` alone shows where m is large: of a row that is masked by -1e9 all weights would be as
far off as 2**64.  Up to 64 it is 2**-19, and so are what the scale and the sum are rounded by near
it: the argument is less than 2**-17 off, and no weight of 16 bits more than 0.52 of its last place.
Warps choose: ptxas lets products run on at a branch that all lanes take alike.
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.builder import Builder
from xdsl.context import Context
from xdsl.dialects import arith, math, scf, vector
from xdsl.dialects.builtin import FloatAttr, ModuleOp, f32
from xdsl.ir import Block, Region, SSAValue
from xdsl.passes import ModulePass
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.dialects.cute import MakeFragmentOp, SliceFragmentOp
from tileas_xdsl.dialects.cute.types.elements import as_vector
from tileas_xdsl.dialects.cute_nvgpu import MmaSm90Op, VoteOp
from tileas_xdsl.dialects.ir_queries import uniform_constant
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.compute.weights import is_weight
from tileas_xdsl.dialects.xdsl_ops import extraction
from tileas_xdsl.threads.registers.vector_values import element_type, length

NEAR = 64.0
"""Products of the maxima of rows, in powers of two, up to which differences are fused."""


@dataclass(frozen=True)
class FuseDifferences(ModulePass):
    """Compute the arguments of weights by one instruction each, where rows are near zero.

    Needs: kernels of threads, in front of `place-turns`.

    Leaves: of powers with `nv_tileas.weight` between products of warpgroups, arguments that are a
    fused product and difference, behind a branch of the warp.

    Idempotent; it has no diagnostics and never stops a pipeline.
    """

    name = "fuse-differences"

    def apply(self, ctx: Context, op: ModuleOp) -> None:
        for power in instances_in(op, math.Exp2Op):
            if is_weight(power) and (found := _Argument.of(power)) is not None:
                _fuse(power, found)


@dataclass(frozen=True)
class _Argument:
    """`(tile - rows) * factor`, of a thread's elements, where `rows` repeats a few numbers."""

    difference: arith.SubfOp
    factor: SSAValue
    parts: Sequence[SSAValue]
    """Of the numbers of rows, as elements need them."""
    rows: SSAValue

    @staticmethod
    def of(power: math.Exp2Op) -> _Argument | None:
        """Read the argument of a power, which nothing else needs, beside products."""
        product, block = power.operand.owner, power.parent
        if block is None or not isinstance(product, arith.MulfOp) or not _is_used_once(product):
            return None
        if not any(isinstance(op, MmaSm90Op) for op in block.ops):
            return None
        for value, factor in (product.operands, product.operands[::-1]):
            minus = value.owner
            if isinstance(minus, arith.SubfOp) and _is_used_once(minus) and _is_uniform(factor):
                if isinstance(minus.lhs.owner, arith.MulfOp) and minus.lhs.has_one_use():
                    return None  # Elements that are scaled for it alone would be in front of all.
                made = minus.rhs.owner
                rows = _rows_of(made) if isinstance(made, MakeFragmentOp) else None
                if isinstance(made, MakeFragmentOp) and rows is not None:
                    return _Argument(minus, factor, made.parts, rows)
        return None


def _is_used_once(op: arith.MulfOp | arith.SubfOp) -> bool:
    return op.result.has_one_use()


def _is_uniform(fragment: SSAValue) -> bool:
    """Whether a fragment repeats one number."""
    is_constant = isinstance(uniform_constant(fragment), FloatAttr)
    return is_constant or isinstance(fragment.owner, vector.BroadcastOp)


def _rows_of(made: MakeFragmentOp) -> SSAValue | None:
    """Return the fragment of a number for each row that is repeated, if there is one."""
    sources = {_source(part) for part in made.parts}
    found = sources.pop()
    return None if sources or as_vector(found.type) is None else found


def _source(part: SSAValue) -> SSAValue:
    return part.owner.source if isinstance(part.owner, SliceFragmentOp) else part


def _fuse(power: math.Exp2Op, found: _Argument) -> None:
    """Compute the argument of a power from elements, or from their differences."""
    builder = Builder(InsertPoint.before(power))
    factor = _repeated(builder, _number(builder, found.factor), found.rows)
    scaled = builder.insert(arith.MulfOp(found.rows, factor)).result
    zeros = _repeated(builder, constant(builder, 0.0, f32), found.rows)
    minus = found.difference
    minus.detach()
    fused = Region(Block([scf.YieldOp(minus.lhs, scaled)]))
    apart = Region(Block([minus, scf.YieldOp(minus.result, zeros)]))
    types = [minus.result.type, scaled.type]
    choice = scf.IfOp(_all_near(builder, scaled), types, fused, apart)
    elements, rows = builder.insert(choice).results
    negated = builder.insert(arith.NegfOp(rows)).result
    offset = builder.insert(MakeFragmentOp([_of(builder, one, negated) for one in found.parts]))
    product = power.operand.owner
    power.operands[0] = builder.insert(math.FmaOp(elements, found.factor, offset.result)).result
    assert isinstance(product, arith.MulfOp), "arguments are multiplied"
    Rewriter.erase_op(product)


def _all_near(builder: Builder, scaled: SSAValue) -> SSAValue:
    """Whether the maxima of all rows that a warp has are near zero: not if one is no number."""
    sizes = builder.insert(math.AbsFOp(scaled)).result
    each = [
        builder.insert(extraction(sizes, row, element_type(sizes))).result
        for row in range(length(sizes))
    ]
    largest = each[0]
    for one in each[1:]:
        largest = builder.insert(arith.MaximumfOp(largest, one)).result
    near = builder.insert(arith.CmpfOp(largest, constant(builder, NEAR, f32), "ole")).result
    return builder.insert(VoteOp(near)).result


def _number(builder: Builder, fragment: SSAValue) -> SSAValue:
    """Return the number that a fragment repeats."""
    made = fragment.owner
    if isinstance(made, vector.BroadcastOp):
        return made.source
    number = uniform_constant(fragment)
    assert isinstance(number, FloatAttr), "a constant fragment repeats a number"
    return constant(builder, number.value.data, f32)


def _of(builder: Builder, part: SSAValue, rows: SSAValue) -> SSAValue:
    """Return the part of other numbers of rows."""
    made = part.owner
    if not isinstance(made, SliceFragmentOp):
        return rows
    return builder.insert(SliceFragmentOp(rows, made.offset.value.data, length(part))).result


def _repeated(builder: Builder, number: SSAValue, like: SSAValue) -> SSAValue:
    """Return a fragment of one number, as long as another one."""
    type_ = as_vector(like.type)
    assert type_ is not None, "several rows are a fragment"
    return builder.insert(vector.BroadcastOp(number, type_)).vector
