"""Canonicalisation traits; their patterns are imported when a pass asks for them."""

from __future__ import annotations

from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait


class AssumePatterns(HasCanonicalizationPatternsTrait):
    """Assumptions that are made twice."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tileas_xdsl.transforms.canonicalization.cuda_tile import ASSUME_PATTERNS

        return ASSUME_PATTERNS


class BranchPatterns(HasCanonicalizationPatternsTrait):
    """Branches that are decided, empty, nested, or the same as others."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tileas_xdsl.transforms.canonicalization.cuda_tile import BRANCH_PATTERNS

        return BRANCH_PATTERNS


class ConstantPatterns(HasCanonicalizationPatternsTrait):
    """Constants that stand once, in front."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tileas_xdsl.transforms.canonicalization.cuda_tile import CONSTANT_PATTERNS

        return CONSTANT_PATTERNS


class FloatSumPatterns(HasCanonicalizationPatternsTrait):
    """Sums of products."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tileas_xdsl.transforms.canonicalization.cuda_tile import FLOAT_SUM_PATTERNS

        return FLOAT_SUM_PATTERNS


class SelectPatterns(HasCanonicalizationPatternsTrait):
    """Selections whose result is known or simpler."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tileas_xdsl.transforms.canonicalization.cuda_tile import SELECT_PATTERNS

        return SELECT_PATTERNS


class ShapePatterns(HasCanonicalizationPatternsTrait):
    """Tiles in other shapes."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tileas_xdsl.transforms.canonicalization.cuda_tile import SHAPE_PATTERNS

        return SHAPE_PATTERNS
