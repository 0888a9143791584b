"""Canonicalisation of `cuda_tile`: the rewrites of the public Tile IR repository that are local.

No pattern changes what a kernel means.
"""

from xdsl.pattern_rewriter import RewritePattern

from tileas_xdsl.transforms.canonicalization.cuda_tile.assumptions import RepeatedAssumption
from tileas_xdsl.transforms.canonicalization.cuda_tile.branch_results import ResultsFromOutside
from tileas_xdsl.transforms.canonicalization.cuda_tile.branches import (
    DecidedBranch,
    EmptyElse,
    KnownCondition,
    NegatedBranch,
    NestedBranches,
    NothingBehind,
    SameCondition,
)
from tileas_xdsl.transforms.canonicalization.cuda_tile.constants import ConstantInFront
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
BRANCH_PATTERNS: tuple[RewritePattern, ...] = (
    DecidedBranch(),
    NothingBehind(),
    NegatedBranch(),
    KnownCondition(),
    ResultsFromOutside(),
    EmptyElse(),
    NestedBranches(),
    SameCondition(),
)
CONSTANT_PATTERNS: tuple[RewritePattern, ...] = (ConstantInFront(),)
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
