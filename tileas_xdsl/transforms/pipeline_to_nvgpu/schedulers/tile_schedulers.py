"""Lower tile schedulers of `cutlass`: linear tile index, validity, and tile coordinates.

Three kinds, as in CUTLASS:

* data parallel (`dp`): one block a tile; the index is the linear block index;
* static persistent: as many blocks as run at once; the next tile is `index + number of blocks`;
* stream-K: units of equal numbers of k iterations, of which a tile may be split between several
  (`streamk_partition.py`; Osama et al., "Stream-K", PPoPP 2023).

A work tile is expanded to (index, is_valid), for stream-K to (unit, is_valid, start, count):

    %t = cutlass.tile_scheduler.initial_work_tile_info %params
    %n = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x
    %valid = arith.cmpi ult, %n, %m * %n_tiles * %l

    m_idx = %n mod m, n_idx = (%n / m) mod n, l_idx = %n / (m * n)     with raster along m
"""

from __future__ import annotations

from math import prod
from typing import Any

from xdsl.dialects import arith, func
from xdsl.dialects.builtin import DenseArrayBase, i1
from xdsl.ir import Operation, SSAValue

from tileas_xdsl.diagnostics.emission import op_error
from tileas_xdsl.dialects import cutlass
from tileas_xdsl.dialects.cute import PtrAddOp
from tileas_xdsl.dialects.cute_nvgpu import (
    CLC_RESPONSE_BYTES,
    BlockIdxOp,
    ClcResponseOp,
    FenceProxyAsyncOp,
    GridDimOp,
    IssueClcQueryOp,
)
from tileas_xdsl.dialects.cute_nvgpu.operands import value_of
from tileas_xdsl.dialects.cutlass.schedulers.scheduler_params import STREAMK_FIELDS, params_type
from tileas_xdsl.dialects.cutlass.types import SM100, STREAMK
from tileas_xdsl.transforms.pipeline_to_nvgpu.legality import CLUSTER
from tileas_xdsl.transforms.pipeline_to_nvgpu.schedulers import streamk_partition as units
from tileas_xdsl.transforms.pipeline_to_nvgpu.schedulers.streamk_partition import Part, Units
from tileas_xdsl.transforms.pipeline_to_nvgpu.writer import Values, Writer

INDICES = ("m_idx", "n_idx", "l_idx")

ALIGNMENT = 128
"""Bytes that each region of a workspace is a multiple of (CUTLASS, round_up_to_l2_alignment)."""

# Parameters


def _params(w: Writer, op: cutlass.CreateParamsOp) -> list[Values]:
    return [(op.m, op.n, op.l)]


def _tiles(w: Writer, extent: SSAValue, tile: int) -> SSAValue:
    return w.divide(w.add(extent, tile - 1), tile)


def _make_params(w: Writer, op: cutlass.MakeParamsOp) -> list[Values]:
    m, n = op.tile.get_values()
    return [(_tiles(w, op.m, int(m)), _tiles(w, op.n, int(n)), op.l)]


def _streamk(w: Writer, op: cutlass.CreateStreamkParamsOp) -> list[Values]:
    return [units.shared_by(w, (op.m, op.n, op.l), op.k, op.units, value_of(op.least))]


def _make_streamk(w: Writer, op: cutlass.MakeStreamkParamsOp) -> list[Values]:
    extents = map(int, op.tile.get_values())
    m, n, k = (_tiles(w, x, y) for x, y in zip((op.m, op.n, op.k), extents, strict=True))
    return [units.shared_by(w, (m, n, op.l), k, op.units, value_of(op.least))]


def _get_param(w: Writer, op: cutlass.ParamsGetValueOp) -> list[Values]:
    return [[w.parts[op.params][STREAMK_FIELDS.index(op.field.data)]]]


def _grid(w: Writer, op: cutlass.GetGridShapeOp) -> list[Values]:
    if params_type(op.params).kind.data not in ("dp", SM100):
        return [[w.insert(GridDimOp(axis)).result] for axis in "xyz"]
    return [[units.total(w, w.parts[op.params])], [w.number(1)], [w.number(1)]]


def region(w: Writer, params: SSAValue, bytes_: int) -> SSAValue:
    """Return the workspace bytes of one region: `bytes_` for each tile that may be split."""
    above = w.add(w.multiply(units_of(w, params).shared, bytes_), ALIGNMENT - 1)
    return w.multiply(w.divide(above, ALIGNMENT), ALIGNMENT)


def _workspace(w: Writer, op: cutlass.GetWorkspaceSizesOp) -> list[Values]:
    if op.tile_bytes is None:
        return [[w.number(0)]]
    accumulators = region(w, op.params, value_of(op.tile_bytes))
    return [[w.add(accumulators, region(w, op.params, cutlass.COUNTER_BYTES))]]


def units_of(w: Writer, params: SSAValue) -> Units:
    """Return the parameters of stream-K by name."""
    return Units(*w.parts[params])


def part_of(w: Writer, op: cutlass.OfWorkOp) -> Part:
    """Return the part of a tile that an operation is about."""
    return units.part(w, units_of(w, op.params), w.parts[op.work])


# Tiles


def _splits(params: SSAValue) -> bool:
    return params_type(params).splits


def _blocks(w: Writer) -> SSAValue:
    x, y, z = (w.insert(GridDimOp(axis)).result for axis in "xyz")
    return w.multiply(w.multiply(x, y), z)


def _work_at(w: Writer, params: SSAValue, index: SSAValue) -> Values:
    if _splits(params):
        return units.unit(w, units_of(w, params), index)
    return (index, w.compare("ult", index, units.total(w, w.parts[params])))


def _block_index(w: Writer, x: SSAValue, y: SSAValue, z: SSAValue) -> SSAValue:
    """Return the index of a block in its grid: blocks are ordered along x, then y, then z."""
    width, height = (w.insert(GridDimOp(axis)).result for axis in "xy")
    return w.add(w.multiply(w.add(w.multiply(z, height), y), width), x)


def _initial(w: Writer, op: cutlass.InitialWorkTileInfoOp) -> list[Values]:
    x, y, z = (w.insert(BlockIdxOp(axis)).result for axis in "xyz")
    return [_work_at(w, op.params, _block_index(w, x, y, z))]


def _current(w: Writer, op: cutlass.GetCurrentWorkOp) -> list[Values]:
    return [_work_at(w, op.params, op.number)]


def _next(
    w: Writer,
    op: cutlass.AdvanceToNextWorkOp | cutlass.FetchNextWorkOp | cutlass.StaticFetchNextWorkOp,
) -> list[Values]:
    index, *_ = w.parts[op.work]
    kind = params_type(op.params).kind.data
    if kind == "dp":
        return [(index, w.number(0, i1))]
    if isinstance(op, cutlass.FetchNextWorkOp) and op.stage is not None:
        return [_answered(w, op, op.stage)]
    if kind == STREAMK:
        u = units_of(w, op.params)
        return [units.following(w, u, w.parts[op.work], _blocks(w))]
    return [_work_at(w, op.params, w.add(index, _blocks(w)))]


def _answered(w: Writer, op: cutlass.FetchNextWorkOp, stage: SSAValue) -> Values:
    """The tile of the block that a request gave; the next request may then write over it."""
    _check_no_cluster(op)
    answer = w.insert(ClcResponseOp(_response(w, op.params, stage)))
    w.insert(FenceProxyAsyncOp())
    block = _block_index(w, answer.x, answer.y, answer.z)
    index, exists = _work_at(w, op.params, block)
    return index, w.both(answer.granted, exists)


def _response(w: Writer, params: SSAValue, stage: SSAValue) -> SSAValue:
    words = w.multiply(stage, CLC_RESPONSE_BYTES // 4)
    return w.insert(PtrAddOp(w.parts[params][-1], words, CLC_RESPONSE_BYTES)).result


def _response_ptr(w: Writer, op: cutlass.GetWorkidResponsePtrOp) -> list[Values]:
    return [[_response(w, op.params, op.stage)]]


def _query(w: Writer, op: cutlass.QueryNextWorkOp) -> list[Values]:
    _check_no_cluster(op)
    response = _response(w, op.params, op.stage)
    w.insert(IssueClcQueryOp(response, op.barrier, op.elected))
    return []


def _sm100(w: Writer, op: cutlass.CreateSM100SchedulerOp) -> list[Values]:
    return [(*w.parts[op.params], op.responses)]


def _tile(w: Writer, op: cutlass.OfWorkOp) -> SSAValue:
    """Return the linear index of a tile."""
    return part_of(w, op).tile if _splits(op.params) else w.parts[op.work][0]


def _coordinates(w: Writer, op: cutlass.OfWorkOp) -> tuple[SSAValue, ...]:
    """Return the indices of a tile along m, n and l; the raster axis varies fastest."""
    m, n = w.parts[op.params][:2]
    along_m = params_type(op.params).raster.data == "m"
    first, second = (m, n) if along_m else (n, m)
    index = _tile(w, op)
    inner = w.insert(arith.RemUIOp(index, first)).result
    rest = w.divide(index, first)
    outer = w.insert(arith.RemUIOp(rest, second)).result
    batch = w.divide(rest, second)
    return (inner, outer, batch) if along_m else (outer, inner, batch)


def _linear_index(w: Writer, params: SSAValue, indices: Values) -> SSAValue:
    """Return the linear index of the tile with given indices along m, n and l."""
    m, n = w.parts[params][:2]
    row, column, batch = indices
    if params_type(params).raster.data == "m":
        return w.add(w.multiply(w.add(w.multiply(batch, n), column), m), row)
    return w.add(w.multiply(w.add(w.multiply(batch, m), row), n), column)


def _create(
    w: Writer,
    op: cutlass.CreateDpWorkTileInfoOp | cutlass.CreateStaticPersistentWorkTileInfoOp,
) -> list[Values]:
    return [(_linear_index(w, op.params, (op.m, op.n, op.l)), op.valid)]


def _create_part(w: Writer, op: cutlass.CreateStreamkWorkTileInfoOp) -> list[Values]:
    tile = _linear_index(w, op.params, (op.m, op.n, op.l))
    start = w.add(w.multiply(tile, units_of(w, op.params).k), op.k)
    return [(op.unit, op.valid, start, op.count)]


# What there is to know of a tile


def _get_work(w: Writer, op: cutlass.WorkTileInfoGetValueOp) -> list[Values]:
    field = op.field.data
    if field == "is_valid":
        return [w.parts[op.work][1:2]]
    if field == "k_tile_remaining":
        return [w.parts[op.work][3:]]
    if field in INDICES:
        return [[_coordinates(w, op)[INDICES.index(field)]]]
    part = part_of(w, op)
    return [[part.start if field == "k_idx" else part.count]]


def _set_work(w: Writer, op: cutlass.WorkTileInfoSetValueOp) -> list[Values]:
    number, valid, *rest = w.parts[op.work]
    if op.field.data == "is_valid":
        return [(number, op.value, *rest)]
    indices = list(_coordinates(w, op))
    indices[INDICES.index(op.field.data)] = op.value
    return [(_linear_index(w, op.params, indices), valid)]


def _mnkl(w: Writer, op: cutlass.WorkTileInfoToCoordMnklOp) -> list[Values]:
    m, n, l = _coordinates(w, op)
    return [[m], [n], [_start(w, op)], [l]]


def _start(w: Writer, op: cutlass.OfWorkOp) -> SSAValue:
    return part_of(w, op).start if _splits(op.params) else w.number(0)


def _cta(w: Writer, op: cutlass.WorkTileInfoToCtaCoordOp) -> list[Values]:
    _check_no_cluster(op)
    return [[index] for index in _coordinates(w, op)]


def _check_no_cluster(op: Operation) -> None:
    """Tiles are of single blocks; CUTLASS gives the blocks of a cluster those of a larger one."""
    function: Operation | None = op
    while function is not None and not isinstance(function, func.FuncOp):
        function = function.parent_op()
    extents = None if function is None else function.attributes.get(CLUSTER)
    if isinstance(extents, DenseArrayBase) and (size := prod(extents.get_values())) > 1:
        raise op_error(op, f"tells the tiles of blocks without a cluster; this one has {size}")


def _k_start(w: Writer, op: cutlass.GetWorkKTileStartOp) -> list[Values]:
    return [[_start(w, op)]]


def _k_count(w: Writer, op: cutlass.GetWorkKTileCountOp) -> list[Values]:
    return [[part_of(w, op).count]]


def _epilogue(w: Writer, op: cutlass.ComputeEpilogueOp) -> list[Values]:
    valid = w.parts[op.work][1]
    if not _splits(op.params):
        return [[valid]]
    return [[w.both(valid, units.is_last(w, units_of(w, op.params), part_of(w, op)))]]


HANDLERS: Any = {
    cutlass.AdvanceToNextWorkOp: _next,
    cutlass.ComputeEpilogueOp: _epilogue,
    cutlass.CreateDpParamsOp: _params,
    cutlass.CreateDpWorkTileInfoOp: _create,
    cutlass.CreateStaticPersistentParamsOp: _params,
    cutlass.CreateStaticPersistentWorkTileInfoOp: _create,
    cutlass.CreateStreamkParamsOp: _streamk,
    cutlass.CreateStreamkWorkTileInfoOp: _create_part,
    cutlass.CreateSM100SchedulerOp: _sm100,
    cutlass.FetchNextWorkOp: _next,
    cutlass.GetCurrentWorkOp: _current,
    cutlass.GetGridShapeOp: _grid,
    cutlass.GetWorkKTileCountOp: _k_count,
    cutlass.GetWorkKTileStartOp: _k_start,
    cutlass.GetWorkspaceSizesOp: _workspace,
    cutlass.GetWorkidResponsePtrOp: _response_ptr,
    cutlass.InitialWorkTileInfoOp: _initial,
    cutlass.MakeDpParamsOp: _make_params,
    cutlass.MakeStaticPersistentParamsOp: _make_params,
    cutlass.MakeStreamkParamsOp: _make_streamk,
    cutlass.ParamsGetValueOp: _get_param,
    cutlass.QueryNextWorkOp: _query,
    cutlass.StaticFetchNextWorkOp: _next,
    cutlass.WorkTileInfoGetValueOp: _get_work,
    cutlass.WorkTileInfoSetValueOp: _set_work,
    cutlass.WorkTileInfoToCoordMnklOp: _mnkl,
    cutlass.WorkTileInfoToCtaCoordOp: _cta,
}
