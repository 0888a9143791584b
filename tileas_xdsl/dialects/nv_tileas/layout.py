"""Layout and shape: the same elements in another layout, shape or place."""

from __future__ import annotations

from xdsl.irdl import operand_def, result_def, traits_def, var_operand_def
from xdsl.traits import Pure

from tileas_xdsl.dialects.nv_tileas.directives import Coordinates
from tileas_xdsl.dialects.nv_tileas.syntax import TileasOp, tileas_op


@tileas_op
class ViewOp(TileasOp):
    """A buffer seen as another view."""

    name = "nv_tileas.view"

    source = operand_def()
    indices = var_operand_def()
    result = result_def()

    traits = traits_def(Pure())
    custom_directives = (Coordinates,)

    assembly_format = "$source `` custom<Coordinates>($indices, type($indices)) attr-dict `:` type($source) `->` type($result)"


OPERATIONS = (ViewOp,)
