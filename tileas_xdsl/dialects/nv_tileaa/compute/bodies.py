"""Bodies of scalars: how they end, and what that gives."""

from __future__ import annotations

from collections.abc import Sequence

from xdsl.ir import Attribute, Operation, Region
from xdsl.irdl import traits_def, var_operand_def
from xdsl.traits import IsTerminator, Pure

from tileas_xdsl.diagnostics.catalogue import message
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.field_init import init_of_groups
from tileas_xdsl.dialects.nv_tileaa.base import Value, listed
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op


@tileas_op
class YieldOp(TileasOp):
    """The end of a body, and what it gives."""

    name = "nv_tileaa.yield"

    arguments = var_operand_def()

    traits = traits_def(IsTerminator(), Pure())
    assembly_format = "attr-dict ($arguments^ `:` type($arguments))?"

    def __init__(self, *arguments: Value) -> None:
        init_of_groups(self, operands=[arguments])


def check_body(
    op: Operation, body: Region, arguments: Sequence[Attribute], results: Sequence[Attribute]
) -> None:
    """A body takes these arguments, and ends with a yield of such results."""
    if (given := tuple(body.block.arg_types)) != tuple(arguments):
        raise op_error(op, f"the body takes ({listed(arguments)}), not ({listed(given)})")
    last = body.block.last_op
    if not isinstance(last, YieldOp):
        raise op_error(op, message("nv_tileaa.region.terminator"))
    if (found := tuple(last.operand_types)) != tuple(results):
        raise op_error(op, f"the body yields ({listed(results)}), not ({listed(found)})")
