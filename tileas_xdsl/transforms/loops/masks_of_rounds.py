"""Loops whose masks choose among the registers of a thread by the loop's number.

    scf.for %k = 0 to 32 iter_args(%m : 32x32) {
      %c = generate { (%i, %j): select (%j == %k), extract %m[%i, %j], 0 }
      %s = reduce %c {axis = 1}            // column %k: 32 comparisons, selections and sums
    }

A thread that has all columns of its row selects one of 32 registers in each round; with the number
of the round known it is that register.  So systems of equations are solved and factored.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from xdsl.dialects import arith, scf
from xdsl.ir import Block, Operation, SSAValue

from tileas_xdsl.analysis.layouts.layout_flow import encoding_of
from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.ir_queries import constant_integer, is_side_effect_free
from tileas_xdsl.dialects.nv_tileas.attributes import RegisterEncoding
from tileas_xdsl.dialects.nv_tileas.shapes.layout import GenerateOp
from tileas_xdsl.layout.axes import Offset, terms_of
from tileas_xdsl.layout.int_tuple import flat
from tileas_xdsl.layout.registers.register_layout import VALUE
from tileas_xdsl.transforms.chunk_tiles.repeated_operations import ACCESSES, CONTROL

MAX_ROUNDS = 32
"""Iterations up to which such a loop is written out."""

MAX_REGISTER_OPERATIONS = 1 << 14
"""Elements that a thread computes in all rounds: an instruction each at least, of 16 bytes."""


def chooses_registers(loop: scf.ForOp, rounds: int) -> bool:
    """Whether masks choose registers by a loop's number, and its rounds are few and short."""
    inner = [op for op in operations_in(loop.body) if op is not loop.body.block.last_op]
    if rounds > MAX_ROUNDS or any(isinstance(op, (*ACCESSES, *CONTROL)) for op in inner):
        return False
    results = [value for op in loop.body.block.ops for value in op.results]
    if rounds * sum(map(_registers, results)) > MAX_REGISTER_OPERATIONS:
        return False
    return any(isinstance(op, GenerateOp) and _chooses(op, loop) for op in inner)


def _registers(value: SSAValue) -> int:
    """The elements of a tile that a thread has."""
    encoding = encoding_of(value.type)
    if not isinstance(encoding, RegisterEncoding):
        return 0
    leaves = zip(flat(encoding.data.shape), flat(encoding.data.stride), strict=True)
    return prod(extent for extent, stride in leaves if _is_among_registers(stride))


def _is_among_registers(stride: Offset) -> bool:
    return VALUE in dict(terms_of(stride))


def _chooses(tile: GenerateOp, loop: scf.ForOp) -> bool:
    """Whether a coordinate that differs among registers is compared with a number of the round."""
    for op in operations_in(tile.body):
        if isinstance(op, arith.CmpiOp):
            for side, other in ((op.lhs, op.rhs), (op.rhs, op.lhs)):
                if _is_of_round(other, loop) and _differs_among_registers(side, tile):
                    return True
    return False


def _is_of_round(value: SSAValue, loop: scf.ForOp) -> bool:
    """Whether a number is known once that of the round is, and not before."""
    sources = _sources(value)
    number = loop.body.block.args[0]
    return number in sources and all(
        source is number or constant_integer(source) is not None for source in sources
    )


def _differs_among_registers(value: SSAValue, tile: GenerateOp) -> bool:
    """Whether a number is computed of a coordinate along which a thread has several elements."""
    encoding = tile.result.type.encoding
    if not isinstance(encoding, RegisterEncoding):
        return False
    layout = encoding.data
    return any(
        source is argument and any(map(_is_among_registers, flat(layout[k].stride)))
        for k, argument in enumerate(tile.body.block.args)
        for source in _sources(value)
    )


def _sources(value: SSAValue) -> Sequence[SSAValue]:
    """The values that a number is computed of by pure operations without operands of their own."""
    pending, seen, found = [value], {value}, list[SSAValue]()
    while pending:
        one = pending.pop()
        made = one.owner
        is_computed = isinstance(made, Operation) and made.operands and is_side_effect_free(made)
        if is_computed and not isinstance(made, Block) and not made.regions:
            pending += [operand for operand in made.operands if operand not in seen]
            seen.update(made.operands)
        else:
            found.append(one)
    return found
