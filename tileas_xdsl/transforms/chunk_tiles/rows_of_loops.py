"""Compute rows again in the loops that reduce them, so that each loop has phases of its own.

    %x = tiled_load                            %x = tiled_load
    %m = reduce %x {maximum}                   %m = reduce %x {maximum}
    %e = exp (%x - %m)                         scf.for iter_args(%low, %high) {
    scf.for iter_args(%low, %high) {    ->       %y = tiled_load
      %k = %e >= %mid ? %e : 0                   %f = exp (%y - %m)
      %s = reduce %k {add}                       %k = %f >= %mid ? %f : 0
      yield ... }                                %s = reduce %k {add}
                                                 yield ... }

A search for the threshold of a row reads it in each round.  Where the row does not fit registers,
rounds load it from L2 and compute it again, chunk by chunk, instead of reading what was spilled.
"""

from __future__ import annotations

from collections.abc import Iterator

from xdsl.dialects import func, scf
from xdsl.ir import Block, Operation, SSAValue
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.dialects.kinds import instances_in
from tileas_xdsl.dialects.nv_tileas.compute.reductions import ReduceOp
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.transforms.chunk_tiles.reduction_phases import (
    PURE,
    classes_of_rows,
    crosses,
)
from tileas_xdsl.transforms.chunk_tiles.reloads import may_be_anywhere
from tileas_xdsl.transforms.fuse_elementwise.profitability import is_elementwise
from tileas_xdsl.transforms.tile_parts.parts import Tiles


def compute_in_loops(kernel: func.FuncOp) -> bool:
    """Let loops that reduce rows compute those that they read; return whether any does so now."""
    found = False
    for tiles in classes_of_rows(kernel):
        for loop in instances_in(kernel, scf.ForOp):
            if any(isinstance(op, ReduceOp) and crosses(op, tiles) for op in loop.body.block.ops):
                found = _compute_in(loop, kernel, tiles) or found
    return found


def _compute_in(loop: scf.ForOp, kernel: func.FuncOp, tiles: Tiles) -> bool:
    """Compute in a loop what it reads of rows, if all of that can be loaded and computed again."""
    inside = set(operations_in(loop.body))
    read = {value for value in _read(loop) if value in tiles and value.owner not in inside}
    if not read or any(value in tiles for value in (*loop.iter_args, *loop.body.block.args)):
        return False
    behind = _behind(read, tiles)
    if behind is None:
        return False
    copies: dict[SSAValue, SSAValue] = {}
    first = loop.body.block.first_op
    assert first is not None
    ordered = [op for op in operations_in(kernel) if op in behind]
    for op in ordered:
        Rewriter.insert_op(op.clone(copies), InsertPoint.before(first))
    for op in inside:
        op.operands = [copies.get(value, value) for value in op.operands]
    for op in reversed(ordered):
        if not any(value.uses for value in op.results):
            Rewriter.erase_op(op)
    return True


def _behind(read: set[SSAValue], tiles: Tiles) -> set[Operation] | None:
    """Return the operations that rows are made by; None where one of them is of one place alone."""
    found: set[Operation] = set()
    pending = list(read)
    while pending:
        owner = pending.pop().owner
        if isinstance(owner, Block) or not _may_be_repeated(owner):
            return None
        if owner not in found:
            found.add(owner)
            pending += [value for value in _read(owner) if value in tiles]
    return found


def _may_be_repeated(op: Operation) -> bool:
    """Whether an operation on tiles gives the same anywhere behind its operands."""
    if isinstance(op, TiledLoadOp):
        return may_be_anywhere(op)
    return isinstance(op, PURE) or is_elementwise(op)


def _read(op: Operation) -> Iterator[SSAValue]:
    for inner in op.walk():
        yield from inner.operands
