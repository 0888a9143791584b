"""The layout algebra on xDSL's interpreter gives what the layout package gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xdsl.context import Context
from xdsl.interpreter import Interpreter

from tests.support.simulating import module_of
from tileas_xdsl.interpreters.pure.cute_functions import algebra_operations
from tileas_xdsl.interpreters.pure.registration import register_implementations
from tileas_xdsl.layout import Layout, Swizzle, logical_divide, parse_layout


def run(body: str, *args: Any, arguments: str = "", results: str = "") -> tuple[Any, ...]:
    module = module_of(f"func.func @main({arguments}) -> ({results}) {{\n{body}\n}}")
    interpreter = Interpreter(module)
    register_implementations(interpreter, Context())
    return interpreter.call_op("main", args)


def test_offsets_of_dynamic_coordinates_are_those_of_the_layout() -> None:
    layout = parse_layout("((4,2),8):((1,32),4)")
    body = """%l = cute.static() : () -> !cute.layout<"((4,2),8):((1,32),4)">
    %c = cute.make_coord(%i, %j) : (i32, i32) -> !cute.coord<"(?,?)">
    %o = cute.crd2idx(%c, %l) : (!cute.coord<"(?,?)">, !cute.layout<"((4,2),8):((1,32),4)">)
      -> !cute.int_tuple<"?">
    %s = cute.get_scalars(%o) : (!cute.int_tuple<"?">) -> i32
    func.return %s : i32"""
    found = [
        [run(body, i, j, arguments="%i: i32, %j: i32", results="i32")[0] for j in range(8)]
        for i in range(8)
    ]
    expected = [[layout((i, j)) for j in range(8)] for i in range(8)]
    np.testing.assert_array_equal(found, expected)


def test_a_dynamic_layout_carries_its_numbers() -> None:
    body = """%s = cute.make_shape(%m) : (i32) -> !cute.shape<"(?,4)">
    %d = cute.make_stride(%k) : (i32) -> !cute.stride<"(1,?)">
    %l = cute.make_layout(%s, %d) : (!cute.shape<"(?,4)">, !cute.stride<"(1,?)">)
      -> !cute.layout<"(?,4):(1,?)">
    %n = cute.cosize(%l) : (!cute.layout<"(?,4):(1,?)">) -> !cute.int_tuple<"?">
    func.return %l, %n : !cute.layout<"(?,4):(1,?)">, !cute.int_tuple<"?">"""
    types = '!cute.layout<"(?,4):(1,?)">, !cute.int_tuple<"?">'
    layout, cosize = run(body, 6, 10, arguments="%m: i32, %k: i32", results=types)
    assert layout == Layout((6, 4), (1, 10))
    assert cosize == layout.cosize() == 36


def test_static_results_are_values_of_the_layout_package() -> None:
    body = """%l = cute.static() : () -> !cute.layout<"(8,4):(1,8)">
    %t = cute.static() : () -> !cute.tile<"[4:1;2:1]">
    %d = cute.logical_divide(%l, %t) : (!cute.layout<"(8,4):(1,8)">, !cute.tile<"[4:1;2:1]">)
      -> !cute.layout<"((4,2),(2,2)):((1,4),(8,16))">
    %z = cute.static() : () -> !cute.swizzle<"S<2,3,3>">
    func.return %d, %z : !cute.layout<"((4,2),(2,2)):((1,4),(8,16))">, !cute.swizzle<"S<2,3,3>">"""
    types = '!cute.layout<"((4,2),(2,2)):((1,4),(8,16))">, !cute.swizzle<"S<2,3,3>">'
    divided, swizzle = run(body, results=types)
    assert divided == logical_divide(Layout((8, 4), (1, 8)), (Layout(4, 1), Layout(2, 1)))
    assert swizzle == Swizzle(2, 3, 3)


@pytest.mark.parametrize("n", [5, 31, 32])
def test_comparisons_are_predicates_for_control_flow(n: int) -> None:
    body = """%c = cute.make_int_tuple(%n) : (i32) -> !cute.int_tuple<"?">
    %l = cute.static() : () -> !cute.layout<"(8,4):(1,8)">
    %s = cute.size(%l) : (!cute.layout<"(8,4):(1,8)">) -> !cute.int_tuple<"32">
    %p = cute.elem_less(%c, %s) : (!cute.int_tuple<"?">, !cute.int_tuple<"32">) -> i1
    %r = scf.if %p -> (i32) {
      scf.yield %n : i32
    } else {
      %z = arith.constant -1 : i32
      scf.yield %z : i32
    }
    func.return %p, %r : i1, i32"""
    inside, found = run(body, n, arguments="%n: i32", results="i1, i32")
    assert inside is (n < 32)
    assert found == (n if n < 32 else -1)


def test_tuples_are_python_tuples() -> None:
    body = """%u, %v = cute.unpack_tuple(%t) : (!cute.coord<"((1,?),_)">)
      -> (!cute.coord<"(1,?)">, !cute.coord<"_">)
    func.return %u, %v : !cute.coord<"(1,?)">, !cute.coord<"_">"""
    types = '!cute.coord<"(1,?)">, !cute.coord<"_">'
    found = run(body, ((1, 7), None), arguments='%t: !cute.coord<"((1,?),_)">', results=types)
    assert found == ((1, 7), None)


def test_the_whole_algebra_is_there() -> None:
    names = {kind.name for kind in algebra_operations()}
    assert {"cute.composition", "cute.complement", "cute.zipped_divide", "cute.idx2crd"} <= names
    assert len(names) > 60
