"""Canonicalisation of `nv_tileas`: patterns rooted at its operations, and at the loops around them.

No pattern changes what a program means.  None moves a read of a tile across an operation that
orders memory, and none touches semantic, scope, bounds, padding or atomics.
"""

from xdsl.pattern_rewriter import RewritePattern

from tileas_xdsl.transforms.canonicalization.nv_tileas.coalesce_loops import CoalesceNestedLoops
from tileas_xdsl.transforms.canonicalization.nv_tileas.decompose_if import (
    DecomposeIfByExtractSlice,
    DecomposeIfByInsertSlice,
)
from tileas_xdsl.transforms.canonicalization.nv_tileas.decompose_loop import DecomposeLoopIterArgs
from tileas_xdsl.transforms.canonicalization.nv_tileas.dot import (
    DotOfKnownSelect,
    IntegerDotOfSelectWithZero,
)
from tileas_xdsl.transforms.canonicalization.nv_tileas.extract_slice import (
    SimplifyExtractFromInsert,
    SimplifyExtractSlice,
    SwapViewAndExtractSlice,
)

EXTRACT_SLICE_PATTERNS: tuple[RewritePattern, ...] = (
    SimplifyExtractSlice(),
    SwapViewAndExtractSlice(),
    SimplifyExtractFromInsert(),
)

DOT_PATTERNS: tuple[RewritePattern, ...] = (DotOfKnownSelect(), IntegerDotOfSelectWithZero())

PATTERNS: tuple[RewritePattern, ...] = (
    EXTRACT_SLICE_PATTERNS[0],
    DecomposeLoopIterArgs(),
    DecomposeIfByInsertSlice(),
    DecomposeIfByExtractSlice(),
    EXTRACT_SLICE_PATTERNS[1],
    CoalesceNestedLoops(),
    EXTRACT_SLICE_PATTERNS[2],
)
"""The seven patterns on slices, loops and branches, in the order of their documentation."""
