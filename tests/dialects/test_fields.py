"""Constructors that follow from fields: names, defaults, order in the IR, wrong calls."""

from collections.abc import Callable
from typing import cast

import pytest
from xdsl.dialects.builtin import FloatAttr, IndexType, TensorType, f16, f32, i1, i32
from xdsl.dialects.test import TestOp as AnyOp

from tileas_xdsl.dialects import cutlass
from tileas_xdsl.dialects.cute_nvgpu import FenceProxyAsyncOp, MmaSm80Op
from tileas_xdsl.dialects.cutlass import (
    ConsumerWaitOp,
    PipelineStateType,
    PipelineType,
    SchedulerParamsType,
)
from tileas_xdsl.dialects.cutlass.types import WorkTileInfoType
from tileas_xdsl.dialects.nv_tileas.enums import Space
from tileas_xdsl.dialects.nv_tileas.memory.tiled import AsyncTiledLoadOp, TiledStoreOp
from tileas_xdsl.dialects.nv_tileas.types import AsyncTokenType, MemTokenType, TiledViewType
from tileas_xdsl.dialects.ptx import CpAsyncMbarrierArriveOp, reg

PIPE, STATE, PROBE = AnyOp(
    result_types=[PipelineType("tma_async", 4), PipelineStateType(4), i1]
).results


def test_fields_of_bases_come_first_for_callers_and_last_in_the_ir() -> None:
    wait = ConsumerWaitOp(PIPE, STATE, probe=PROBE)
    wait.verify()
    assert (wait.pipe, wait.state, wait.probe) == (PIPE, STATE, PROBE)
    assert tuple(wait.operands) == (PROBE, PIPE, STATE)
    assert ConsumerWaitOp(PIPE, STATE).probe is None


def test_an_optional_property_is_absent_by_its_default() -> None:
    barrier = AnyOp(result_types=[reg("b32")]).results[0]
    assert list(CpAsyncMbarrierArriveOp(barrier).properties) == ["noinc"]
    arrive = CpAsyncMbarrierArriveOp(barrier, noinc=False, offset=8)
    assert list(arrive.properties) == ["offset"]
    assert FenceProxyAsyncOp().space.data == "shared::cta"


def test_attributes_are_converted_and_a_result_has_the_type_of_an_operand() -> None:
    a, c = AnyOp(result_types=[i32, f32]).results
    product = MmaSm80Op(a, a, c, shape=(16, 8, 16), a_type=f16, b_type="bf16")
    assert (product.a_type.data, product.b_type.data) == ("f16", "bf16")
    assert product.shape.get_values() == (16, 8, 16)
    assert product.result.type == f32


def test_parameters_have_other_names_and_another_order_than_the_ir() -> None:
    view, tile, index, token = AnyOp(
        result_types=[
            TiledViewType((8, 8), f32, Space.GMEM),
            TensorType(f32, (8, 8)),
            IndexType(),
            MemTokenType(),
        ]
    ).results
    store = TiledStoreOp(tile, view, [index, index], atom="stg", semantic="weak", token=token)
    assert tuple(store.operands) == (view, tile, index, index, token)
    assert store.mem_semantic is not None
    assert store.mem_semantic.data.value == "weak"
    assert store.out_token is not None
    assert store.out_token.type == token.type
    assert TiledStoreOp(tile, view, [index, index], atom="stg").out_token is None
    load = AsyncTiledLoadOp(view, [index, index], atom="ldgsts", padding=1.0)
    assert load.result.type == AsyncTokenType(tile.type)
    assert load.padding_value == FloatAttr(1.0, f32)


@pytest.mark.parametrize(
    ("values", "named", "text"),
    [
        ((PIPE,), {}, "ConsumerWaitOp needs state"),
        ((PIPE, STATE, PROBE), {}, "ConsumerWaitOp takes 2 values in order, not 3"),
        ((PIPE, STATE), {"state": STATE}, "ConsumerWaitOp is given state twice"),
        ((PIPE, STATE), {"phase": PROBE}, "ConsumerWaitOp does not take phase"),
    ],
)
def test_wrong_calls_are_type_errors(
    values: tuple[object, ...], named: dict[str, object], text: str
) -> None:
    make = cast("Callable[..., object]", ConsumerWaitOp)
    with pytest.raises(TypeError, match=text):
        make(*values, **named)


def test_types_of_results_follow_from_the_scheduler_of_a_tile() -> None:
    kinds = ("dp", "streamk")
    types = [SchedulerParamsType(kind, "m") for kind in kinds]
    dp, split, number, valid = AnyOp(result_types=[*types, i32, i1]).results
    for params, splits in ((dp, False), (split, True)):
        first = cutlass.GetCurrentWorkOp(params, number)
        first.verify()
        assert first.result.type == WorkTileInfoType(splits)
        part = cutlass.WorkTileInfoGetValueOp(params, first, "is_valid")
        part.verify()
        assert part.result.type == i1
        changed = cutlass.WorkTileInfoSetValueOp(params, first, "is_valid", valid)
        assert changed.value == valid
        changed.verify()
        assert changed.result.type == first.result.type
    made = cutlass.CreateDpWorkTileInfoOp(dp, number, number, number, valid)
    made.verify()
    assert (made.m, made.valid) == (number, valid)
