"""Parallel loops over parts: cut where their extents must be, and where buffers that they read are.

tl.parallel (%i, %j) in (64, 96) {        tl.parallel (%i, %j) in (64, 64) {
  %x = memref.load %s[%i, %j]        ->     %x = memref.load %s0[%i, %j] ...
                                          tl.parallel (%i, %k) in (64, 32) {
                                            %j = %k + 64
                                            %x = memref.load %s1[%i, %k] ...
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from xdsl.dialects import arith, memref
from xdsl.dialects.builtin import IndexType, IntegerAttr
from xdsl.ir import Block, BlockArgument, Operation, Region, SSAValue

from tileas_xdsl.dialects.ir_queries import constant_integer
from tileas_xdsl.dialects.tl.compute import AtomicAddOp
from tileas_xdsl.dialects.tl.loops import ParallelOp
from tileas_xdsl.transforms.tl_parts.buffers import CutError, Parts, insert, moved, number
from tileas_xdsl.transforms.tl_parts.extents import Box, boxes

Access: TypeAlias = memref.LoadOp | memref.StoreOp | AtomicAddOp


def parallel(parts: Parts, op: ParallelOp) -> None:
    """Write a loop once for each part of its box."""
    cuts: list[set[int]] = [set() for _ in op.extents]
    for access in accesses(parts, op):
        begins = parts.cuts(buffer_of(access))
        for index, more in zip(access.indices, begins, strict=True):
            variable, first = _followed(op, access, index)
            if variable is not None:
                cuts[variable].update(begin - first for begin in more)
    for box in boxes(op.extents, cuts):
        _part(parts, op, box)


def buffer_of(op: Access) -> SSAValue:
    """Return what an access reads or writes."""
    return op.buffer if isinstance(op, AtomicAddOp) else op.memref


def accesses(parts: Parts, op: ParallelOp) -> Sequence[Access]:
    """The accesses to buffers that are cut."""
    found = [inner for inner in op.walk() if isinstance(inner, Access)]
    return [access for access in found if parts.is_cut(buffer_of(access))]


def _followed(op: ParallelOp, access: Operation, index: SSAValue) -> tuple[int | None, int]:
    """Return the variable of a loop that an index follows, and how far behind it is."""
    if (known := constant_integer(index)) is not None:
        return None, known
    made = index.owner
    if isinstance(index, BlockArgument) and index in op.variables:
        return index.index, 0
    if isinstance(made, arith.AddiOp):
        for one, other in ((made.lhs, made.rhs), (made.rhs, made.lhs)):
            if (known := constant_integer(other)) is not None:
                variable, first = _followed(op, access, one)
                return variable, first + known
    raise CutError(access, "has an index that follows no single variable one by one")


def _part(parts: Parts, op: ParallelOp, box: Box) -> None:
    """Write the iterations of a part of the box."""
    block = Block(arg_types=[IndexType()] * len(box))
    values: dict[SSAValue, SSAValue] = {}
    for variable, own, segment in zip(op.variables, block.args, box, strict=True):
        own.name_hint = variable.name_hint
        values[variable] = own
        if segment.start:
            behind = arith.ConstantOp(IntegerAttr(segment.start, IndexType()))
            total = arith.AddiOp(own, behind.result)
            behind.location = total.location = op.location
            block.add_ops([behind, total])
            values[variable] = total.result
    copies: dict[Operation, Operation] = {}
    for inner in op.body.block.ops:
        made = inner.clone(values)
        copies.update(zip(inner.walk(), made.walk(), strict=True))
        block.add_op(made)
    loop = ParallelOp([segment.length for segment in box], Region(block))
    insert(loop, op)
    for access in accesses(parts, op):
        _access_part(parts, op, access, copies[access], box, block)


def _access_part(
    parts: Parts, op: ParallelOp, access: Access, made: Operation, box: Box, block: Block
) -> None:
    """Let the copy of an access use the part of its buffer that these iterations access."""
    followed = [_followed(op, access, index) for index in access.indices]
    firsts = [first + (0 if k is None else box[k].start) for k, first in followed]
    part, within = parts.holding(access, buffer_of(access), firsts)
    indices: list[SSAValue] = []
    for (variable, _), first, segment in zip(followed, firsts, within, strict=True):
        rest = first - segment.start
        own = None if variable is None else block.args[variable]
        indices.append(number(made, rest) if own is None else moved(made, own, rest))
    assert isinstance(made, Access)
    if isinstance(made, memref.StoreOp):
        made.operands = [made.value, part, *indices]
    elif isinstance(made, AtomicAddOp):
        made.operands = [part, *indices, made.value]
    else:
        made.operands = [part, *indices]
