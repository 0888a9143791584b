"""Memory tokens: a partial order on memory effects, no value."""

from __future__ import annotations

from xdsl.irdl import traits_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.canonicalized import Canonicalized
from tileas_xdsl.dialects.nv_tileaa.types import AAMemTokenType
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op


@tileas_op
class CreateMemTokenOp(TileasOp):
    """A token that comes after nothing."""

    name = "nv_tileaa.create_mem_token"

    result: fields.Result[AAMemTokenType] = fields.typed_result(
        AAMemTokenType, type=AAMemTokenType(), init=False
    )

    traits = traits_def(Pure())
    assembly_format = "attr-dict `:` type($result)"


@tileas_op
class JoinMemTokenOp(TileasOp):
    """A token that comes after several."""

    name = "nv_tileaa.join_mem_token"

    tokens: fields.Operands = fields.operands(AAMemTokenType)
    result: fields.Result[AAMemTokenType] = fields.typed_result(
        AAMemTokenType, type=AAMemTokenType(), init=False
    )

    traits = traits_def(Pure(), Canonicalized("nv_tileaa.TOKEN_PATTERNS"))
    assembly_format = "$tokens attr-dict `:` type($tokens) `->` type($result)"

    def verify_(self) -> None:
        if not self.tokens:
            raise op_error(self, "joins one token at least")
