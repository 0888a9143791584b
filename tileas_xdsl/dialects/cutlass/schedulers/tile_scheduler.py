"""Tile schedulers: which tiles of a problem a block computes.

`dp` gives each block one tile; `sm100` then those of blocks that have not started;
`static_persistent` gives it every so many, as many as there are
blocks.  `streamk` numbers units: the first ones share the K of some tiles, others have a tile each.
Tiles are numbered along m, then n, then l, or along n first.
Source: CUTLASS include/cutlass/gemm/kernel, static_tile_scheduler.hpp and
sm90_tile_scheduler_stream_k.hpp.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any, ClassVar, TypeAlias

from xdsl.dialects.builtin import i1, i32
from xdsl.ir import Attribute, Operation, SSAValue
from xdsl.irdl import (
    AttrConstraint,
    BaseAttr,
    VarConstraint,
    result_def,
    traits_def,
)
from xdsl.traits import Pure

from tileas_xdsl.data_classes import dataclass
from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import fields
from tileas_xdsl.dialects.cute.types.address_spaces import AddressSpace
from tileas_xdsl.dialects.cute.types.pointers import PtrType
from tileas_xdsl.dialects.cute_nvgpu import CLC_RESPONSE_BYTES
from tileas_xdsl.dialects.cutlass.regions import AsyncExecOp
from tileas_xdsl.dialects.cutlass.schedulers.scheduler_params import params_type
from tileas_xdsl.dialects.cutlass.steps import BARRIER
from tileas_xdsl.dialects.cutlass.types import (
    SM100,
    SchedulerParamsType,
    WorkTileInfoType,
)
from tileas_xdsl.dialects.fields import FieldsOp, type_of
from tileas_xdsl.dialects.ir_queries import enclosing
from tileas_xdsl.dialects.op_definition import irdl_op_definition

__all__ = [
    "CLC_RESPONSE",
    "AdvanceToNextWorkOp",
    "CreateSM100SchedulerOp",
    "FetchNextWorkOp",
    "GetCurrentWorkOp",
    "GetWorkidResponsePtrOp",
    "InitialWorkTileInfoOp",
    "OfWorkOp",
    "QueryNextWorkOp",
    "StaticFetchNextWorkOp",
]

CLC_RESPONSE = PtrType(i32, AddressSpace.SMEM, CLC_RESPONSE_BYTES)
"""Where answers to requests are written, one after another."""

WORK_FIELDS = ("m_idx", "n_idx", "l_idx", "is_valid")

PART_FIELDS = (*WORK_FIELDS, "k_idx", "k_tile_count", "k_tile_remaining")
"""Of a part of a tile also where it is along K, and the tiles along K that are left of the unit."""


def work_of(params: Attribute) -> WorkTileInfoType:
    """What a scheduler hands out."""
    assert isinstance(params, SchedulerParamsType)
    return WorkTileInfoType(params.splits)


@dataclass(frozen=True)
class _WorkOf(AttrConstraint[WorkTileInfoType]):
    """What the scheduler of the parameters hands out; `check_work` says where it is not."""

    def verify(self, attr: Attribute, constraint_context: Any) -> None:
        BaseAttr(WorkTileInfoType).verify(attr, constraint_context)

    def can_infer(self, var_constraint_names: AbstractSet[str]) -> bool:
        return _PARAMS.name in var_constraint_names

    def infer(self, context: Any) -> WorkTileInfoType:
        return work_of(context.get_variable(_PARAMS.name))

    def mapping_type_vars(self, type_var_mapping: Mapping[Any, Any]) -> _WorkOf:
        return self


_PARAMS = VarConstraint("PARAMS", BaseAttr(SchedulerParamsType))
WORK = _WorkOf()
WorkResult: TypeAlias = "fields.Result[WorkTileInfoType]"


def check_work(op: Operation, params: SSAValue, work: SSAValue) -> None:
    """Refuse a part of a tile of a scheduler that splits none, and the other way round."""
    wanted = work_of(params.type)
    if work.type != wanted:
        raise op_error(op, f"has {wanted} of {params.type}, not {work.type}")


def _made_work(given: Mapping[str, Any]) -> WorkTileInfoType:
    return work_of(SSAValue.get(given["params"]).type)


class MadeWorkOp(FieldsOp):
    """Base: a tile of the scheduler."""

    params: fields.Operand = fields.operand(_PARAMS)
    result: WorkResult = fields.typed_result(WORK, type=_made_work, init=False)

    def verify_(self) -> None:
        check_work(self, self.params, self.result)


class OfWorkOp(FieldsOp):
    """Base: something about a tile of the scheduler."""

    params: fields.Operand = fields.operand(_PARAMS)
    work: fields.Operand = fields.operand(WORK)

    def verify_(self) -> None:
        check_work(self, self.params, self.work)


@irdl_op_definition
class InitialWorkTileInfoOp(MadeWorkOp):
    """The first tile of this block."""

    name = "cutlass.tile_scheduler.initial_work_tile_info"

    traits = traits_def(Pure())
    assembly_format = "$params attr-dict `:` type($params)"


@irdl_op_definition
class GetCurrentWorkOp(MadeWorkOp):
    """The tile, or the first part of the unit, that has a number."""

    name = "cutlass.tile_scheduler.get_current_work"

    number: fields.Operand = fields.operand(i32)

    traits = traits_def(Pure())
    assembly_format = "$params `,` $number attr-dict `:` type($params)"


class _NextWorkOp(OfWorkOp):
    """The tile after another one; of a unit first its other parts, from the last to the first."""

    ASKS: ClassVar[bool] = False
    """Whether the tile may be one that another block was to compute."""

    result: WorkResult = fields.typed_result(WORK, type=type_of("work"), init=False)

    assembly_format = "$params `,` $work attr-dict `:` type($params)"

    def verify_(self) -> None:
        super().verify_()
        check_work(self, self.params, self.result)
        if params_type(self.params).kind.data == SM100 and not self.ASKS:
            raise op_error(
                self, "is of a scheduler that asks nobody; sm100 asks by query_next_work"
            )


@irdl_op_definition
class AdvanceToNextWorkOp(_NextWorkOp):
    """The next tile of this block; inside `async.exec`, beside the work on this one."""

    name = "cutlass.tile_scheduler.advance_to_next_work"
    traits = traits_def(Pure())

    def verify_(self) -> None:
        super().verify_()
        if enclosing(self, AsyncExecOp) is None:
            raise op_error(self, "is inside cutlass.async.exec")


@irdl_op_definition
class FetchNextWorkOp(_NextWorkOp):
    """The next tile of this block, however its scheduler finds it.

    Of `sm100` it is what the request of a stage was answered: after a wait for its barrier.
    """

    name = "cutlass.tile_scheduler.fetch_next_work"
    ASKS: ClassVar[bool] = True

    stage: fields.OptOperand = fields.opt_operand(i32, default=None)

    assembly_format = "$params `,` $work (`at` $stage^)? attr-dict `:` type($params)"

    def verify_(self) -> None:
        super().verify_()
        kind = params_type(self.params).kind.data
        if (kind == SM100) != (self.stage is not None):
            raise op_error(self, f"of {kind} has {'a' if kind == SM100 else 'no'} stage")


@irdl_op_definition
class StaticFetchNextWorkOp(_NextWorkOp):
    """The next tile of this block, of a scheduler that asks nobody for it."""

    name = "cutlass.tile_scheduler.static_fetch_next_work"
    traits = traits_def(Pure())


def _asking(given: Mapping[str, Any]) -> SchedulerParamsType:
    return SchedulerParamsType(SM100, params_type(SSAValue.get(given["params"])).raster)


@irdl_op_definition
class CreateSM100SchedulerOp(FieldsOp):
    """A block's own tile, then tiles of blocks that have not started: `clusterlaunchcontrol`.

    `responses` are 16 bytes of shared memory for each stage of the pipeline of requests.
    Source: CUTLASS include/cutlass/gemm/kernel/sm100_tile_scheduler.hpp.
    """

    name = "cutlass.tile_scheduler.create_SM100_scheduler"

    params: fields.Operand = fields.operand(SchedulerParamsType)
    responses: fields.Operand = fields.operand(CLC_RESPONSE)
    result: fields.Result[SchedulerParamsType] = fields.typed_result(
        SchedulerParamsType, type=_asking, init=False
    )

    traits = traits_def(Pure())
    assembly_format = (
        "$params `,` $responses attr-dict `:` type($params) `,` type($responses) `->` type($result)"
    )

    def verify_(self) -> None:
        given = params_type(self.params)
        if given.kind.data != "dp":
            raise op_error(self, f"takes the tiles of dp parameters, not of {given.kind.data}")
        wanted = SchedulerParamsType(SM100, given.raster)
        if self.result.type != wanted:
            raise op_error(self, f"makes {wanted} of {given}, not {self.result.type}")


class _Sm100Op(FieldsOp):
    """Base: something about a stage of requests."""

    params: fields.Operand = fields.operand(SchedulerParamsType)
    stage: fields.Operand = fields.operand(i32)

    def verify_(self) -> None:
        check_scheduler(self, self.params, SM100, "asks for")


@irdl_op_definition
class GetWorkidResponsePtrOp(_Sm100Op):
    """Where the answer to the request of a stage is written."""

    name = "cutlass.tile_scheduler.get_workid_response_ptr"

    result = result_def(CLC_RESPONSE)

    traits = traits_def(Pure())
    assembly_format = "$params `,` $stage attr-dict `:` type($params)"


@irdl_op_definition
class QueryNextWorkOp(_Sm100Op):
    """Asks for the tile of a block that has not started; one thread of the cluster asks.

    The answer completes 16 bytes of transactions of the barrier; `fetch_next_work` reads it.  With
    a pipeline of TMA the barrier is `get_producer_barrier`, whose stage announces the 16 bytes.
    """

    name = "cutlass.tile_scheduler.query_next_work"

    barrier: fields.Operand = fields.operand(BARRIER)
    elected: fields.OptOperand = fields.opt_operand(i1, default=None)

    assembly_format = (
        "$params `,` $stage `,` $barrier (`if` $elected^)? attr-dict `:` type($params)"
    )


def check_scheduler(op: Operation, params: SSAValue, scheduler: str, does: str = "makes") -> None:
    kind = params_type(params).kind.data
    if kind != scheduler:
        raise op_error(op, f"{does} tiles of {scheduler}, not of {kind}")
