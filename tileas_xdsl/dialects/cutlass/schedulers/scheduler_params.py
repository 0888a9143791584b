"""Parameters of tile schedulers: the tiles of a problem, and how blocks share them.

`create_*` takes numbers of tiles, `make_*` the extents of a problem and of a tile.
Source: CUTLASS include/cutlass/gemm/kernel/{static_tile_scheduler.hpp,tile_scheduler_params.h}.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from xdsl.dialects.builtin import DenseArrayBase, StringAttr, i32
from xdsl.ir import Operation, SSAValue
from xdsl.irdl import IRDLOperation, operand_def, prop_def, result_def, traits_def
from xdsl.traits import Pure

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.constraints import AT_LEAST_1, number_among
from tileas_xdsl.dialects.cute_nvgpu.operands import (
    Value,
    number,
)
from tileas_xdsl.dialects.cutlass.types import STREAMK, SchedulerParamsType
from tileas_xdsl.dialects.field_init import init_fields
from tileas_xdsl.dialects.fields import FieldsOp
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = [
    "CreateDpParamsOp",
    "CreateParamsOp",
    "CreateStaticPersistentParamsOp",
    "CreateStreamkParamsOp",
    "GetGridShapeOp",
    "GetWorkspaceSizesOp",
    "MakeDpParamsOp",
    "MakeParamsOp",
    "MakeStaticPersistentParamsOp",
    "MakeStreamkParamsOp",
    "ParamsGetValueOp",
    "StreamkParamsOp",
]

PARAMS_FIELDS = ("num_tiles_m", "num_tiles_n", "num_tiles_l")

STREAMK_FIELDS = (*PARAMS_FIELDS, "num_tiles_k", "sk_units", "sk_tiles")
"""Of stream-K also the tiles along K, the units that share the first tiles, and those tiles."""

MIN_K_TILES = 8
"""Tiles along K below which a unit is not worth while (CUTLASS, min_iters_per_sk_unit_)."""


def params_type(params: SSAValue) -> SchedulerParamsType:
    """The type of parameters."""
    type_ = params.type
    assert isinstance(type_, SchedulerParamsType)
    return type_


TILE_BYTES = number_among(i32, AT_LEAST_1, "has tiles of 1 byte or more, not {given}")
"""Of the sums of one tile."""


def check_field(op: Operation, field: StringAttr, known: tuple[str, ...]) -> None:
    """Refuse a field that there is not."""
    if field.data not in known:
        raise op_error(op, f"has the fields {', '.join(known)}, not {field.data}")


class _ParamsOp(IRDLOperation):
    """Parameters of the scheduler that the name says."""

    result = result_def(SchedulerParamsType)
    SCHEDULER: ClassVar[str]

    def verify_(self) -> None:
        kind = self.result.type.kind.data
        if kind != self.SCHEDULER:
            raise op_error(self, f"makes parameters of {self.SCHEDULER}, not of {kind}")


class CreateParamsOp(_ParamsOp):
    """The tiles of a problem along m, n and l."""

    m = operand_def(i32)
    n = operand_def(i32)
    l = operand_def(i32)

    assembly_format = "$m `,` $n `,` $l attr-dict `:` type($result)"

    def __init__(self, m: Value, n: Value, l: Value, raster: str = "m") -> None:
        init_fields(self, m=m, n=n, l=l, result=SchedulerParamsType(self.SCHEDULER, raster))


@irdl_op_definition
class CreateDpParamsOp(CreateParamsOp):
    """Each block computes one tile."""

    name = "cutlass.tile_scheduler.create_dp_params"
    SCHEDULER: ClassVar[str] = "dp"
    traits = traits_def(Pure())


@irdl_op_definition
class CreateStaticPersistentParamsOp(CreateParamsOp):
    """Blocks stay, and go on to tiles further on."""

    name = "cutlass.tile_scheduler.create_static_persistent_params"
    SCHEDULER: ClassVar[str] = "static_persistent"
    traits = traits_def(Pure())


class MakeParamsOp(_ParamsOp):
    """The tiles of a problem by its extents along m, n and l; the last ones may be cut."""

    m = operand_def(i32)
    n = operand_def(i32)
    l = operand_def(i32)
    tile = prop_def(DenseArrayBase.constr(i32))

    assembly_format = "$m `,` $n `,` $l `tile` $tile attr-dict `:` type($result)"

    def __init__(
        self, m: Value, n: Value, l: Value, tile: Sequence[int], raster: str = "m"
    ) -> None:
        init_fields(
            self,
            m=m,
            n=n,
            l=l,
            result=SchedulerParamsType(self.SCHEDULER, raster),
            tile=DenseArrayBase.from_list(i32, tile),
        )

    def verify_(self) -> None:
        super().verify_()
        check_tile(self, self.tile.get_values(), 2)


def check_tile(op: Operation, extents: Sequence[int], rank: int) -> None:
    """A tile has so many extents, each 1 or more."""
    if len(extents) != rank or any(extent < 1 for extent in extents):
        raise op_error(op, f"has tiles of {rank} extents, 1 or more each, not {list(extents)}")


@irdl_op_definition
class MakeDpParamsOp(MakeParamsOp):
    """Each block computes one tile."""

    name = "cutlass.tile_scheduler.make_dp_params"
    SCHEDULER: ClassVar[str] = "dp"
    traits = traits_def(Pure())


@irdl_op_definition
class MakeStaticPersistentParamsOp(MakeParamsOp):
    """Blocks stay, and go on to tiles further on."""

    name = "cutlass.tile_scheduler.make_static_persistent_params"
    SCHEDULER: ClassVar[str] = "static_persistent"
    traits = traits_def(Pure())


class StreamkParamsOp(_ParamsOp):
    """Base: `units` blocks run at once; a unit has `least` tiles along K or more on average."""

    m = operand_def(i32)
    n = operand_def(i32)
    k = operand_def(i32)
    l = operand_def(i32)
    units = operand_def(i32)
    least = prop_def(
        number_among(i32, AT_LEAST_1, "gives units 1 tile along K or more, not {given}")
    )

    SCHEDULER: ClassVar[str] = STREAMK


@irdl_op_definition
class CreateStreamkParamsOp(StreamkParamsOp):
    """Units share the K of the last waves' tiles; the numbers are of tiles."""

    name = "cutlass.tile_scheduler.create_streamk_params"

    traits = traits_def(Pure())
    assembly_format = (
        "$m `,` $n `,` $k `,` $l `units` $units `least` $least attr-dict `:` type($result)"
    )

    def __init__(
        self,
        m: Value,
        n: Value,
        k: Value,
        l: Value,
        units: Value,
        least: int = MIN_K_TILES,
        raster: str = "m",
    ) -> None:
        init_fields(
            self,
            m=m,
            n=n,
            k=k,
            l=l,
            units=units,
            result=SchedulerParamsType(self.SCHEDULER, raster),
            least=least,
        )


@irdl_op_definition
class MakeStreamkParamsOp(StreamkParamsOp):
    """Units share the K of the last waves' tiles; the numbers are extents of the problem."""

    name = "cutlass.tile_scheduler.make_streamk_params"

    tile = prop_def(DenseArrayBase.constr(i32))

    traits = traits_def(Pure())
    assembly_format = (
        "$m `,` $n `,` $k `,` $l `tile` $tile `units` $units `least` $least attr-dict"
        " `:` type($result)"
    )

    def __init__(
        self,
        problem: Sequence[Value],
        tile: Sequence[int],
        units: Value,
        least: int = MIN_K_TILES,
        raster: str = "m",
    ) -> None:
        super().__init__(
            operands=[*problem, units],
            result_types=[SchedulerParamsType(self.SCHEDULER, raster)],
            properties={
                "tile": DenseArrayBase.from_list(i32, tile),
                "least": number(least),
            },
        )

    def verify_(self) -> None:
        super().verify_()
        check_tile(self, self.tile.get_values(), 3)


class OfParamsOp(FieldsOp):
    """Something that parameters say."""

    params: fields.Operand = fields.operand(SchedulerParamsType)

    assembly_format = "$params attr-dict `:` type($params)"


@irdl_op_definition
class ParamsGetValueOp(OfParamsOp):
    """A field of the parameters."""

    name = "cutlass.tile_scheduler.params_get_value"

    field: fields.String = fields.prop(StringAttr)
    result = result_def(i32)

    traits = traits_def(Pure())
    assembly_format = "$params `[` $field `]` attr-dict `:` type($params)"

    def verify_(self) -> None:
        splits = params_type(self.params).splits
        check_field(self, self.field, STREAMK_FIELDS if splits else PARAMS_FIELDS)


@irdl_op_definition
class GetGridShapeOp(OfParamsOp):
    """The blocks to launch along x, y, z: one for each tile, or for as many as are resident.

    Of blocks that stay it is what the launch has said, for that number is the launch's choice.
    """

    name = "cutlass.tile_scheduler.get_grid_shape"

    x = result_def(i32)
    y = result_def(i32)
    z = result_def(i32)
    traits = traits_def(Pure())

    def __init__(self, params: Value) -> None:
        init_fields(self, params=params)


@irdl_op_definition
class GetWorkspaceSizesOp(OfParamsOp):
    """The bytes of global memory that the scheduler needs: none where no tile is split.

    Of stream-K a tile of `tile_bytes` bytes of sums and a counter for each tile that may be split.
    """

    name = "cutlass.tile_scheduler.get_workspace_sizes"

    tile_bytes: fields.OptInt = fields.opt_prop(TILE_BYTES, default=None)
    result = result_def(i32)

    traits = traits_def(Pure())
    assembly_format = "$params (`tile_bytes` $tile_bytes^)? attr-dict `:` type($params)"

    def verify_(self) -> None:
        splits = params_type(self.params).splits
        if splits != (self.tile_bytes is not None):
            raise op_error(self, "says the bytes of a tile where tiles are split, by streamk only")
