"""Where in the grid a block is."""

from __future__ import annotations

from xdsl.dialects.builtin import i32
from xdsl.ir import Attribute
from xdsl.irdl import traits_def
from xdsl.traits import Pure

from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.constraints import number_among
from tileas_xdsl.dialects.nv_tileas.syntax.ops import TileasOp, tileas_op

AXES = 3


class GridOp(TileasOp):
    """A number of the grid along an axis: 0 is x."""

    axis: fields.Int = fields.prop(
        number_among(i32, range(AXES), f"a grid has axes 0 to {AXES - 1}, not {{given}}")
    )
    result: fields.Result[Attribute] = fields.typed_result(i32, type=i32, init=False)

    traits = traits_def(Pure())
    assembly_format = "attr-dict"


@tileas_op
class GetProgramIdOp(GridOp):
    """`nv_tileaa.get_program_id {axis = 0 : i32}`: the number of the block along an axis."""

    name = "nv_tileaa.get_program_id"


@tileas_op
class GetNumProgramsOp(GridOp):
    """How many blocks the grid has along an axis."""

    name = "nv_tileaa.get_num_programs"
