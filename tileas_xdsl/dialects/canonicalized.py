"""The trait of operations with canonicalisation patterns, which stand in `transforms`."""

from __future__ import annotations

from importlib import import_module

from xdsl.ir import Operation
from xdsl.pattern_rewriter import RewritePattern
from xdsl.traits import HasCanonicalizationPatternsTrait

from tileas_xdsl.data_classes import dataclass


@dataclass(frozen=True)
class Canonicalized(HasCanonicalizationPatternsTrait):
    """Name the patterns with the operation as root; they are imported when a pass asks for them.

    Canonicalized("cuda_tile.SHAPE_PATTERNS")       in `transforms/canonicalization/cuda_tile`
    """

    table: str

    def get_patterns(self, op: type[Operation]) -> tuple[RewritePattern, ...]:
        """Return the patterns of the table."""
        del op
        module, name = self.table.split(".")
        return getattr(import_module(f"tileas_xdsl.transforms.canonicalization.{module}"), name)
