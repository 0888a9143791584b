"""Greedy patterns that remove `convert_layout` locally; whole webs of tiles are `web.py`'s.

    convert_layout %x : L -> L                      %x
    convert_layout (convert_layout %x : A -> B) : B -> C      convert_layout %x : A -> C
    convert_layout (splat %c) : A -> B              splat %c in layout B
    two equal conversions of one tile               the first
    addf (convert_layout %x), (convert_layout %y)   convert_layout (addf %x, %y), if that saves one

Each is legal only if no operation in between orders memory: a tile may be the name of a buffer that
is overwritten before the use (`is_pinned_between`).
"""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Block, Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tileas_xdsl.analysis.layouts.layout_flow import (
    encoding_of,
    is_pinned_between,
    may_be_storage,
    unpinned_before,
)
from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.diagnostics.rewriting import apply_patterns
from tileas_xdsl.dialects.nv_tileas.pipelines.ops import PipelineYieldOp, StageOp
from tileas_xdsl.dialects.nv_tileas.shapes.layout import ConvertLayoutOp
from tileas_xdsl.dialects.nv_tileas.spaces import space_of
from tileas_xdsl.transforms.layout_conversions.failures import Failures
from tileas_xdsl.transforms.layout_conversions.registers import rewrite_around
from tileas_xdsl.transforms.layout_conversions.retype import Retyping
from tileas_xdsl.transforms.layout_conversions.web import (
    Direction,
    as_conversion,
    is_remade,
)

LOCALLY = Direction(forwards=True, backwards=True)


def clean_up(root: Operation, failures: Failures, max_rewrites: int | None) -> bool:
    """Fold and commute conversions to a fixed point; True if the IR changed."""
    patterns: Sequence[RewritePattern] = (
        DropUnused(),
        FoldIdentity(),
        FoldChain(),
        RemakeProducer(),
        MergeEqual(),
        Commute(failures),
    )
    try:
        return apply_patterns(root, patterns, max_rewrites=max_rewrites)
    except OpError as error:
        failures.add_unsettled(
            root, message("remove_layout_conversions.patterns"), error.diagnostics
        )
        return False


class DropUnused(RewritePattern):
    """Erase unused conversions."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertLayoutOp, rewriter: PatternRewriter) -> None:
        if as_conversion(op) is not None and not op.result.uses:
            rewriter.erase(op)


class FoldIdentity(RewritePattern):
    """Replace a conversion to the tile's own layout by the tile, unless it may be overwritten."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertLayoutOp, rewriter: PatternRewriter) -> None:
        if as_conversion(op) is None or op.source.type != op.result.type:
            return
        if _stands_for(op.source, op):
            rewriter.replace(op, (), [op.source])


class FoldChain(RewritePattern):
    """Fold a chain of two conversions into one.

    Not where the tile goes through another memory space on the way: that transfer is wanted.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertLayoutOp, rewriter: PatternRewriter) -> None:
        if as_conversion(op) is None or op.source.type == op.result.type:
            return
        users = [as_conversion(use.operation) for use in op.result.uses]
        joined = [user for user in users if user is not None and _joins(op, user)]
        for user in joined:
            # There and back again: the source itself. Otherwise two conversions become one, but
            # only if the first one is then unused; else there would be two exchanges where one
            # result was shared.
            if user.result.type == op.source.type and _stands_for(op.source, user):
                rewriter.replace(user, (), [op.source])
                return
        if joined and len(joined) == len(users):
            for user in joined:
                rewriter.replace(user, ConvertLayoutOp(op.source, user.result.type))
            rewriter.erase(op)


def _stands_for(value: SSAValue, conversion: ConvertLayoutOp) -> bool:
    """Whether a value can replace the result of a conversion: it is not overwritten before uses."""
    if not may_be_storage(value):
        return True
    users = [use.operation for use in conversion.result.uses]
    if _is_of_read_stage(value) and any(isinstance(user, PipelineYieldOp) for user in users):
        return False
    return not any(is_pinned_between(conversion, user) for user in users)


def _is_of_read_stage(value: SSAValue) -> bool:
    """Whether a value is a tile of a stage that is read: what is yielded outlives its release."""
    around = value.owner.parent_op() if isinstance(value.owner, Block) else None
    return isinstance(around, StageOp) and "consumer_idx" in around.properties


def _joins(first: ConvertLayoutOp, second: ConvertLayoutOp) -> bool:
    """Whether two conversions in a row can be one."""
    before, between, behind = (
        space_of(value.type) for value in (first.source, first.result, second.result)
    )
    return between in (before, behind) and not is_pinned_between(first, second)


class RemakeProducer(RewritePattern):
    """Recreate a constant, splat or other producer in the layout of its conversion."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertLayoutOp, rewriter: PatternRewriter) -> None:
        space, encoding = space_of(op.source.type), encoding_of(op.result.type)
        if as_conversion(op) is None or encoding is None or not is_remade(op.source):
            return
        if space is None or space is not space_of(op.result.type):
            return
        retyping = Retyping(rewriter)
        version = retyping.remade_before(op, op.source, encoding)
        retyping.redirect(list(op.result.uses), version)
        retyping.abandon(op)
        retyping.commit()


class MergeEqual(RewritePattern):
    """Replace a conversion by an equal one before it."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertLayoutOp, rewriter: PatternRewriter) -> None:
        if as_conversion(op) is None:
            return
        if len(list(op.source.uses)) < 2:
            return
        for other in map(as_conversion, unpinned_before(op)):
            if other is not None and (other.source, other.result.type) == (
                op.source,
                op.result.type,
            ):
                rewriter.replace(op, (), [other.result])
                return


@dataclass
class Commute(RewritePattern):
    """Commute conversions with elementwise and shape operations where that saves one."""

    failures: Failures

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertLayoutOp, rewriter: PatternRewriter) -> None:
        if as_conversion(op) is not None:
            text = message("remove_layout_conversions.patterns")
            rewrite_around(op, LOCALLY, self.failures, text, rewriter)
