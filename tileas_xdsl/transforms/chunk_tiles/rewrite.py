"""Run operations once for each chunk of their tiles, in a loop."""

from __future__ import annotations

from xdsl.dialects import arith, scf
from xdsl.dialects.builtin import (
    IndexType,
    IntegerAttr,
    i32,
)
from xdsl.ir import Block, Region
from xdsl.rewriter import InsertPoint, Rewriter

from tileas_xdsl.diagnostics.walking import operations_in
from tileas_xdsl.transforms.chunk_tiles.plan import ChunkPlan
from tileas_xdsl.transforms.chunk_tiles.repeated_operations import ACCESSES, is_awaited
from tileas_xdsl.transforms.tile_parts.parts import set_operand, take_part


def cut(plan: ChunkPlan) -> None:
    """Move the operations of a plan into a loop over chunks, and give their tiles its shape."""
    last = plan.operations[-1]
    block = last.parent
    assert block is not None
    bounds = [arith.ConstantOp(IntegerAttr(number, i32)) for number in (0, plan.count, 1)]
    carried = [op for op in plan.operations if isinstance(op, ACCESSES) and is_awaited(op)]
    tokens = [op.token for op in carried if op.token is not None]
    body = Block(arg_types=[i32, *(token.type for token in tokens)])
    low, high, step = bounds
    loop = scf.ForOp(low, high, step, tokens, Region(body))
    Rewriter.insert_op([*bounds, loop], InsertPoint.after(last))
    for op, before, after in zip(carried, body.args[1:], loop.results, strict=True):
        assert op.out_token is not None
        op.out_token.replace_all_uses_with(after)
        set_operand(op, op.token, before)
    chunk = arith.IndexCastOp(body.args[0], IndexType())
    body.add_op(chunk)
    for op in plan.operations:
        op.detach()
        body.add_op(op)
    body.add_op(scf.YieldOp(*(op.out_token for op in carried if op.out_token is not None)))
    take_part(operations_in(body), plan.tiles, plan.count, chunk.result)
