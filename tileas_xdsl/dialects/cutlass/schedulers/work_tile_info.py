"""Tiles that schedulers hand out: made by their indices, their fields and coordinates."""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import StringAttr, i1, i32
from xdsl.ir import Attribute
from xdsl.irdl import (
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cutlass.schedulers.scheduler_params import check_field, params_type
from tileas_xdsl.dialects.cutlass.schedulers.tile_scheduler import (
    PART_FIELDS,
    WORK,
    WORK_FIELDS,
    MadeWorkOp,
    OfWorkOp,
    WorkResult,
    check_scheduler,
    check_work,
)
from tileas_xdsl.dialects.cutlass.types import (
    STREAMK,
)
from tileas_xdsl.dialects.fields import type_of
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = [
    "CreateDpWorkTileInfoOp",
    "CreateStaticPersistentWorkTileInfoOp",
    "CreateStreamkWorkTileInfoOp",
    "WorkTileInfoGetValueOp",
    "WorkTileInfoSetValueOp",
    "WorkTileInfoToCoordMnklOp",
    "WorkTileInfoToCtaCoordOp",
]


class _CreateWorkOp(MadeWorkOp):
    """A tile by its indices."""

    m: fields.Operand = fields.operand(i32)
    n: fields.Operand = fields.operand(i32)
    l: fields.Operand = fields.operand(i32)
    valid: fields.Operand = fields.operand(i1)

    assembly_format = "$params `,` $m `,` $n `,` $l `if` $valid attr-dict `:` type($params)"
    SCHEDULER: ClassVar[str]

    def verify_(self) -> None:
        super().verify_()
        check_scheduler(self, self.params, self.SCHEDULER)


@irdl_op_definition
class CreateDpWorkTileInfoOp(_CreateWorkOp):
    """A tile of which there is one for each block."""

    name = "cutlass.tile_scheduler.create_dp_work_tile_info"
    SCHEDULER: ClassVar[str] = "dp"
    traits = traits_def(Pure())


@irdl_op_definition
class CreateStaticPersistentWorkTileInfoOp(_CreateWorkOp):
    """A tile from which a block goes on to others."""

    name = "cutlass.tile_scheduler.create_static_persistent_work_tile_info"
    SCHEDULER: ClassVar[str] = "static_persistent"
    traits = traits_def(Pure())


@irdl_op_definition
class CreateStreamkWorkTileInfoOp(MadeWorkOp):
    """A part of a tile: `count` tiles along K from `k` on, of the unit with a number."""

    name = "cutlass.tile_scheduler.create_streamk_work_tile_info"

    m: fields.Operand = fields.operand(i32)
    n: fields.Operand = fields.operand(i32)
    k: fields.Operand = fields.operand(i32)
    l: fields.Operand = fields.operand(i32)
    count: fields.Operand = fields.operand(i32)
    unit: fields.Operand = fields.operand(i32)
    valid: fields.Operand = fields.operand(i1)

    traits = traits_def(Pure())
    assembly_format = (
        "$params `,` $m `,` $n `,` $k `,` $l `count` $count `unit` $unit `if` $valid attr-dict"
        " `:` type($params)"
    )

    def verify_(self) -> None:
        super().verify_()
        check_scheduler(self, self.params, STREAMK)


@irdl_op_definition
class WorkTileInfoGetValueOp(OfWorkOp):
    """A field of a tile: an index, or whether there is such a tile."""

    name = "cutlass.tile_scheduler.work_tile_info_get_value"

    field: fields.String = fields.prop(StringAttr)
    result: fields.Result[Attribute] = fields.typed_result(
        type=lambda given: field_type(given["field"]), init=False
    )

    traits = traits_def(Pure())
    assembly_format = (
        "$params `,` $work `[` $field `]` attr-dict `:` type($params) `->` type($result)"
    )

    def verify_(self) -> None:
        super().verify_()
        splits = params_type(self.params).splits
        check_field(self, self.field, PART_FIELDS if splits else WORK_FIELDS)
        if self.result.type != field_type(self.field.data):
            raise op_error(self, f"gives {field_type(self.field.data)}, not {self.result.type}")


def field_type(field: str) -> Attribute:
    """The type of a field of a tile."""
    return i1 if field == "is_valid" else i32


@irdl_op_definition
class WorkTileInfoSetValueOp(OfWorkOp):
    """The tile with another index, or another word on whether there is one.

    Of a part of a tile only that word is set: the numbers of a unit depend on one another.
    """

    name = "cutlass.tile_scheduler.work_tile_info_set_value"

    field: fields.String = fields.prop(StringAttr)
    value: fields.Operand = fields.operand()
    result: WorkResult = fields.typed_result(WORK, type=type_of("work"), init=False)

    traits = traits_def(Pure())
    assembly_format = (
        "$params `,` $work `[` $field `]` `=` $value attr-dict `:` type($params) `,` type($value)"
    )

    def verify_(self) -> None:
        super().verify_()
        check_work(self, self.params, self.result)
        splits = params_type(self.params).splits
        check_field(self, self.field, WORK_FIELDS[-1:] if splits else WORK_FIELDS)
        if self.value.type != field_type(self.field.data):
            raise op_error(self, f"sets {field_type(self.field.data)}, not {self.value.type}")


@irdl_op_definition
class WorkTileInfoToCoordMnklOp(OfWorkOp):
    """The tile by its indices along m, n, k and l; k is 0 where no tile is split."""

    name = "cutlass.tile_scheduler.work_tile_info_to_coord_mnkl"

    m = result_def(i32)
    n = result_def(i32)
    k = result_def(i32)
    l = result_def(i32)

    traits = traits_def(Pure())
    assembly_format = "$params `,` $work attr-dict `:` type($params)"


@irdl_op_definition
class WorkTileInfoToCtaCoordOp(OfWorkOp):
    """The tile of this block by its indices along m, n and l.

    A tile of a scheduler is one of a block, so that these are its own; in a cluster, whose blocks
    CUTLASS gives the tiles of one larger tile, it is refused where it is lowered.
    """

    name = "cutlass.tile_scheduler.work_tile_info_to_cta_coord"

    m = result_def(i32)
    n = result_def(i32)
    l = result_def(i32)

    traits = traits_def(Pure())
    assembly_format = "$params `,` $work attr-dict `:` type($params)"
