"""Run rewrite patterns so that locations are kept and patterns that never settle are named.

xDSL's walker drops the locations of what it replaces, has no limit on rewrites, and removes dead
code unless told otherwise.  It also offers every operation to every pattern.  Most patterns match
one class: those that `op_type_rewrite_pattern` decorates, and those that say so,

    class ExpandFunction(RewritePattern):
        root_kinds = (math.ExpOp, math.LogOp)

and an operation that no pattern of a set can match is passed over.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Sequence
from dataclasses import field
from functools import cache
from types import UnionType
from typing import Any, get_args

from xdsl.dialects.builtin import UNKNOWN_LOC, LocationAttr
from xdsl.ir import Block, Operation, Region, SSAValue
from xdsl.pattern_rewriter import (
    GreedyRewritePatternApplier,
    PatternRewriter,
    PatternRewriterListener,
    PatternRewriteWalker,
    RewritePattern,
)

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.diagnostics.locations import locate_arguments, location_of, name_of
from tileas_xdsl.diagnostics.walking import operations_in

_REWRITES_PER_OP = 64
_SMALLEST_LIMIT = 4096
_WITNESSES = 16
"""How many rewrites past the limit are watched to name every pattern that takes part."""


def apply_patterns(
    root: Operation,
    patterns: Sequence[RewritePattern],
    *,
    dce: bool = False,
    apply_recursively: bool = True,
    walk_reverse: bool = False,
    max_rewrites: int | None = None,
) -> bool:
    """Apply `patterns` inside `root`, the first that matches wins; True if the IR changed.

    `dce` removes trivially dead operations first.  `apply_recursively=False` makes one sweep and
    skips new operations.  Operations that replace or are inserted for a located one get its
    location.  Raises `OpError` at the operation, with the names of the patterns, if they do not
    settle within `max_rewrites` rewrites (by default in proportion to the number of operations).
    """
    if max_rewrites is None:
        max_rewrites = max(_SMALLEST_LIMIT, _REWRITES_PER_OP * len(operations_in(root)))
    applier = _LocatingApplier(list(patterns), dce_enabled=dce, max_rewrites=max_rewrites)
    walker = _Walker(
        applier,
        apply_recursively=apply_recursively,
        walk_reverse=walk_reverse,
        listener=PatternRewriterListener(
            operation_insertion_handler=[applier.locate_inserted],
            block_creation_handler=[applier.locate_block],
            operation_replacement_handler=[applier.locate_replacement],
        ),
    )
    try:
        changes = [walker.rewrite_region(region) for region in root.regions]
    except _Escape as escape:
        raise escape.error from escape.error.__cause__
    return any(changes)


class _Escape(BaseException):
    """Carries an exception out of the walker.

    The walker adds a print of the whole module to every `Exception`, which takes seconds on a large
    one and says less than a location.
    """

    error: Exception

    def __init__(self, error: Exception) -> None:
        super().__init__(error)
        self.error = error


@dataclass(eq=False, repr=False)
class _LocatingApplier(GreedyRewritePatternApplier):
    max_rewrites: int = field(kw_only=True)
    _rewrites: int = field(default=0, init=False)
    _witnesses: list[str] = field(default_factory=list[str], init=False)
    _location: LocationAttr = field(default=UNKNOWN_LOC, init=False)
    _stamped: set[Operation] = field(default_factory=set[Operation], init=False)

    def __post_init__(self) -> None:
        self._of_kind = _PatternsOfKind(self.rewrite_patterns)

    def that_may_change(self, ops: Iterable[Operation]) -> list[Operation]:
        """Return the operations that a pattern can match, or whose results nothing reads."""
        of_kind, dce = self._of_kind, self.dce_enabled
        return [
            op
            for op in ops
            if of_kind[type(op)] or (dce and not any(result.first_use for result in op.results))
        ]

    def match_and_rewrite(self, op: Operation, rewriter: PatternRewriter) -> None:
        self._location = op.location
        self.rewrite_patterns = self._of_kind[type(op)]
        try:
            if self._rewrites >= self.max_rewrites:
                self._witness(op, rewriter)
            else:
                super().match_and_rewrite(op, rewriter)
        except Exception as error:
            raise _Escape(error) from error
        if rewriter.has_done_action:
            self._rewrites += 1
            self._stamped.clear()

    def _witness(self, op: Operation, rewriter: PatternRewriter) -> None:
        """Past the limit, go on for a few rewrites to see which patterns keep acting, then stop."""
        location, name = location_of(op), name_of(op)
        acting = (_acting(pattern, op, rewriter) for pattern in self.rewrite_patterns)
        if (witness := next(filter(None, acting), None)) is not None:
            self._witnesses.append(witness)
        else:
            super().match_and_rewrite(op, rewriter)
            self._witnesses += ["dead-code elimination"] * rewriter.has_done_action
        if len(self._witnesses) < _WITNESSES:
            return
        names = " and ".join(sorted(set(self._witnesses)))
        message = f"after {self.max_rewrites} rewrites {names} still change '{name}'"
        raise op_error(location, f"rewriting does not settle: {message}")

    def locate_inserted(self, op: Operation) -> None:
        """A new operation without a location gets the one of the matched operation."""
        if self._location is UNKNOWN_LOC:
            return
        for new in operations_in(op) if op.regions else (op,):
            if new.location is UNKNOWN_LOC:
                new.location = self._location
                self._stamped.add(new)
            for region in new.regions:
                for block in region.blocks:
                    locate_arguments(block, new.location)

    def locate_block(self, block: Block) -> None:
        """The arguments of a new block get the location of the matched operation."""
        locate_arguments(block, self._location)

    def locate_replacement(self, op: Operation, new_results: Sequence[SSAValue | None]) -> None:
        """What replaces another operation than the matched one gets the location of that one."""
        if op.location is self._location or op.location is UNKNOWN_LOC:
            return
        for value in new_results:
            owner = None if value is None else value.owner
            if isinstance(owner, Operation) and self._is_new(owner):
                owner.location = op.location

    def _is_new(self, op: Operation) -> bool:
        return op.location is UNKNOWN_LOC or op in self._stamped


class _PatternsOfKind(dict[type[Operation], list[RewritePattern]]):
    """The patterns that can match operations of a class, in order."""

    def __init__(self, patterns: Sequence[RewritePattern]) -> None:
        super().__init__()
        self._kinds = [(pattern, root_kinds(pattern)) for pattern in patterns]

    def __missing__(self, kind: type[Operation]) -> list[RewritePattern]:
        self[kind] = [pattern for pattern, kinds in self._kinds if _is_one_of(kind, kinds)]
        return self[kind]


class _Walker(PatternRewriteWalker):
    """Visits the operations that may change."""

    def _populate_worklist(self, op: Operation | Region | Block) -> None:
        assert isinstance(self.pattern, _LocatingApplier)
        for inner in self.pattern.that_may_change(self._on_stack(op)):
            self._worklist.push(inner)

    def _on_stack(self, op: Operation | Region | Block) -> Iterable[Operation]:
        """Operations in the order of a stack: the last one is visited first."""
        if self.walk_reverse or self.walk_regions_first:
            return op.walk(reverse=not self.walk_reverse, region_first=not self.walk_regions_first)
        return reversed(operations_in(op))


def root_kinds(pattern: RewritePattern) -> tuple[type[Operation], ...]:
    """Return the classes that a pattern can match: those it says, or that its method is for."""
    declared = getattr(pattern, "root_kinds", None)
    return _decorated(type(pattern)) if declared is None else declared


@cache
def _is_one_of(kind: type[Operation], kinds: tuple[type[Operation], ...]) -> bool:
    return issubclass(kind, kinds)


@cache
def _decorated(pattern: type[RewritePattern]) -> tuple[type[Operation], ...]:
    """Return the classes that `op_type_rewrite_pattern` keeps for the method of a pattern."""
    expected: Any = inspect.getclosurevars(pattern.match_and_rewrite).nonlocals.get("expected_type")
    if expected is None:
        return (Operation,)
    return get_args(expected) if isinstance(expected, UnionType) else (expected,)


def _acting(pattern: RewritePattern, op: Operation, rewriter: PatternRewriter) -> str | None:
    """Apply `pattern`, of an applier the innermost one that acts; its name if it did something."""
    if isinstance(pattern, GreedyRewritePatternApplier):
        acting = (_acting(inner, op, rewriter) for inner in pattern.rewrite_patterns)
        if (name := next(filter(None, acting), None)) is not None:
            return name
    pattern.match_and_rewrite(op, rewriter)
    return type(pattern).__name__ if rewriter.has_done_action else None
