"""Give each slice a result of its own where a loop carries only reductions, and combine them.

    %r = scf.for %i = 0 to 64 step 1 iter_args(%acc = %init) {      {sliceCount = 2}
      %x = nv_tileas.dot %a, %b, %acc
      scf.yield %x
    }

becomes, with no value that one loop needs of the other,

    %r0 = scf.for %i = 0 to 32 step 1 iter_args(%acc = %init) { ... }
    %r1 = scf.for %j = 32 to 64 step 1 iter_args(%acc = %zero) { ... }
    %r = arith.addf %r0, %r1

A carried value is a reduction if its one use begins a chain of sums (products, extrema, ...) of one
kind, each used once, that ends in the yield.  Combining partial results reorders the reduction:
floats are rounded otherwise than by the loop.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, cast

from xdsl.builder import Builder
from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import AnyFloat
from xdsl.ir import Block, Operation, SSAValue, Use
from xdsl.rewriter import InsertPoint
from xdsl.utils.hints import isa

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import note, op_error
from tileas_xdsl.dialects.element_bits import bits_of
from tileas_xdsl.dialects.nv_tileas.builders.arith import constant
from tileas_xdsl.dialects.nv_tileas.compute.combiners import COMBINERS, identity_of
from tileas_xdsl.dialects.nv_tileas.compute.dot import DotOp
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.spaces import scalar_type_of, space_of
from tileas_xdsl.transforms.slicing.counted_loop import CountedFor, CountedLoop

Combiner: TypeAlias = Callable[[SSAValue, SSAValue], Operation]

_DIFFERENCES: Mapping[str, type[Operation]] = {
    "arith.subf": arith.AddfOp,
    "arith.subi": arith.AddiOp,
}
"""What is taken from a carried value is added to it with the other sign."""


@dataclass(frozen=True)
class Reduction:
    """How the results of slices become one: a class of `arith` operations, and its identity."""

    combiner: type[Operation]
    identity: float

    def combined(self, builder: Builder, partial: Sequence[SSAValue]) -> SSAValue:
        """Combine the results of the slices, in their order."""
        result, *others = partial
        for other in others:
            combiner = cast("Combiner", self.combiner)
            result = builder.insert(combiner(result, other)).results[0]
        return result


def reductions_of(loop: CountedLoop) -> tuple[Reduction, ...]:
    """Return the reduction of each value that the loop carries.

    Raises `OpError` where a value is none, so that a slice needs what the one before it carried.
    """
    if not isinstance(loop, CountedFor):
        raise op_error(loop.op, "carries its counter: only scf.for has independent slices")
    found = tuple(_reduction(loop.loop, index) for index in range(len(loop.initial)))
    scratch = Builder(InsertPoint.at_end(Block()))
    try:
        identities(scratch, loop, found)
    except ValueError as error:
        raise op_error(loop.op, f"has no independent slices: {error}") from error
    return found


def identities(
    builder: Builder, loop: CountedLoop, reductions: Sequence[Reduction]
) -> list[SSAValue]:
    """Make what every slice but the first begins with, one value for each that the loop carries."""
    return [
        constant(builder, reduction.identity, value.type)
        for reduction, value in zip(reductions, loop.initial, strict=True)
    ]


def _reduction(loop: scf.ForOp, index: int) -> Reduction:
    """Follow the carried value to the yield, through operations of one kind."""
    block = loop.body.block
    value: SSAValue = block.args[1 + index]
    combiners: set[type[Operation]] = set()
    is_product = False
    while len(uses := list(value.uses)) == 1 and len(combiners) < 2:
        (use,) = uses
        if use.operation is block.last_op and use.index == index and combiners:
            (combiner,) = combiners
            return Reduction(combiner, _identity(combiner, value, is_product))
        combiner = _combiner(use, block)
        if combiner is None:
            break
        combiners.add(combiner)
        is_product = isinstance(use.operation, DotOp)
        value = use.operation.results[0]
    culprits = [note(use.operation, "it is used here") for use in uses[:1]]
    text = (
        f"carries a value, number {index}, that is no sum, product, extremum or bitwise "
        "combination over the iterations: its slices depend on one another"
    )
    raise op_error(loop, text, culprits)


def _combiner(use: Use, block: Block) -> type[Operation] | None:
    """Return what combines the operation's result with others; None if it reduces nothing."""
    op = use.operation
    if op.parent is not block or not op.results:
        return None
    type_ = op.results[0].type
    if space_of(type_) not in (None, Space.RMEM):
        return None
    if isinstance(op, DotOp):
        is_float = isa(scalar_type_of(type_), AnyFloat)
        sums = arith.AddfOp if is_float else arith.AddiOp
        return sums if op.operands[use.index] is op.c else None
    if op.name in _DIFFERENCES:
        return _DIFFERENCES[op.name] if use.index == 0 else None
    return type(op) if op.name in COMBINERS else None


def _identity(combiner: type[Operation], value: SSAValue, is_product: bool) -> float:
    """Return the identity; sums of products begin with 0, as matrix units clear accumulators."""
    identity = identity_of(combiner.name, bits_of(scalar_type_of(value.type)))
    assert identity is not None
    return 0 if is_product else identity
