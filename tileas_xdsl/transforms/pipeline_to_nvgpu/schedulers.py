"""Tile schedulers: the number of a tile, whether it exists, and its indices."""

from __future__ import annotations

from typing import Any

from xdsl.dialects import arith
from xdsl.dialects.builtin import i1
from xdsl.ir import SSAValue

from tileas_xdsl.dialects import cutlass
from tileas_xdsl.dialects.cute_nvgpu import BlockIdxOp, GridDimOp
from tileas_xdsl.dialects.cutlass.tile_scheduler import PARAMS_FIELDS
from tileas_xdsl.transforms.pipeline_to_nvgpu.writer import Values, Writer


def _params(
    w: Writer, op: cutlass.CreateDpParamsOp | cutlass.CreateStaticPersistentParamsOp
) -> list[Values]:
    return [(op.m, op.n, op.l)]


def _type(params: SSAValue) -> cutlass.SchedulerParamsType:
    type_ = params.type
    assert isinstance(type_, cutlass.SchedulerParamsType)
    return type_


def _is_persistent(params: SSAValue) -> bool:
    return _type(params).kind.data == "static_persistent"


def _get_param(w: Writer, op: cutlass.ParamsGetValueOp) -> list[Values]:
    return [[w.parts[op.params][PARAMS_FIELDS.index(op.field.data)]]]


def _total(w: Writer, params: SSAValue) -> SSAValue:
    m, n, l = w.parts[params]
    return w.multiply(w.multiply(m, n), l)


def _blocks(w: Writer) -> SSAValue:
    x, y, z = (w.insert(GridDimOp(axis)).result for axis in "xyz")
    return w.multiply(w.multiply(x, y), z)


def _initial(w: Writer, op: cutlass.InitialWorkTileInfoOp) -> list[Values]:
    """Blocks are numbered along x, then y, then z."""
    x, y, z = (w.insert(BlockIdxOp(axis)).result for axis in "xyz")
    width, height = (w.insert(GridDimOp(axis)).result for axis in "xy")
    number = w.add(w.multiply(w.add(w.multiply(z, height), y), width), x)
    return [(number, w.compare("ult", number, _total(w, op.params)))]


def _next(
    w: Writer, op: cutlass.AdvanceToNextWorkOp | cutlass.StaticFetchNextWorkOp
) -> list[Values]:
    number, _ = w.parts[op.work]
    if not _is_persistent(op.params):
        return [(number, w.number(0, i1))]
    number = w.add(number, _blocks(w))
    return [(number, w.compare("ult", number, _total(w, op.params)))]


def _grid(w: Writer, op: cutlass.GetGridShapeOp) -> list[Values]:
    if _is_persistent(op.params):
        return [[w.insert(GridDimOp(axis)).result] for axis in "xyz"]
    return [[_total(w, op.params)], [w.number(1)], [w.number(1)]]


def _workspace(w: Writer, op: cutlass.GetWorkspaceSizesOp) -> list[Values]:
    return [[w.number(0)]]


def _coordinates(w: Writer, params: SSAValue, work: SSAValue) -> tuple[SSAValue, ...]:
    """The indices of a tile along m, n and l; neighbours are along the axis of the raster."""
    m, n, _ = w.parts[params]
    number, _ = w.parts[work]
    along_m = _type(params).raster.data == "m"
    first, second = (m, n) if along_m else (n, m)
    inner = w.insert(arith.RemUIOp(number, first)).result
    rest = w.insert(arith.DivUIOp(number, first)).result
    outer = w.insert(arith.RemUIOp(rest, second)).result
    batch = w.insert(arith.DivUIOp(rest, second)).result
    return (inner, outer, batch) if along_m else (outer, inner, batch)


def _get_work(w: Writer, op: cutlass.WorkTileInfoGetValueOp) -> list[Values]:
    field = op.field.data
    if field == "is_valid":
        return [w.parts[op.work][1:]]
    place = ("m_idx", "n_idx", "l_idx").index(field)
    return [[_coordinates(w, op.params, op.work)[place]]]


def _mnkl(w: Writer, op: cutlass.WorkTileInfoToCoordMnklOp) -> list[Values]:
    m, n, l = _coordinates(w, op.params, op.work)
    return [[m], [n], [w.number(0)], [l]]


HANDLERS: Any = {
    cutlass.AdvanceToNextWorkOp: _next,
    cutlass.CreateDpParamsOp: _params,
    cutlass.CreateStaticPersistentParamsOp: _params,
    cutlass.GetGridShapeOp: _grid,
    cutlass.GetWorkspaceSizesOp: _workspace,
    cutlass.InitialWorkTileInfoOp: _initial,
    cutlass.ParamsGetValueOp: _get_param,
    cutlass.StaticFetchNextWorkOp: _next,
    cutlass.WorkTileInfoGetValueOp: _get_work,
    cutlass.WorkTileInfoToCoordMnklOp: _mnkl,
}
