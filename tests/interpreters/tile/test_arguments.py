"""Arguments of kernels: what fits, what does not, and that the caller's arrays stay as they are."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from xdsl.dialects.builtin import DYNAMIC_INDEX

from tests.support.ir import parse
from tests.support.simulating import kernel, module_of, numbers, run
from tileas_xdsl.diagnostics.errors import ArgumentError
from tileas_xdsl.interpreters.tile.arguments import bind, parameters_of
from tileas_xdsl.interpreters.tile.faults import SimulationError
from tileas_xdsl.interpreters.tile.launch import find_kernel, simulate


def empty(parameters: str) -> Any:
    return find_kernel(parse(f"func.func @k({parameters}) {{\n func.return\n}}"))


ALL = (
    "%m: memref<?x8xf16>, %s: !nv_tileas.tiled_view<4x8xf32, smem>, "
    "%v: !nv_tileas.tiled_view<4x8xf32, gmem>, %t: !nv_tileas.mem_token, %x: tensor<4xi8>, "
    "%p: !nv_tileaa.ptr<i32, 1>, %k: !nv_tileas.token, %f: f32, %i: index, %b: i1, "
    "%r: !nv_tileas.tiled_view<4x8xf32, rmem>"
)


def test_what_a_block_has_of_its_own_takes_no_argument() -> None:
    found = parameters_of(empty(ALL))
    assert [(p.name, p.shape, p.fixes_extents) for p in found] == [
        ("m", (DYNAMIC_INDEX, 8), True),
        ("v", (4, 8), False),
        ("x", (4,), True),
        ("p", (DYNAMIC_INDEX,), False),
        ("f", None, True),
        ("i", None, True),
        ("b", None, True),
    ]
    assert [str(p.element) for p in found] == ["f16", "f32", "i8", "i32", "f32", "index", "i1"]
    assert found[0].title == "%m: memref<?x8xf16>"


def test_scratch_memory_is_new_in_each_block() -> None:
    rng = np.random.default_rng(1)
    a, b = numbers(rng, (8, 8), np.float32), numbers(rng, (8, 8), np.float32)
    text = kernel(
        "%a: !g, %s: !s, %t: !nv_tileas.mem_token, %b: !g",
        """
  %i = "gpu.block_id"() <{dimension = #gpu<dim x>}> : () -> index
  %x, %u = nv_tileas.tiled_load %a[%i, %zero] after %t : !nv_tileas.mem_token {atom = #ldg}
    : !g -> tensor<4x8xf32>, !nv_tileas.mem_token
  nv_tileas.tiled_store %x, %s[%zero, %zero] {atom = #any} : tensor<4x8xf32>, !s
  %y = nv_tileas.tiled_load %s[%zero, %zero] {atom = #any} : !s -> tensor<4x8xf32>
  nv_tileas.tiled_store %y, %b[%i, %zero] {atom = #stg} : tensor<4x8xf32>, !g""",
        types={
            "g": "!nv_tileas.tiled_view<4x8xf32, gmem>",
            "s": "!nv_tileas.tiled_view<4x8xf32, smem>",
        },
    )
    np.testing.assert_array_equal(run(text, a, b, grid=2, resident=2)[1], a)


@pytest.mark.parametrize(
    ("type_", "value", "message"),
    [
        ("memref<?x8xf16>", np.zeros((3, 8), np.float16), None),
        ("memref<?x8xf16>", np.zeros((3, 9), np.float16), r"got an array of shape \(3, 9\)"),
        ("memref<?x8xf16>", np.zeros((8,), np.float16), r"got an array of shape \(8,\)"),
        ("memref<?x8xf16>", np.zeros((3, 8), np.float32), "an array of float32, not float16"),
        ("memref<?x8xf16>", 3.0, "got a scalar"),
        ("memref<?x8xf16>", [[1.0] * 8], "got a list"),
        ("memref<?x?xbf16>", np.zeros((3, 8), ml_dtypes.bfloat16), None),
        ("memref<f32>", np.zeros((), np.float32), None),
        ("tensor<4xi8>", np.zeros(4, np.int8), None),
        ("tensor<4xi8>", np.zeros(4, np.uint8), "an array of uint8, not int8"),
        ("tensor<4xi8>", np.zeros(5, np.int8), r"an array of shape \(5,\)"),
        ("!nv_tileas.tiled_view<4x8xf32, gmem>", np.zeros((1, 99), np.float32), None),
        ("!nv_tileas.tiled_view<4x8xf32, gmem>", np.zeros(32, np.float32), r"shape \(32,\)"),
        ("!nv_tileaa.ptr<i32, 1>", np.zeros((2, 3), np.int32), None),
        ("!nv_tileaa.ptr<i32, 1>", 4096, "got a scalar"),
        ("memref<?x?xf16, strided<[?, 1]>>", np.zeros((3, 8), np.float16), None),
        ("memref<?x?xf16, strided<[8, 1]>>", np.zeros((3, 8), np.float16), None),
        ("memref<?x?xf16, strided<[9, 1]>>", np.zeros((3, 8), np.float16), "row-major"),
        ("memref<?x?xf16, strided<[1, ?]>>", np.zeros((3, 8), np.float16), "row-major"),
        ("memref<?x?xf16, strided<[?, 1], offset: 4>>", np.zeros((3, 8), np.float16), "row-major"),
        ("f32", 1.5, None),
        ("f32", np.float64(1.5), None),
        ("f32", 3, None),
        ("f32", "three", "but got 'three'"),
        ("f32", None, "but got None"),
        ("f32", np.zeros(3), r"an array of shape \(3,\)"),
        ("i8", -128, None),
        ("i8", 255, None),
        ("i8", np.int64(17), None),
        ("i8", 256, "256, which has more than 8 bits"),
        ("i8", -129, "-129, which has more than 8 bits"),
        ("i32", 1.0, "the number 1.0"),
        ("i32", "1", "the number 1"),
        ("i1", True, None),
        ("index", 1 << 40, None),
    ],
)
def test_what_fits_a_parameter(type_: str, value: Any, message: str | None) -> None:
    function = empty(f"%a: {type_}")
    if message is None:
        bind(function, [value])
        return
    with pytest.raises(ArgumentError, match=message) as caught:
        bind(function, [value])
    assert str(caught.value).startswith(f"argument 0 is for %a: {type_.split(',')[0]}")


def test_the_number_of_arguments() -> None:
    function = empty("%a: memref<?xf32>, %t: !nv_tileas.token, %n: index")
    for count in (0, 1, 3):
        with pytest.raises(ArgumentError) as caught:
            bind(function, [1] * count)
        assert str(caught.value) == (
            f"@k takes 2 arguments (%a: memref<?xf32>, %n: index), but got {count}"
        )
    with pytest.raises(ArgumentError, match=r"takes 0 arguments \(none\), but got 1"):
        bind(empty(""), [1])


@pytest.mark.parametrize("type_", ["!nv_tileas.tma_desc {cute_nvgpu.grid_constant}", "none"])
def test_parameters_that_can_have_no_argument(type_: str) -> None:
    attributes = '"nv_tileas.num-host-tmas" = 1 : i32' if "tma" in type_ else ""
    module = parse(f"func.func @k(%a: {type_}) attributes {{{attributes}}} {{\n func.return\n}}")
    with pytest.raises(SimulationError, match="for which there is no argument"):
        simulate(module, [0])


def test_arrays_of_any_order_are_copied() -> None:
    """What is given may be transposed or read-only; what comes back has its shape."""
    rng = np.random.default_rng(2)
    a = numbers(rng, (8, 4), np.float32).T
    b = numbers(rng, (16, 16), np.float32)[::4, ::2]
    a.flags.writeable = False
    text = kernel(
        "%a: memref<4x8xf32>, %b: memref<4x8xf32>, %n: index, %f: f16",
        """
  %x = nv_tileas.load %a[%zero, %zero] {atom = #ldg} : memref<4x8xf32> -> tensor<4x8xf32>
  %y = arith.addf %x, %x : tensor<4x8xf32>
  nv_tileas.store %y, %b[%zero, %zero] {atom = #stg} : tensor<4x8xf32>, memref<4x8xf32>
  nv_tileas.store %y, %a[%zero, %zero] {atom = #stg} : tensor<4x8xf32>, memref<4x8xf32>""",
    )
    old, before = b.copy(), a.copy()
    found = simulate(module_of(text), [a, b, 7, 0.1])
    np.testing.assert_array_equal(found.arrays[0], 2 * a)
    np.testing.assert_array_equal(found.arrays[1], 2 * a)
    np.testing.assert_array_equal(a, before)
    np.testing.assert_array_equal(b, old)
    assert found.arrays[2] == 7
    assert found.arrays[3].dtype == np.float16


def test_integers_wrap_to_what_their_type_holds() -> None:
    text = kernel(
        "%out: memref<2xi64>, %a: i8, %b: i1",
        """
  %x = arith.extsi %a : i8 to i64
  nv_tileas.store %x, %out[%zero] {atom = #stg} : i64, memref<2xi64>
  %y = arith.extui %b : i1 to i64
  nv_tileas.store %y, %out[%one] {atom = #stg} : i64, memref<2xi64>""",
    )
    out = np.zeros(2, np.int64)
    assert run(text, out, 255, True)[0].tolist() == [-1, 1]
    assert run(text, out, -7, 0)[0].tolist() == [-7, 0]
