"""Kernels of Tile IR in the threads of a block: the emulator agrees with numpy."""

from __future__ import annotations

import numpy as np
import pytest

from tests.support.tile_ir import entry, lowered
from tests.transforms.cudatile_to_tileaa.tile_ir_kernels import LINE, Launch, axpy, matmul, softmax
from tests.transforms.cudatile_to_tileaa.tile_ir_programs import STARTS, UNTOUCHED, program, wanted
from tileas_xdsl.compiler import compile


def check(launch: Launch, target: str) -> str:
    kernel = compile(launch.text, target)
    found = kernel.emulate(*launch.arguments, grid=launch.grid).arrays[launch.output]
    np.testing.assert_allclose(found, launch.expected, launch.tolerance, launch.tolerance)
    return kernel.ptx


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_axpy_is_wide_where_the_program_promises_it(target: str) -> None:
    launch = axpy(np.random.default_rng(1), 1100, 512)
    ptx = check(launch, target)
    assert "ld.global.v4.f32" in ptx or "ld.global.v4.b32" in ptx


@pytest.mark.parametrize("target", ["sm_90a", "sm_100a"])
def test_softmax(target: str) -> None:
    check(softmax(np.random.default_rng(2), 3, 100, 128), target)


@pytest.mark.parametrize(
    ("shape", "tiles"), [((100, 40, 70), (64, 32, 32)), ((64, 16, 48), (64, 8, 16))]
)
def test_matmul(shape: tuple[int, int, int], tiles: tuple[int, int, int]) -> None:
    ptx = check(matmul(np.random.default_rng(3), *shape, tiles), "sm_90a")
    assert "wgmma.mma_async" in ptx


@pytest.mark.parametrize("shift", [0, 1, 4])
def test_an_array_may_begin_anywhere(shift: int) -> None:
    """Without a promise, threads look whether they may access several elements at once."""
    view = f"partition_view<tile=(512), padding_value = zero, {LINE}>"
    text = entry(
        "%p: tile<ptr<f32>>, %q: tile<ptr<f32>>, %n: tile<i32>, %s: tile<i32>",
        f"""%a = offset %p, %s : tile<ptr<f32>>, tile<i32> -> tile<ptr<f32>>
    %v = make_tensor_view %a, shape = [%n], strides = [1] : tile<i32> -> {LINE}
    %w = make_tensor_view %q, shape = [%n], strides = [1] : tile<i32> -> {LINE}
    %b = make_partition_view %v : {view}
    %c = make_partition_view %w : {view}
    %t, %k = load_view_tko weak %b[%x] : {view}, tile<i32> -> tile<512xf32>, token
    %l = store_view_tko weak %t, %c[%x] : tile<512xf32>, {view}, tile<i32> -> token""",
    )
    a = np.random.default_rng(4).standard_normal(1000).astype(np.float32)
    count = 1000 - shift
    empty = np.zeros(count, np.float32)
    launch = Launch(text, (a, empty, count, shift), (2,), 1, a[shift:])
    check(launch, "sm_90a")


@pytest.mark.parametrize("seed", [3, 4, 11])
def test_random_control_flow(seed: int) -> None:
    text, statements = program(seed)
    kernel = compile(lowered(text), "sm_90a")
    for start in STARTS:
        found = kernel.emulate(np.array(UNTOUCHED, np.int32), *start).arrays[0]
        assert found.tolist() == wanted(statements, start)


@pytest.mark.parametrize("sign", ["", "unsigned "])
def test_a_loop_may_count_in_few_bits(sign: str) -> None:
    """Up to the largest number of its type, which the counter passes."""
    small, number = "tile<i8>", "tile<i32>"
    text = entry(
        f"%p: tile<ptr<i32>>, %n: {number}",
        f"""%low = constant <i8: 90> : {small}
    %high = constant <i8: 127> : {small}
    %step = constant <i8: 20> : {small}
    %zero = constant <i32: 0> : {number}
    %r = for {sign}%i in (%low to %high, step %step) : {small} iter_values(%a = %zero) -> ({number}) {{
      %w = exti %i signed : {small} -> {number}
      %s = addi %a, %w : {number}
      continue %s : {number}
    }}
    %p1 = reshape %p : tile<ptr<i32>> -> tile<1xptr<i32>>
    %r1 = reshape %r : {number} -> tile<1xi32>
    %done = store_ptr_tko weak %p1, %r1 : tile<1xptr<i32>>, tile<1xi32> -> token""",  # noqa: E501
    )
    kernel = compile(text)
    for run in (kernel.simulate, kernel.emulate):
        assert run(np.full(1, -1, np.int32), 0).arrays[0].tolist() == [90 + 110]
