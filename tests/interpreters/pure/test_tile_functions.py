"""Pure operations on xDSL's interpreter give what the tile interpreter and numpy give."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.context import Context
from xdsl.dialects.builtin import ModuleOp, i32
from xdsl.interpreter import Interpreter
from xdsl.interpreters.shaped_array import ShapedArray
from xdsl.interpreters.utils.ptr import TypedPtr
from xdsl.utils.exceptions import DiagnosticException

from tests.support.simulating import module_of
from tileas_xdsl.interpreters.pure.registration import register_implementations
from tileas_xdsl.interpreters.tile.execution.agent import AgentInterpreter, Language
from tileas_xdsl.interpreters.tile.execution.control_flow import SCALAR
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.tensor_ops.dot import PRODUCTS
from tileas_xdsl.interpreters.tile.tensor_ops.reshaping import RESHAPES

RNG = np.random.default_rng(0)
PURE = SCALAR | Language(pure={**RESHAPES, **PRODUCTS})


def on_xdsl(module: ModuleOp, *args: Any) -> tuple[Any, ...]:
    """Run @main on xDSL's interpreter."""
    interpreter = Interpreter(module)
    register_implementations(interpreter, Context())
    return interpreter.call_op("main", args)


def on_tile_interpreter(module: ModuleOp, *args: Any) -> tuple[Any, ...]:
    """Run @main, which waits for nothing, on an agent."""
    steps = AgentInterpreter(module, PURE).call("main", args)
    with pytest.raises(StopIteration) as end:
        next(steps)
    return end.value.value


def function(body: str, arguments: str, results: str) -> ModuleOp:
    return module_of(f"func.func @main({arguments}) -> ({results}) {{\n{body}\n}}")


FLOATS = {"f16": np.float16, "bf16": ml_dtypes.bfloat16, "f32": np.float32, "f64": np.float64}


@pytest.mark.parametrize("element", FLOATS)
def test_float_arithmetic_rounds_to_the_element_type(element: str) -> None:
    t = f"tensor<5x3x{element}>"
    module = function(
        f"""%s = arith.addf %a, %b : {t}
        %p = arith.mulf %s, %b : {t}
        %e = math.exp2 %p : {t}
        %r = "arith.select"(%c, %e, %a) : (i1, {t}, {t}) -> {t}
        func.return %p, %r : {t}, {t}""",
        f"%a: {t}, %b: {t}, %c: i1",
        f"{t}, {t}",
    )
    dtype = FLOATS[element]
    a, b = (RNG.standard_normal((5, 3)).astype(dtype) for _ in range(2))
    found, expected = on_xdsl(module, a, b, True), on_tile_interpreter(module, a, b, True)
    for mine, other in zip(found, expected, strict=True):
        assert mine.dtype == dtype
        np.testing.assert_array_equal(mine, other)
    np.testing.assert_array_equal(found[0], (a + b) * b)


def test_scalars_are_python_numbers_rounded_to_their_type() -> None:
    module = function(
        """%s = arith.addf %x, %y : f32
        %h = arith.truncf %s : f32 to f16
        %n = arith.addi %i, %i : i8
        %w = arith.extsi %n : i8 to i32
        %b = arith.cmpi slt, %w, %w : i32
        func.return %s, %h, %n, %b : f32, f16, i8, i1""",
        "%x: f32, %y: f32, %i: i8",
        "f32, f16, i8, i1",
    )
    s, h, n, b = on_xdsl(module, 0.1, 0.2, 100)
    assert (type(s), type(h), type(n)) == (float, float, int)
    assert s == float(np.float32(0.1) + np.float32(0.2)) != 0.1 + 0.2
    assert h == float(np.float16(s))
    assert n == 200 - 256
    assert not b


@pytest.mark.parametrize(
    ("element", "atom", "exact"),
    [("f16", "mma_f16_f16_f32", True), ("f32", "wgmma_tf32_tf32_f32", False)],
)
def test_products_round_as_matrix_instructions_do(element: str, atom: str, exact: bool) -> None:
    a_type, b_type, c_type = f"tensor<8x16x{element}>", f"tensor<16x4x{element}>", "tensor<8x4xf32>"
    module = function(
        f"""%d = nv_tileas.dot %a, %b, %c {{atom = #nv_tileas<atom {atom}>}}
          : {a_type}, {b_type}, {c_type} -> {c_type}
        func.return %d : {c_type}""",
        f"%a: {a_type}, %b: {b_type}, %c: {c_type}",
        c_type,
    )
    dtype = FLOATS[element]
    a = RNG.standard_normal((8, 16)).astype(dtype)
    b = RNG.standard_normal((16, 4)).astype(dtype)
    c = RNG.standard_normal((8, 4)).astype(np.float32)
    (found,) = on_xdsl(module, a, b, c)
    np.testing.assert_array_equal(found, on_tile_interpreter(module, a, b, c)[0])
    wide = a.astype(np.float64) @ b.astype(np.float64) + c
    assert np.allclose(found, wide, rtol=0, atol=1e-5) is exact  # f32 is read as tf32
    np.testing.assert_allclose(found, wide, rtol=0, atol=2e-2)


BODIES = """%r = "nv_tileas.{kind}"(%a) <{{axis = 1 : i32{more}}}> ({{
^bb0(%x: f16, %y: f16):
  %s = arith.{op} %x, %y : f16
  nv_tileas.yield %s : f16
}}) : (tensor<4x8xf16>) -> {out}
func.return %r : {out}"""


def test_reductions_and_scans_run_their_bodies() -> None:
    a = RNG.integers(-8, 8, (4, 8)).astype(np.float16)
    for kind, op, out, expected in (
        ("reduce", "addf", "tensor<4xf16>", a.sum(1)),
        ("reduce", "maximumf", "tensor<4xf16>", a.max(1)),
        ("reduce", "subf", "tensor<4xf16>", 2 * a[:, 0] - a.sum(1)),
        ("scan", "addf", "tensor<4x8xf16>", a.cumsum(1)),
    ):
        module = function(
            BODIES.format(kind=kind, op=op, out=out, more=""), "%a: tensor<4x8xf16>", out
        )
        (found,) = on_xdsl(module, a)
        assert found.dtype == np.float16
        np.testing.assert_array_equal(found, expected)


def test_a_body_that_calls_runs_element_by_element() -> None:
    module = module_of(
        """func.func @twice(%x: i32) -> i32 {
          %r = arith.addi %x, %x : i32
          func.return %r : i32
        }
        func.func @main(%k: i32) -> tensor<3x2xi32> {
          %r = "nv_tileas.generate"() ({
          ^bb0(%i: index, %j: index):
            %n = arith.index_cast %i : index to i32
            %t = func.call @twice(%n) : (i32) -> i32
            %s = arith.addi %t, %k : i32
            nv_tileas.yield %s : i32
          }) : () -> tensor<3x2xi32>
          func.return %r : tensor<3x2xi32>
        }"""
    )
    np.testing.assert_array_equal(
        on_xdsl(module, 5)[0], np.repeat([[5], [7], [9]], 2, axis=1).astype(np.int32)
    )


def test_tiles_pass_through_control_flow_of_xdsl() -> None:
    module = function(
        """%zero = arith.constant 0 : index
        %one = arith.constant 1 : index
        %r = scf.for %i = %zero to %n step %one iter_args(%x = %a) -> (tensor<4xf32>) {
          %y = arith.addf %x, %x : tensor<4xf32>
          scf.yield %y : tensor<4xf32>
        }
        func.return %r : tensor<4xf32>""",
        "%a: tensor<4xf32>, %n: index",
        "tensor<4xf32>",
    )
    a = RNG.standard_normal(4).astype(np.float32)
    np.testing.assert_array_equal(on_xdsl(module, a, 3)[0], 8 * a)
    shaped = ShapedArray(TypedPtr[int].new([1, 2, 3, 4], xtype=i32), [4])
    np.testing.assert_array_equal(on_xdsl(module, shaped, 1)[0], np.float32([2, 4, 6, 8]))


def test_reshapes_are_those_of_the_tile_interpreter() -> None:
    module = function(
        """%b = nv_tileas.expand_dims %a {axis = 0 : i32} : tensor<4x8xf32> -> tensor<1x4x8xf32>
        %w = nv_tileas.reinterpret %a : tensor<4x8xf32> -> tensor<4x8xi32>
        func.return %b, %w : tensor<1x4x8xf32>, tensor<4x8xi32>""",
        "%a: tensor<4x8xf32>",
        "tensor<1x4x8xf32>, tensor<4x8xi32>",
    )
    a = RNG.standard_normal((4, 8)).astype(np.float32)
    found = on_xdsl(module, a)
    for mine, other in zip(found, on_tile_interpreter(module, a), strict=True):
        np.testing.assert_array_equal(mine, other)
    np.testing.assert_array_equal(found[1], a.view(np.int32))


def test_an_error_names_the_operation_and_its_rule() -> None:
    module = function(
        """%r = arith.divsi %a, %a : tensor<2xi32>
        func.return %r : tensor<2xi32>""",
        "%a: tensor<2xi32>",
        "tensor<2xi32>",
    )
    with pytest.raises((SimulationError, DiagnosticException), match="division by zero"):
        on_xdsl(module, np.zeros(2, np.int32))
