"""Canonicalisation of `cuda_tile`: the rewrites of the public Tile IR repository that are local.

No pattern changes what a kernel means; those that the repository's `canonicalize.mlir` shows for
branches and loops are not here.
"""

from xdsl.pattern_rewriter import RewritePattern

from tileas_xdsl.transforms.canonicalization.cuda_tile.assumptions import RepeatedAssumption
from tileas_xdsl.transforms.canonicalization.cuda_tile.selects import (
    ConstantSelect,
    DecidedSelect,
    NestedSelect,
    SelectOfEqualOperands,
    SelectOfNegation,
    SelectOfZeroAndOne,
)
from tileas_xdsl.transforms.canonicalization.cuda_tile.sums import ProductFirst, SameShape

ASSUME_PATTERNS: tuple[RewritePattern, ...] = (RepeatedAssumption(),)
FLOAT_SUM_PATTERNS: tuple[RewritePattern, ...] = (ProductFirst(),)
SELECT_PATTERNS: tuple[RewritePattern, ...] = (
    DecidedSelect(),
    SelectOfEqualOperands(),
    NestedSelect(),
    SelectOfNegation(),
    SelectOfZeroAndOne(),
    ConstantSelect(),
)
SHAPE_PATTERNS: tuple[RewritePattern, ...] = (SameShape(),)
