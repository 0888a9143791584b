"""The greedy clean-up: conversions that do nothing, or that can be saved where they are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from xdsl.ir import Operation, SSAValue
from xdsl.pattern_rewriter import PatternRewriter, RewritePattern, op_type_rewrite_pattern

from tileas_xdsl.analysis.layouts.layout_flow import (
    encoding_of,
    is_pinned_between,
    may_be_storage,
    unpinned_before,
)
from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.diagnostics.rewriting import apply_patterns
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
    """A conversion that nothing uses goes."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertLayoutOp, rewriter: PatternRewriter) -> None:
        if as_conversion(op) is not None and not op.result.uses:
            rewriter.erase(op)


class FoldIdentity(RewritePattern):
    """A conversion to the layout that the tile has is the tile, unless that is overwritten."""

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertLayoutOp, rewriter: PatternRewriter) -> None:
        if as_conversion(op) is None or op.source.type != op.result.type:
            return
        if _stands_for(op.source, op):
            rewriter.replace(op, (), [op.source])


class FoldChain(RewritePattern):
    """Conversions of what a conversion gives convert its source, and the one between goes.

    One from memory to memory stays one: a tile is not taken around a memory it was moved through.
    """

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertLayoutOp, rewriter: PatternRewriter) -> None:
        if as_conversion(op) is None or op.source.type == op.result.type:
            return
        users = [as_conversion(use.operation) for use in op.result.uses]
        joined = [user for user in users if user is not None and _joins(op, user)]
        for user in joined:
            if user.result.type == op.source.type and _stands_for(op.source, user):
                rewriter.replace(user, (), [op.source])
                return
        if joined and len(joined) == len(users):
            for user in joined:
                rewriter.replace(user, ConvertLayoutOp(op.source, user.result.type))
            rewriter.erase(op)


def _stands_for(value: SSAValue, conversion: ConvertLayoutOp) -> bool:
    """Whether `value` can be used instead of what the conversion gives: it is the same still."""
    if not may_be_storage(value):
        return True
    uses = conversion.result.uses
    return not any(is_pinned_between(conversion, use.operation) for use in uses)


def _joins(first: ConvertLayoutOp, second: ConvertLayoutOp) -> bool:
    """Whether two conversions in a row can be one."""
    before, between, behind = (
        space_of(value.type) for value in (first.source, first.result, second.result)
    )
    return between in (before, behind) and not is_pinned_between(first, second)


class RemakeProducer(RewritePattern):
    """A constant, or another tile made of nothing, is made in the layout that is asked for."""

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
    """A conversion that was made before, and is there still, is not made again."""

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
    """Conversions trade places with element-wise and shape operations where that saves one."""

    failures: Failures

    @op_type_rewrite_pattern
    def match_and_rewrite(self, op: ConvertLayoutOp, rewriter: PatternRewriter) -> None:
        if as_conversion(op) is not None:
            text = message("remove_layout_conversions.patterns")
            rewrite_around(op, LOCALLY, self.failures, text, rewriter)
