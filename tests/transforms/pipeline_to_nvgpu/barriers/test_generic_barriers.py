"""Generic barriers on the emulator: blocks wait for what other blocks have written."""

from __future__ import annotations

from string import Template

import numpy as np
import pytest

from tileas_xdsl.compiler import compile
from tileas_xdsl.pipelines import PIPELINES
from tileas_xdsl.runtime.emulation import Emulation

BLOCKS = 5

CHAIN = Template("""
!cell = !cute.ptr<i32, gmem>
func.func @chain(%cells: !cell, %counters: !cell) attributes {cute.kernel,
    nvvm.reqntid = array<i32: 64, 1, 1>, tileas.smem_bytes = 0 : i32,
    tileas.parameters = ["ptr 0", "ptr 1"], tileas.tensor_maps = [], tileas.smem_map = ""} {
  %thread = cute_nvgpu.arch.thread_idx "x"
  %block = cute_nvgpu.arch.block_idx "x"
  %blocks = cute_nvgpu.arch.grid_dim "x"
  %one = arith.constant 1 : i32
  %other = arith.$NEXT %block, %one : i32
  %mine = cute.add_offset %counters, %block : !cell, i32 -> !cell
  %theirs = cute.add_offset %counters, %other : !cell, i32 -> !cell
  %inside = arith.cmpi ult, %other, %blocks : i32
  scf.if %inside {
    %value = arith.constant $VALUE : i32
    cutlass.generic_barrier.$WAIT %theirs, %value thread %thread at 0 threads 64 : !cell
  }
  %width = arith.constant 64 : i32
  %row = arith.muli %block, %width : i32
  %at = arith.addi %row, %thread : i32
  %other_row = arith.muli %other, %width : i32
  %last = arith.constant 63 : i32
  %turned = arith.subi %last, %thread : i32
  %from = arith.addi %other_row, %turned : i32
  %source = cute.add_offset %cells, %from : !cell, i32 -> !cell
  %old = cute.ptr.load %source if %inside : !cell -> i32
  %three = arith.constant 3 : i32
  %more = arith.muli %old, %three : i32
  %new = arith.addi %more, %at : i32
  %to = cute.add_offset %cells, %at : !cell, i32 -> !cell
  cute.ptr.store %new, %to : i32, !cell
  %seven = arith.constant 7 : i32
  $ARRIVES
  func.return
}
""")

ARRIVES = (
    "cutlass.generic_barrier.arrive_increment %mine, %seven thread %thread at 0 threads 64 : !cell"
)


def emulated(order: str, seed: int, **words: object) -> Emulation:
    facts = {"NEXT": "addi", "WAIT": "wait_eq", "VALUE": 7, "ARRIVES": ARRIVES} | words
    kernel = compile(CHAIN.substitute(facts), passes=PIPELINES["cute-to-ptx"].passes)
    arrays = (np.full(64 * BLOCKS, -1, np.int32), np.zeros(BLOCKS, np.int32))
    return kernel.emulate(*arrays, grid=BLOCKS, order=order, seed=seed)


def chain(following: int) -> np.ndarray:
    """What a block leaves, computed from the block that it waits for."""
    rows = np.zeros((BLOCKS + 2, 64), np.int32)
    for block in range(BLOCKS)[::-following]:
        rows[block] = 3 * rows[block + following, ::-1] + 64 * block + np.arange(64)
    return rows[:BLOCKS]


@pytest.mark.parametrize("order", [("eager", 0), ("lazy", 0), ("random", 1)], ids=str)
@pytest.mark.parametrize(("wait", "value"), [("wait_eq", 7), ("wait_less_than", 6)])
@pytest.mark.parametrize(("following", "step"), [("addi", 1), ("subi", -1)])
def test_blocks_wait_for_one_another(
    following: str, step: int, wait: str, value: int, order: tuple[str, int]
) -> None:
    """Each block reads what its neighbour wrote, also where that one begins later."""
    found = emulated(*order, NEXT=following, WAIT=wait, VALUE=value)
    assert [str(finding) for finding in found.findings] == []
    np.testing.assert_array_equal(found.arrays[0].reshape(BLOCKS, 64), chain(step))
    np.testing.assert_array_equal(found.arrays[1], np.full(BLOCKS, 7))


@pytest.mark.parametrize(("arrives", "value"), [("", 7), (ARRIVES, 8)])
def test_who_is_never_told_waits_for_ever(arrives: str, value: int) -> None:
    found = emulated("eager", 0, ARRIVES=arrives, VALUE=value)
    assert not found.finished
    assert any("deadlock" in str(finding) for finding in found.findings)
