"""Atomic updates in threads: the emulator, the tile interpreter and numpy agree."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from tests.support.plain_checks import TARGETS
from tests.support.plain_kernels import NUMPY, Array, kernel, load, store
from tileas_xdsl.compiler import CompiledKernel, compile

Arrays = Sequence[Any]
Ran = tuple[CompiledKernel, Arrays, Arrays]

AT: dict[str, Callable[[Array, Array, Array], None]] = {
    "add": np.add.at,
    "and": np.bitwise_and.at,
    "max": np.maximum.at,
    "min": np.minimum.at,
    "or": np.bitwise_or.at,
    "xor": np.bitwise_xor.at,
}


def _unsigned(mode: str) -> Callable[[Array, Array, Array], None]:
    def at(bins: Array, places: Array, values: Array) -> None:
        kind = f"u{bins.dtype.itemsize}"
        AT[mode[1:]](bins.view(kind), places, values.view(kind))

    return at


AT |= {"umax": _unsigned("umax"), "umin": _unsigned("umin")}


def _histogram(
    element: str, mode: str, count: int, order: str = "", wanted: bool = False, bits: int = -1
) -> str:
    """Elements update the bins that these bits of the numbers say, but for bin 3."""
    pointer, tile, places = f"!nv_tileaa.ptr<{element}, 1>", f"{count}x{element}", f"{count}xi32"
    left = store("r", "o", f"memref<{tile}>", tile, "%zero") if wanted else ""
    return kernel(
        f"%a: memref<{tile}>, %k: memref<{places}>, %o: memref<{tile}>, %h: {pointer}",
        load("t", "a", f"memref<{tile}>", tile, "%zero")
        + load("word", "k", f"memref<{places}>", places, "%zero")
        + f"""%p = nv_tileas.generate : tensor<{places}> {{
  ^bb0(%j: index):
    %e = tensor.extract %word[%j] : tensor<{places}>
    %bits = arith.constant {bits} : i32
    %c = arith.andi %e, %bits : i32
    nv_tileas.yield %c : i32
  }}
  %hs = tensor.splat %h : tensor<{count}x{pointer}>
  %q = nv_tileaa.addptr %hs, %p : tensor<{count}x{pointer}>, tensor<{places}>
  %m = nv_tileas.generate : tensor<{count}xi1> {{
  ^bb0(%j: index):
    %e = tensor.extract %p[%j] : tensor<{places}>
    %n = arith.constant 3 : i32
    %c = arith.cmpi ne, %e, %n : i32
    nv_tileas.yield %c : i1
  }}
  %r = nv_tileas.atomic_rmw {mode} %t, %q {order} mask %m : tensor<{count}xi1> : tensor<{tile}>, tensor<{count}x{pointer}> -> tensor<{tile}>
  """  # noqa: E501
        + left,
    )


def _run(text: str, target: str, *arguments: Array, grid: int = 1) -> Ran:
    made = compile(text, target)
    run = made.emulate(*arguments, grid=grid, order="random")
    assert [str(finding) for finding in run.findings] == []
    simulated = made.simulate(*arguments, grid=grid)
    return made, run.arrays, simulated.arrays


@pytest.mark.parametrize(
    ("element", "mode", "instruction"),
    [
        ("i32", "add", "red.global.add.s32"),
        ("i64", "add", "red.global.add.u64"),
        ("i32", "xor", "red.global.xor.b32"),
        ("i64", "or", "red.global.or.b64"),
        ("i32", "and", "red.global.and.b32"),
        ("i32", "min", "red.global.min.s32"),
        ("i64", "umax", "red.global.max.u64"),
        ("i32", "umin", "red.global.min.u32"),
        ("f32", "add", "red.global.add.f32"),
        ("f16", "add", "red.global.add.noftz.f16"),
        ("f64", "add", "red.global.add.f64"),
        ("f32", "max", "atom.global.cas.b32"),
        ("f16", "min", "atom.global.cas.b16"),
        ("f64", "max", "atom.global.cas.b64"),
    ],
)
def test_histograms(element: str, mode: str, instruction: str) -> None:
    rng, dtype = np.random.default_rng(2), NUMPY[element]
    numbers = rng.integers(-9, 9, 128).astype(dtype)
    places, bins = rng.integers(0, 12, 128).astype(np.int32), rng.integers(-9, 9, 12).astype(dtype)
    expected = bins.copy()
    chosen = places != 3
    for _ in range(2):
        AT[mode](expected, places[chosen], numbers[chosen])
    arguments = (numbers, places, np.zeros_like(numbers), bins)
    target = TARGETS[len(mode) % 2]
    made, *found = _run(_histogram(element, mode, 128), target, *arguments, grid=2)
    assert instruction in made.ptx
    for arrays in found:
        np.testing.assert_array_equal(arrays[3], expected)


@pytest.mark.parametrize("mode", ["add", "and", "max", "min", "or", "umax", "umin", "xor"])
def test_a_block_combines_in_shared_memory_what_it_updates_behind_the_base(mode: str) -> None:
    """A window of 256 elements, as many as the tile has; 300 are updated, many of them twice."""
    rng = np.random.default_rng(len(mode))
    numbers, bins = (rng.integers(-(2**31), 2**31, n).astype(np.int32) for n in (256, 300))
    numbers[::5] = rng.choice([0, -1, 2**31 - 1, -(2**31)], len(numbers[::5]))
    places = (rng.integers(0, 300, 256) // rng.integers(1, 9, 256)).astype(np.int32)
    expected, chosen = bins.copy(), places != 3
    for _ in range(2):
        AT[mode](expected, places[chosen], numbers[chosen])
    arguments = (numbers, places, np.zeros_like(numbers), bins)
    target = TARGETS[len(mode) % 2]
    made, *found = _run(_histogram("i32", mode, 256, "relaxed gpu"), target, *arguments, grid=2)
    assert f"red.relaxed.cta.shared.{mode.removeprefix('u')}" in made.ptx
    for arrays in found:
        np.testing.assert_array_equal(arrays[3], expected)


@pytest.mark.parametrize("mode", ["add", "and", "umin", "xor"])
def test_what_was_there_when_a_block_combines(mode: str) -> None:
    """In some order of the updates of a bin each finds what the one before has left.

    Some bins get what changes nothing, or what is nothing in sum; many are beyond the window.
    """
    rng = np.random.default_rng(len(mode) + 7)
    numbers, bins = rng.integers(-1, 2, 256).astype(np.int32), np.arange(300, dtype=np.int32) * 7
    places = (rng.integers(0, 300, 256) // rng.integers(1, 9, 256)).astype(np.int32)
    expected, chosen = bins.copy(), places != 3
    AT[mode](expected, places[chosen], numbers[chosen])
    arguments = (numbers, places, np.zeros_like(numbers), bins)
    made, *found = _run(
        _histogram("i32", mode, 256, "relaxed gpu", wanted=True), "sm_90a", *arguments
    )
    assert f"atom.relaxed.cta.shared.{mode.removeprefix('u')}" in made.ptx
    for arrays in found:
        np.testing.assert_array_equal(arrays[3], expected)
        for place in np.unique(places[chosen]):
            old, by = arrays[2][places == place], numbers[places == place]
            left = old.copy()
            AT[mode](left, np.arange(len(left)), by)
            assert sorted([*old, expected[place]]) == sorted([bins[place], *left])


@pytest.mark.parametrize(("mode", "wanted"), [("add", False), ("umax", False), ("xor", True)])
def test_a_window_of_small_offsets_has_all_of_them(mode: str, wanted: bool) -> None:
    """Seven bits of the numbers are bins: each thread updates two entries, and memory once."""
    rng = np.random.default_rng(len(mode) + wanted)
    numbers, places = (rng.integers(-(2**31), 2**31, 256).astype(np.int32) for _ in range(2))
    bins, given = np.arange(128, dtype=np.int32) * 7, numbers.copy()
    expected, chosen = bins.copy(), places & 127 != 3
    AT[mode](expected, places[chosen] & 127, numbers[chosen])
    text = _histogram("i32", mode, 256, "relaxed gpu", wanted, bits=127)
    made, *found = _run(text, TARGETS[wanted], given, places, np.zeros_like(numbers), bins)
    assert made.ptx.count(".cta.shared.") == 2
    assert made.ptx.count(".gpu.global.") == 1 + 2 * wanted
    for arrays in found:
        np.testing.assert_array_equal(arrays[3], expected)


@pytest.mark.parametrize(
    ("element", "mode", "count", "order"),
    [
        ("i32", "xchg", 128, ""),
        ("f32", "xchg", 16, "relaxed sys"),
        ("f32", "max", 256, "acq_rel gpu"),
        ("i64", "add", 32, "release cluster"),
    ],
)
def test_what_was_there(element: str, mode: str, count: int, order: str) -> None:
    """Also where several threads have one element: a tile smaller than the block."""
    rng, dtype = np.random.default_rng(4), NUMPY[element]
    numbers, bins = (rng.integers(-9, 9, count).astype(dtype) for _ in range(2))
    places = rng.permutation(count).astype(np.int32)
    text = _histogram(element, mode, count, order, wanted=True)
    arguments = (numbers, places, np.zeros_like(numbers), bins)
    _, *found = _run(text, "sm_90a", *arguments)
    for arrays in found:
        chosen = places != 3
        np.testing.assert_array_equal(arrays[2][chosen], bins[places[chosen]])


@pytest.mark.parametrize(
    ("element", "mode", "wanted"),
    [("i32", "add", True), ("f32", "add", False), ("f16", "add", False), ("f32", "min", True)],
)
def test_tiles_of_a_ragged_array(element: str, mode: str, wanted: bool) -> None:
    tile, array = f"8x32x{element}", f"memref<?x?x{element}>"
    view = f"!nv_tileas.tiled_view<{tile}, gmem>"
    text = kernel(
        f"%a: memref<{tile}>, %o: memref<{tile}>, %h: {array}",
        load("t", "a", f"memref<{tile}>", tile, "%zero, %zero")
        + f"""%v = nv_tileas.view %h : {array} -> {view}
  %r = nv_tileas.tiled_atomic_rmw {mode} %t, %v[%x, %one] {{atom = #copy, in_bounds = array<i1: false, false>}} : tensor<{tile}>, {view} -> tensor<{tile}>
  """  # noqa: E501
        + (store("r", "o", f"memref<{tile}>", tile, "%zero, %zero") if wanted else ""),
    )
    rng, dtype = np.random.default_rng(6), NUMPY[element]
    numbers = rng.integers(-9, 9, (8, 32)).astype(dtype)
    array_ = rng.integers(-9, 9, (13, 60)).astype(dtype)
    expected, function = array_.copy(), {"add": np.add, "min": np.minimum}[mode]
    grid = 1 if wanted else 2
    for block in range(grid):
        part = expected[8 * block : 8 * block + 8, 32:]
        part[...] = function(part, numbers[: len(part), : part.shape[1]])
    _, *found = _run(text, "sm_90a", numbers, np.zeros_like(numbers), array_, grid=grid)
    for arrays in found:
        np.testing.assert_array_equal(arrays[2], expected)
        if wanted:
            np.testing.assert_array_equal(arrays[1][:, :28], array_[:8, 32:])


@pytest.mark.parametrize("element", ["i32", "f32", "i64"])
def test_one_thread_updates_and_all_know_what_was_there(element: str) -> None:
    pointer, one = f"!nv_tileaa.ptr<{element}, 1>", "1.0" if element[0] == "f" else "1"
    text = kernel(
        f"%h: {pointer}, %o: memref<256x{element}>",
        f"""%c = arith.constant {one} : {element}
  %old = nv_tileas.atomic_rmw add %c, %h acq_rel gpu : {element}, {pointer} -> {element}
  %next = nv_tileaa.addptr %h, %one : {pointer}, index
  %there = nv_tileas.atomic_cas %c, %old, %next relaxed gpu : {element}, {pointer} -> {element}
  %s = tensor.splat %there : tensor<256x{element}>
  """
        + store("s", "o", f"memref<256x{element}>", f"256x{element}", "%zero"),
    )
    dtype = NUMPY[element]
    _, *found = _run(text, "sm_100a", np.array([5, 1], dtype), np.zeros(256, dtype))
    for arrays in found:
        assert arrays[0].tolist() == [6, 5]
        assert (arrays[1] == 1).all()
