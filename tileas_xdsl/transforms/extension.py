"""How other packages add rewrite patterns to the passes of this one.

Every pass in `EXTENSIBLE_PASSES` applies, beside its own patterns, those that were added to it:

    from tileas_xdsl.transforms.extension import add_patterns

    class FuseMyIota(RewritePattern):
        @op_type_rewrite_pattern
        def match_and_rewrite(self, op: MyIotaOp, rewriter: PatternRewriter) -> None: ...

    add_patterns("tileas-fuse-elementwise", FuseMyIota)

A pattern is added by its factory, usually its class, which is called when the pass runs: the module
of an `xdsl.universe` entry point can add patterns without importing a dialect.

* A pass that is a set of greedy patterns tries added patterns before its own, to one fixpoint.
* A conversion, which sweeps once over the IR and replaces operations by a table of handlers,
  applies added patterns to a fixpoint first and converts what they leave.  Its table is open, too:
  a handler of a further operation class has access to the state of the conversion.
  `docs/passes.md` names the table of each.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern

from tileas_xdsl.diagnostics.rewriting import apply_patterns

PatternFactory: TypeAlias = Callable[[], RewritePattern]

PATTERN_SETS = (
    "convert-tileaa-to-tileas",
    "cute-desugar",
    "cute-kernel-to-nvvm",
    "expand-math",
    "fuse-fma",
    "sink-negf-through-shapes",
    "tileas-canonicalize",
    "tileas-choose-tma",
    "tileas-fuse-elementwise",
    "tileas-legalize-i1-memory",
    "tileas-legalize-tmem-copy",
    "tileas-materialize-constants",
    "tileas-materialize-convert-layout",
    "tileas-normalize-dot-operands",
    "tileas-unroll-register-loops",
)
"""Passes that consist of rewrite patterns."""

CONVERSIONS = (
    "convert-cudatile-to-tileaa",
    "convert-cute-to-nvgpu",
    "convert-pipeline-to-nvgpu",
    "convert-tileas-to-cute-nvgpu",
    "convert-tl-to-tileaa",
    "cute-to-llvm",
    "tl-lower",
)
"""Passes that replace operations by a table of handlers, after the patterns that were added."""

EXTENSIBLE_PASSES = (*PATTERN_SETS, *CONVERSIONS)
"""The passes that patterns can be added to."""

_added: defaultdict[str, list[PatternFactory]] = defaultdict(list)
_added_handlers: list[bool] = []


def add_patterns(pass_name: str, *factories: PatternFactory) -> None:
    """Add patterns to a pass, for all modules that it is run on from now on.

    Raises `ValueError` for a pass that is no pattern set and no conversion.
    """
    if pass_name not in EXTENSIBLE_PASSES:
        known = ", ".join(EXTENSIBLE_PASSES)
        raise ValueError(f"'{pass_name}' takes no patterns; these passes do: {known}")
    _added[pass_name] += factories


def note_handler() -> None:
    """Note that a handler was added to the table of a conversion."""
    _added_handlers.append(True)


def is_extended() -> bool:
    """Return whether something was added, so that others would compile to something else."""
    return bool(_added_handlers) or any(_added.values())


@contextmanager
def added_patterns(pass_name: str, *factories: PatternFactory) -> Generator[None]:
    """Add patterns to a pass inside a `with` block only."""
    before = list(_added[pass_name])
    add_patterns(pass_name, *factories)
    try:
        yield
    finally:
        _added[pass_name] = before


def with_added(pass_name: str, own: Sequence[RewritePattern] = ()) -> Sequence[RewritePattern]:
    """Return the patterns of a pass: those that were added to it, then its own."""
    return [*(factory() for factory in _added[pass_name]), *own]


def apply_added(pass_name: str, root: Operation) -> None:
    """Apply the patterns that were added to a pass, and no others, to a fixpoint."""
    if patterns := with_added(pass_name):
        apply_patterns(root, patterns)


def sweep(root: Operation, own: Sequence[RewritePattern], *, walk_reverse: bool = False) -> None:
    """Apply the patterns of a pass once to each operation that is there; new ones are skipped."""
    apply_patterns(root, own, apply_recursively=False, walk_reverse=walk_reverse)
