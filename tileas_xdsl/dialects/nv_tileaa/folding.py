"""Canonicalisation traits; their patterns are imported when a pass asks for them."""

from __future__ import annotations

from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait


class JoinPatterns(HasCanonicalizationPatternsTrait):
    """Joins of one token."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tileas_xdsl.transforms.canonicalization.nv_tileaa import TOKEN_PATTERNS

        return TOKEN_PATTERNS


class ShapePatterns(HasCanonicalizationPatternsTrait):
    """Other shapes of views and of splats."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tileas_xdsl.transforms.canonicalization.nv_tileaa import SHAPE_PATTERNS

        return SHAPE_PATTERNS


class LoadPatterns(HasCanonicalizationPatternsTrait):
    """Loads whose mask is known."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tileas_xdsl.transforms.canonicalization.nv_tileaa import LOAD_PATTERNS

        return LOAD_PATTERNS


class StorePatterns(HasCanonicalizationPatternsTrait):
    """Stores whose mask is known."""

    @classmethod
    def get_canonicalization_patterns(cls) -> tuple[RewritePattern, ...]:
        from tileas_xdsl.transforms.canonicalization.nv_tileaa import STORE_PATTERNS

        return STORE_PATTERNS
