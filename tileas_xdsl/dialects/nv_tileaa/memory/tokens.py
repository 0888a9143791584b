"""Memory tokens: a partial order on memory effects, no value."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.irdl import result_def, traits_def, var_operand_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.nv_tileaa.base import Value
from tileas_xdsl.dialects.nv_tileaa.folding import JoinPatterns
from tileas_xdsl.dialects.nv_tileaa.types import AAMemTokenType
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op


@tileas_op
class CreateMemTokenOp(TileasOp):
    """A token that comes after nothing."""

    name = "nv_tileaa.create_mem_token"

    result = result_def(AAMemTokenType)

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"

    def __init__(self) -> None:
        super().__init__(result_types=[AAMemTokenType()])


@tileas_op
class JoinMemTokenOp(TileasOp):
    """A token that comes after several."""

    name = "nv_tileaa.join_mem_token"

    tokens = var_operand_def(AAMemTokenType)
    result = result_def(AAMemTokenType)

    traits = traits_def(Pure(), JoinPatterns())
    assembly_format = "$tokens attr-dict `:` type($tokens) `->` type($result)"

    def __init__(self, tokens: Sequence[Value]) -> None:
        super().__init__(operands=[tokens], result_types=[AAMemTokenType()])

    def verify_(self) -> None:
        if not self.tokens:
            raise op_error(self, "joins one token at least")
