"""`cute-desugar`: phases in order, one value for equal tuples, and the same meaning."""

from __future__ import annotations

import ctypes

import pytest
from xdsl.context import Context
from xdsl.dialects import builtin, func
from xdsl.dialects.builtin import ModuleOp

from tests.transforms.cute_host import compiled, function
from tileas_xdsl.diagnostics.errors import DiagnosticError
from tileas_xdsl.diagnostics.locations import location_of
from tileas_xdsl.diagnostics.parsing.located_parser import parse_module
from tileas_xdsl.diagnostics.verification.verify import verify_module
from tileas_xdsl.dialects.cute import Cute
from tileas_xdsl.dialects.cute.layout_algebra.construction import MakeLayoutRawOp
from tileas_xdsl.dialects.cute.layout_algebra.tuples import MakeIntTupleOp
from tileas_xdsl.dialects.cute.memory.partitions import MakeFragmentLikeOp
from tileas_xdsl.installed import registered_context
from tileas_xdsl.transforms.conversion.cute_desugar import PHASES, CuteDesugar
from tileas_xdsl.transforms.conversion.cute_to_llvm import CuteToLlvm

PROGRAM = """
func.func @f(%M: i32, %i: i32, %j: i32, %p: !cute.ptr<i32, gmem>) -> i32 {
  %S = cute.make_shape(%M) : (i32) -> !cute.shape<"(?,4)">
  %L = cute.make_layout(%S) : !cute.layout
  %v = cute.make_view(%p, %L) : !cute.view
  %t = cute.tensor(%v) : !cute.view
  %T = cute.make_tile(%M) : (i32) -> !cute.tile<"[2:1;?:1]">
  %c = cute.make_coord(%i, %j) : (i32, i32) -> !cute.coord<"(?,?)">
  %e = cute.memref.load(%t, %c)
    : (!cute.memref<i32, gmem, "(?,4):(1,?)">, !cute.coord<"(?,?)">) -> i32
  %same = cute.equal(%L, %t) : i1
  %k = arith.extui %same : i1 to i32
  %r = arith.addi %e, %k : i32
  func.return %r : i32
}
"""


def desugared(text: str) -> ModuleOp:
    module = parse_module(registered_context(), text)
    CuteDesugar().apply(registered_context(), module)
    verify_module(module)
    return module


def test_no_sugar_is_left() -> None:
    sugar = {op for phase in PHASES for op in phase}
    left = {type(op) for op in desugared(PROGRAM).walk()} & sugar
    assert not left


def test_code_is_where_its_source_was() -> None:
    module = desugared(PROGRAM)
    CuteToLlvm().apply(registered_context(), module)
    places = [location_of(op) for op in module.walk() if op is not module]
    assert None not in places
    lines = {place.line for place in places if place is not None}
    assert lines <= set(range(2, 15))
    assert len(lines) > 4


def test_desugared_code_computes_the_same() -> None:
    data = (ctypes.c_int32 * 40)(*[7 * n for n in range(40)])
    place = ctypes.addressof(data)
    results = []
    for desugar in (False, True):
        code = compiled(PROGRAM, desugar=desugar)
        run = function(code, "f", *[ctypes.c_int32] * 3, ctypes.c_void_p)
        results.append([run(9, i, j, place) for i in range(9) for j in range(4)])
    assert results[0] == results[1] == [7 * (i + 9 * j) + 1 for i in range(9) for j in range(4)]


def test_equal_static_tuples_are_one_value_also_in_branches() -> None:
    module = desugared(
        """
    func.func @f(%c: i1) -> !cute.layout<"(2,3):(1,2)"> {
      %r = scf.if %c -> (!cute.layout<"(2,3):(1,2)">) {
        %s = cute.make_shape() : () -> !cute.shape<"(2,3)">
        %L = cute.make_layout(%s) : !cute.layout
        scf.yield %L : !cute.layout<"(2,3):(1,2)">
      } else {
        %s = cute.static : !cute.shape<"(2,3)">
        %L = cute.make_layout(%s) : !cute.layout
        scf.yield %L : !cute.layout<"(2,3):(1,2)">
      }
      func.return %r : !cute.layout<"(2,3):(1,2)">
    }"""
    )
    assert len([op for op in module.walk() if isinstance(op, MakeIntTupleOp)]) == 2
    layouts = [op for op in module.walk() if isinstance(op, MakeLayoutRawOp)]
    assert len({tuple(op.operands) for op in layouts}) == 1


def test_registers_are_never_shared() -> None:
    module = desugared(
        """
    func.func @f(%v: !cute.memref<f32, gmem, "8:1">, %c: !cute.coord<"1">, %x: f32) -> f32 {
      %a = cute.make_fragment_like(%v) : !cute.view
      %b = cute.make_fragment_like(%v) : !cute.view
      cute.memref.store(%a, %c, %x) : (!cute.memref<f32, rmem, "8:1">, !cute.coord<"1">, f32) -> ()
      %r = cute.memref.load(%b, %c) : f32
      func.return %r : f32
    }"""
    )
    assert len([op for op in module.walk() if isinstance(op, MakeFragmentLikeOp)]) == 2


def test_a_tool_without_the_dialects_that_are_made_is_set_up_wrongly() -> None:
    ctx = Context()
    for dialect in (builtin.Builtin, func.Func, Cute):
        ctx.load_dialect(dialect)
    with pytest.raises(DiagnosticError, match=r"set up without 'arith.andi'.*dialect 'arith'"):
        CuteDesugar().apply(ctx, ModuleOp([]))
