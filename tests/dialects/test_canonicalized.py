"""Operations with canonicalisation patterns name a table that is there."""

from collections.abc import Iterator

from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation
from xdsl.pattern_rewriter import RewritePattern

from tileas_xdsl.dialects.canonicalized import Canonicalized
from tileas_xdsl.dialects.cuda_tile import CudaTile
from tileas_xdsl.dialects.nv_tileaa.dialect import NvTileaa
from tileas_xdsl.dialects.nv_tileas import NvTileas


def canonicalized() -> Iterator[tuple[type[Operation], Canonicalized]]:
    for dialect in (CudaTile, NvTileaa, NvTileas):
        for kind in dialect.operations:
            if issubclass(kind, IRDLOperation):
                kind.get_irdl_definition()
            for trait in kind.get_traits_of_type(Canonicalized) if hasattr(kind, "traits") else ():
                yield kind, trait


def test_tables_have_patterns() -> None:
    found = list(canonicalized())
    assert len(found) >= 12
    for kind, trait in found:
        patterns = trait.get_patterns(kind)
        assert patterns
        assert all(isinstance(pattern, RewritePattern) for pattern in patterns)
