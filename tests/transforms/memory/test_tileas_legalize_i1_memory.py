"""`tileas-legalize-i1-memory`: i1 arrays in memory, one byte per element."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.tile_ir import Array, entry, text_of_tiles
from tileas_xdsl.compiler import compile
from tileas_xdsl.diagnostics.emission import OpError

RNG = np.random.default_rng(1)


def truths(*shape: int) -> Array:
    return RNG.random(shape) < 0.5


def check(text: str, arguments: list[Array], wanted: Array, grid: int = 1) -> None:
    """The last argument, at both levels; the array stays one of `bool`."""
    kernel = compile(text)
    for run in (kernel.simulate, kernel.emulate):
        found = run(*arguments, grid=grid)
        assert found.arrays[-1].dtype == np.bool_
        np.testing.assert_array_equal(found.arrays[-1], wanted)
    assert [str(finding) for finding in kernel.emulate(*arguments, grid=grid).findings] == []


@pytest.mark.parametrize("shape", [(8, 32), (4, 16, 2)])
def test_tiles(shape: tuple[int, ...]) -> None:
    a, b = truths(*shape), truths(*shape)
    extents = "x".join(map(str, shape))
    text = text_of_tiles(f"%r0 = xori %a0, %a1 : tile<{extents}xi1>", [a, b], [a])
    check(text, [a, b, np.zeros_like(a)], a ^ b)


def test_ragged_arrays() -> None:
    """What is outside is padded with false, and negated it is not stored."""
    line = "tensor_view<?xi1, strides=[1]>"
    view = f"partition_view<tile=(64), padding_value = zero, {line}>"
    text = entry(
        "%p: tile<ptr<i1>>, %q: tile<ptr<i1>>, %n: tile<i32>",
        f"""%v = make_tensor_view %p, shape = [%n], strides = [1] : tile<i32> -> {line}
    %w = make_tensor_view %q, shape = [%n], strides = [1] : tile<i32> -> {line}
    %b = make_partition_view %v : {view}
    %c = make_partition_view %w : {view}
    %t, %k = load_view_tko weak %b[%x] : {view}, tile<i32> -> tile<64xi1>, token
    %one = constant <i1: true> : tile<64xi1>
    %r = xori %t, %one : tile<64xi1>
    %l = store_view_tko weak %r, %c[%x] : tile<64xi1>, {view}, tile<i32> -> token""",
    )
    a, out = truths(100), np.zeros(100, np.bool_)
    kernel = compile(text)
    for run in (kernel.simulate, kernel.emulate):
        np.testing.assert_array_equal(run(a, out, 100, grid=2).arrays[1], ~a)


def test_pointers() -> None:
    """Each element where an index says, and one alone."""
    pointers, tile = "tile<32xptr<i1>>", "tile<32xi1>"
    body = f"""%i = iota : tile<32xi32>
    %m = constant <i32: 31> : tile<32xi32>
    %back = subi %m, %i : tile<32xi32>
    %p1 = reshape %p : tile<ptr<i1>> -> tile<1xptr<i1>>
    %ps = broadcast %p1 : tile<1xptr<i1>> -> {pointers}
    %q1 = reshape %q : tile<ptr<i1>> -> tile<1xptr<i1>>
    %qs = broadcast %q1 : tile<1xptr<i1>> -> {pointers}
    %here = offset %ps, %back : {pointers}, tile<32xi32> -> {pointers}
    %there = offset %qs, %i : {pointers}, tile<32xi32> -> {pointers}
    %t, %k = load_ptr_tko weak %here : {pointers} -> {tile}, token
    %l = store_ptr_tko weak %there, %t, %t token=%k : {pointers}, {tile}, {tile} -> token"""
    text = entry("%p: tile<ptr<i1>>, %q: tile<ptr<i1>>", body)
    a = truths(32)
    check(text, [a, np.zeros_like(a)], a[::-1])


def test_other_accesses_are_refused() -> None:
    text = """
func.func @k(%p: !nv_tileaa.ptr<i1, 1>) {
  %ps = tensor.splat %p : tensor<4x!nv_tileaa.ptr<i1, 1>>
  %t = nv_tileas.async.load %ps {atom = #nv_tileas<atom ldgsts>}
    : tensor<4x!nv_tileaa.ptr<i1, 1>> -> !nv_tileas.token<tensor<4xi1>>
  func.return
}"""
    with pytest.raises(OpError, match=r"4:8: error: .* which only plain loads and stores do"):
        _ = compile(text).ptx
