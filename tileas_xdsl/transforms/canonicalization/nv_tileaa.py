"""Canonicalisation patterns of `nv_tileaa`."""

from __future__ import annotations

from xdsl.ir import SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tileas_xdsl.dialects.ir_queries import uniform_integer
from tileas_xdsl.dialects.nv_tileaa.base import shape_of
from tileas_xdsl.dialects.nv_tileaa.compute.shapes import BroadcastOp, ExpandDimsOp, SplatOp, ViewOp
from tileas_xdsl.dialects.nv_tileaa.memory.pointer_access import LoadOp, StoreOp
from tileas_xdsl.dialects.nv_tileaa.memory.tokens import JoinMemTokenOp


class SingleJoin(RewritePattern):
    """A token that comes after one is that one."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: JoinMemTokenOp, rewriter: PatternRewriter) -> None:
        if len(op.tokens) == 1:
            rewriter.replace(op, [], [op.tokens[0]])


class ViewOfView(RewritePattern):
    """A view of a view is one of its source; one that changes nothing is its source."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ViewOp, rewriter: PatternRewriter) -> None:
        if op.source.type == op.result.type:
            rewriter.replace(op, [], [op.source])
        elif isinstance(inner := op.source.owner, ViewOp):
            rewriter.replace(op, ViewOp(inner.source, op.result.type))


class ReshapedSplat(RewritePattern):
    """A scalar in a whole tile is one in any shape."""

    @op_type_rewrite_pattern
    def match_and_rewrite(
        self, op: BroadcastOp | ExpandDimsOp | ViewOp, rewriter: PatternRewriter
    ) -> None:
        splat, shape = op.source.owner, shape_of(op.result.type)
        if not isinstance(splat, SplatOp):
            return
        if shape:
            rewriter.replace(op, SplatOp(splat.source, shape))
        else:
            rewriter.replace(op, [], [splat.source])


def _decided(mask: SSAValue | None) -> bool | None:
    """What a mask says of all elements, None if that is not known."""
    number = None if mask is None else uniform_integer(mask)
    return None if number is None else number != 0


class DecidedLoad(RewritePattern):
    """A load of everything has no mask, one of nothing gives what there is besides."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: LoadOp, rewriter: PatternRewriter) -> None:
        decided = _decided(op.mask)
        if decided:
            made = LoadOp(
                op.base, token=op.token, mem_semantic=op.mem_semantic, mem_scope=op.mem_scope
            )
            made.properties.update({k: v for k, v in op.properties.items() if k == "latency"})
            rewriter.replace(op, made)
        elif decided is False and op.other is not None and op.mem_semantic is None:
            tokens = [] if op.token is None else [op.token]
            rewriter.replace(op, [], [op.other, *tokens])


class DecidedStore(RewritePattern):
    """A store of everything has no mask, one of nothing is none."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: StoreOp, rewriter: PatternRewriter) -> None:
        decided = _decided(op.mask)
        if decided:
            made = StoreOp(
                op.value,
                op.base,
                token=op.token,
                mem_semantic=op.mem_semantic,
                mem_scope=op.mem_scope,
            )
            made.properties.update({k: v for k, v in op.properties.items() if k == "latency"})
            rewriter.replace(op, made)
        elif decided is False and op.mem_semantic is None:
            rewriter.replace(op, [], [] if op.token is None else [op.token])


TOKEN_PATTERNS = (SingleJoin(),)
SHAPE_PATTERNS = (ViewOfView(), ReshapedSplat())
LOAD_PATTERNS = (DecidedLoad(),)
STORE_PATTERNS = (DecidedStore(),)
