"""What is made fast is what the constructors make: operations, their accessors and attributes."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from xdsl.dialects import arith, test, vector
from xdsl.dialects.builtin import DenseIntOrFPElementsAttr, IntegerAttr, VectorType, f32, i1, i32
from xdsl.ir import Operation
from xdsl.irdl import IRDLOperation

from tileas_xdsl.dialects import interned
from tileas_xdsl.dialects.cute import LoadOp, PtrAddOp
from tileas_xdsl.dialects.cute.types.pointers import PtrType
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledStoreOp
from tileas_xdsl.dialects.xdsl_ops import (
    binary_op,
    cast_op,
    comparison,
    constant_op,
    extraction,
    selection,
)

_A, _B, _FLAG, _ROW, _POINTER = test.TestOp(
    result_types=[i32, i32, i1, VectorType(f32, [4]), PtrType(f32, "gmem")]
).results
_NUMBER = IntegerAttr(7, i32)
_ROW_OF_ONES = DenseIntOrFPElementsAttr.from_list(VectorType(f32, [4]), [1.0])

Pair = tuple[Operation, Operation]


@pytest.mark.parametrize(
    "pair",
    [
        lambda: (constant_op(_NUMBER), arith.ConstantOp(_NUMBER)),
        lambda: (constant_op(_ROW_OF_ONES), arith.ConstantOp(_ROW_OF_ONES)),
        lambda: (binary_op(arith.AddiOp, _A, _B), arith.AddiOp(_A, _B)),
        lambda: (binary_op(arith.ShRUIOp, _A, _B), arith.ShRUIOp(_A, _B)),
        lambda: (cast_op(arith.ExtUIOp, _FLAG, i32), arith.ExtUIOp(_FLAG, i32)),
        lambda: (comparison(_A, _B, "ule"), arith.CmpiOp(_A, _B, "ule")),
        lambda: (selection(_FLAG, _A, _B), arith.SelectOp(_FLAG, _A, _B)),
        lambda: (extraction(_ROW, 2, f32), vector.ExtractOp(_ROW, [2], f32)),
    ],
)
def test_operations_are_those_of_the_constructor(pair: Callable[[], Pair]) -> None:
    made, usual = pair()
    assert made.is_structurally_equivalent(usual)
    made.verify()


def test_own_constructors_make_what_xdsl_makes() -> None:
    made, usual = LoadOp(_POINTER, f32, _FLAG, offset=4), LoadOp.__new__(LoadOp)
    IRDLOperation.__init__(
        usual,
        operands=[_POINTER, _FLAG],
        result_types=[f32],
        properties=made.properties,
    )
    assert made.is_structurally_equivalent(usual)


def test_accessors_read_operands_and_results() -> None:
    moved = PtrAddOp(_POINTER, _A)
    assert (moved.ptr, moved.offset, moved.result) == (_POINTER, _A, moved.results[0])


def test_accessors_read_groups() -> None:
    store = TiledStoreOp(_ROW, _POINTER, [_A, _B], token=_FLAG, atom="stg")
    assert (store.view, store.value, store.token) == (_POINTER, _ROW, _FLAG)
    assert store.coords == (_A, _B)
    assert TiledStoreOp(_ROW, _POINTER, [_A], atom="stg").token is None


def test_equal_attributes_are_one_object() -> None:
    assert interned.vector_of(f32, 4) is interned.vector_of(f32, 4)
    assert interned.vector_of(f32, 4) == VectorType(f32, [4])
    assert interned.integer_attr(1, i1) == IntegerAttr(1, i1)
    assert interned.int_list((2, 3)).data[1].data == 3
