"""Tile schedulers: which tiles of a problem a block computes.

`dp` gives each block one tile; `static_persistent` gives it every so many, as many as there are
blocks.  Tiles are numbered along m, then n, then l, or along n first.
Source: CUTLASS include/cutlass/gemm/kernel/static_tile_scheduler.hpp.
"""

from __future__ import annotations

from typing import ClassVar

from xdsl.dialects.builtin import StringAttr, i1, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    IRDLOperation,
    irdl_op_definition,
    operand_def,
    prop_def,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects.cute_nvgpu.operands import Value, word
from tileas_xdsl.dialects.cutlass.regions import AsyncExecOp
from tileas_xdsl.dialects.cutlass.types import SchedulerParamsType, WorkTileInfoType

PARAMS_FIELDS = ("num_tiles_m", "num_tiles_n", "num_tiles_l")
WORK_FIELDS = ("m_idx", "n_idx", "l_idx", "is_valid")

_PARAMS = SchedulerParamsType
_WORK = WorkTileInfoType()


class _CreateParamsOp(IRDLOperation):
    """The tiles of a problem along m, n and l."""

    m = operand_def(i32)
    n = operand_def(i32)
    l = operand_def(i32)
    result = result_def(SchedulerParamsType)

    assembly_format = "$m `,` $n `,` $l attr-dict `:` type($result)"
    SCHEDULER: ClassVar[str]

    def __init__(self, m: Value, n: Value, l: Value, raster: str = "m") -> None:
        super().__init__(
            operands=[m, n, l],
            result_types=[SchedulerParamsType(self.SCHEDULER, raster)],
        )

    def verify_(self) -> None:
        kind = _kind(self.result)
        if kind != self.SCHEDULER:
            raise op_error(self, f"makes parameters of {self.SCHEDULER}, not of {kind}")


@irdl_op_definition
class CreateDpParamsOp(_CreateParamsOp):
    """Each block computes one tile."""

    name = "cutlass.tile_scheduler.create_dp_params"
    SCHEDULER: ClassVar[str] = "dp"
    traits = traits_def(Pure())


@irdl_op_definition
class CreateStaticPersistentParamsOp(_CreateParamsOp):
    """Blocks stay, and go on to tiles further on."""

    name = "cutlass.tile_scheduler.create_static_persistent_params"
    SCHEDULER: ClassVar[str] = "static_persistent"
    traits = traits_def(Pure())


def _kind(value: SSAValue) -> str:
    type_ = value.type
    assert isinstance(type_, SchedulerParamsType)
    return type_.kind.data


class _OfParamsOp(IRDLOperation):
    """Something that parameters say."""

    params = operand_def(_PARAMS)

    assembly_format = "$params attr-dict `:` type($params)"


@irdl_op_definition
class ParamsGetValueOp(_OfParamsOp):
    """A field of the parameters."""

    name = "cutlass.tile_scheduler.params_get_value"

    field = prop_def(StringAttr)
    result = result_def(i32)

    traits = traits_def(Pure())
    assembly_format = "$params `[` $field `]` attr-dict `:` type($params)"

    def __init__(self, params: Value, field: str) -> None:
        super().__init__(operands=[params], result_types=[i32], properties={"field": word(field)})

    def verify_(self) -> None:
        _check_field(self, self.field, PARAMS_FIELDS)


def _check_field(op: Operation, field: StringAttr, known: tuple[str, ...]) -> None:
    if field.data not in known:
        raise op_error(op, f"has the fields {', '.join(known)}, not {field.data}")


@irdl_op_definition
class GetGridShapeOp(_OfParamsOp):
    """The blocks to launch along x, y, z: one for each tile, or for as many as are resident.

    Of `static_persistent` it is what the launch has said, for that number is the launch's choice.
    """

    name = "cutlass.tile_scheduler.get_grid_shape"

    x = result_def(i32)
    y = result_def(i32)
    z = result_def(i32)
    traits = traits_def(Pure())

    def __init__(self, params: Value) -> None:
        super().__init__(operands=[params], result_types=[i32] * 3)


@irdl_op_definition
class GetWorkspaceSizesOp(_OfParamsOp):
    """The bytes of global memory that the scheduler needs: none."""

    name = "cutlass.tile_scheduler.get_workspace_sizes"

    result = result_def(i32)
    traits = traits_def(Pure())

    def __init__(self, params: Value) -> None:
        super().__init__(operands=[params], result_types=[i32])


@irdl_op_definition
class InitialWorkTileInfoOp(_OfParamsOp):
    """The first tile of this block."""

    name = "cutlass.tile_scheduler.initial_work_tile_info"

    result = result_def(_WORK)
    traits = traits_def(Pure())

    def __init__(self, params: Value) -> None:
        super().__init__(operands=[params], result_types=[_WORK])


class _NextWorkOp(IRDLOperation):
    """The tile after another one."""

    params = operand_def(_PARAMS)
    work = operand_def(_WORK)
    result = result_def(_WORK)

    assembly_format = "$params `,` $work attr-dict `:` type($params)"

    def __init__(self, params: Value, work: Value) -> None:
        super().__init__(operands=[params, work], result_types=[_WORK])


@irdl_op_definition
class AdvanceToNextWorkOp(_NextWorkOp):
    """The next tile of this block; inside `async.exec`, beside the work on this one."""

    name = "cutlass.tile_scheduler.advance_to_next_work"
    traits = traits_def(Pure())

    def verify_(self) -> None:
        parent: Operation | None = self.parent_op()
        while parent is not None and not isinstance(parent, AsyncExecOp):
            parent = parent.parent_op()
        if parent is None:
            raise op_error(self, "is inside cutlass.async.exec")


@irdl_op_definition
class StaticFetchNextWorkOp(_NextWorkOp):
    """The next tile of this block, of a scheduler that asks nobody for it."""

    name = "cutlass.tile_scheduler.static_fetch_next_work"
    traits = traits_def(Pure())


@irdl_op_definition
class WorkTileInfoGetValueOp(IRDLOperation):
    """A field of a tile: an index, or whether there is such a tile."""

    name = "cutlass.tile_scheduler.work_tile_info_get_value"

    params = operand_def(_PARAMS)
    work = operand_def(_WORK)
    field = prop_def(StringAttr)
    result = result_def()

    traits = traits_def(Pure())
    assembly_format = (
        "$params `,` $work `[` $field `]` attr-dict `:` type($params) `->` type($result)"
    )

    def __init__(self, params: Value, work: Value, field: str) -> None:
        super().__init__(
            operands=[params, work],
            result_types=[field_type(field)],
            properties={"field": word(field)},
        )

    def verify_(self) -> None:
        _check_field(self, self.field, WORK_FIELDS)
        if self.result.type != field_type(self.field.data):
            raise op_error(self, f"gives {field_type(self.field.data)}, not {self.result.type}")


def field_type(field: str) -> Attribute:
    """The type of a field of a tile."""
    return i1 if field == "is_valid" else i32


@irdl_op_definition
class WorkTileInfoToCoordMnklOp(IRDLOperation):
    """The tile by its indices along m, n, k and l; k is 0, for no tile is split."""

    name = "cutlass.tile_scheduler.work_tile_info_to_coord_mnkl"

    params = operand_def(_PARAMS)
    work = operand_def(_WORK)
    m = result_def(i32)
    n = result_def(i32)
    k = result_def(i32)
    l = result_def(i32)

    traits = traits_def(Pure())
    assembly_format = "$params `,` $work attr-dict `:` type($params)"

    def __init__(self, params: Value, work: Value) -> None:
        super().__init__(operands=[params, work], result_types=[i32] * 4)


OPERATIONS = (
    AdvanceToNextWorkOp,
    CreateDpParamsOp,
    CreateStaticPersistentParamsOp,
    GetGridShapeOp,
    GetWorkspaceSizesOp,
    InitialWorkTileInfoOp,
    ParamsGetValueOp,
    StaticFetchNextWorkOp,
    WorkTileInfoGetValueOp,
    WorkTileInfoToCoordMnklOp,
)
