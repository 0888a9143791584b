"""Facts about a product of matrices, counted by hand."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from support.assembling import needs_ptxas

from tileas_xdsl.compiler import compile
from tileas_xdsl.explanation import resources
from tileas_xdsl.explanation.facts import KernelFacts, LoopFacts
from tileas_xdsl.explanation.kernel import kernel_facts
from tileas_xdsl.explanation.text import explanation
from tileas_xdsl.frontend.cutile.kernels import load_kernel
from tileas_xdsl.target.arch import TARGETS

pytest.importorskip("cuda.tile")

SOURCE = Path(__file__).with_name("matmul.py")
SIGNATURE = "a: f16[?, ?%8], b: f16[?, ?%8], c: f16[?, ?%8], tm=128, tn=128, tk=64"
LINES = SOURCE.read_text().splitlines()


def line_with(text: str) -> int:
    return next(number for number, line in enumerate(LINES, 1) if text in line)


@pytest.fixture(scope="module")
def facts() -> KernelFacts:
    kernel = load_kernel(f"{SOURCE}:matmul")
    return kernel_facts(compile(kernel, signature=SIGNATURE), grid=(16, 16, 1))


@pytest.fixture
def loop(facts: KernelFacts) -> LoopFacts:
    (found,) = facts.loops
    return found


def test_the_loop_is_at_its_line_and_counts_flops_and_bytes(loop: LoopFacts) -> None:
    assert loop.location is not None
    assert loop.location.line == line_with("for k in")
    assert loop.roofline is not None
    assert loop.roofline.flops == loop.roofline.product_flops == 2 * 128 * 128 * 64
    assert (loop.roofline.bytes_read, loop.roofline.bytes_written) == (2 * 128 * 64 * 2, 0)
    assert loop.roofline.intensity == 64
    assert loop.roofline.ridge == 2 * 2048 / 46
    assert loop.roofline.reuse == pytest.approx(32768 / 18 / (32768 / 46))
    assert loop.roofline.bound == "memory"
    assert loop.stages == 3


def test_units_share_the_cycles_of_an_iteration(loop: LoopFacts) -> None:
    """Copies: 2 x 16384 bytes at 52 a cycle; products: 128 x 128 x 64 at 2048 a cycle.

    Shared memory has 128 bytes a cycle: products read 48 KB, TMA writes 32.
    """
    assert loop.bound == "shared_memory"
    assert loop.cycles == (48 + 32) * 1024 // 128
    cycles = {one.unit: (one.cycles, one.slack) for one in loop.units}
    assert cycles["shared_memory"] == (640, 0)
    assert cycles["tma"] == pytest.approx((2 * -(-16384 // 52), 640 - 632))
    assert cycles["tensor_core"] == pytest.approx((512, 640 - 512))
    places = [(one.name, one.location.line if one.location else 0) for one in loop.operations]
    loads = [line_with("ct.load(a"), line_with("ct.load(b"), line_with("ct.mma")]
    assert places == [("tma load 0", loads[0]), ("tma load 1", loads[1]), ("dot 2", loads[2])]


def test_a_loop_that_is_not_pipelined_waits_for_each_result() -> None:
    """Two stages of 64x512 tiles do not fit shared memory."""
    signature = SIGNATURE.replace("tm=128, tn=128, tk=64", "tm=64, tn=64, tk=512")
    (loop,) = kernel_facts(compile(load_kernel(f"{SOURCE}:matmul"), signature=signature)).loops
    assert loop.cycles is not None
    assert loop.cycles >= sum(one.latency for one in loop.operations)
    tensor_core = next(one for one in loop.units if one.unit == "tensor_core")
    assert tensor_core.share == pytest.approx(tensor_core.cycles / loop.cycles)
    assert loop.bound == "latency"


def test_sums_of_bytes_are_added_by_lanes() -> None:
    """wgmma adds products of `e4m3` in fewer bits: they are waited for, and added in f32."""
    signature = SIGNATURE.replace("a: f16", "a: e4m3").replace("b: f16", "b: e4m3")
    (loop,) = kernel_facts(compile(load_kernel(f"{SOURCE}:matmul"), signature=signature)).loops
    cycles = {one.unit: one.cycles for one in loop.units}
    assert cycles["issue"] >= 128 * 128 / 128


def test_what_is_stored_behind_the_loop_is_counted_once(facts: KernelFacts) -> None:
    assert facts.outside is not None
    assert (facts.outside.bytes_read, facts.outside.bytes_written) == (0, 128 * 128 * 2)


@needs_ptxas
def test_registers_limit_the_blocks(facts: KernelFacts) -> None:
    """128 registers at entry of 256 threads; 216 of those that multiply, 128 of them sums."""
    used = facts.occupancy
    assert used is not None
    assert (used.threads, used.registers, used.spills, used.blocks) == (256, 128, 0, 2)
    assert used.limited_by == "registers"
    assert {one.what: one.blocks for one in used.limits} == {
        "registers": 2,
        "shared memory": 2,
        "warps": 8,
        "blocks": 32,
    }
    assert [(role.warps, role.registers) for role in used.roles] == [(4, 40), (4, 216)]
    (holder,) = facts.registers
    assert (holder.type, holder.registers) == ("128x128xf32", 128 * 128 // 128)


def test_shared_memory_is_mapped_to_lines(facts: KernelFacts) -> None:
    ring, full, empty = facts.shared[:3]
    assert (ring.offset, ring.bytes, ring.stages) == (0, 3 * 2 * 128 * 64 * 2, 3)
    assert ring.location is not None
    assert ring.location.line == line_with("ct.load(a")
    assert (full.bytes, empty.offset) == (24, full.offset + 24)
    ends = [one.offset + one.bytes for one in facts.shared]
    assert facts.occupancy is not None
    assert max(ends) == facts.occupancy.shared_bytes


def test_accumulators_are_put_into_shared_memory_without_bank_conflicts(
    facts: KernelFacts,
) -> None:
    (stores,) = facts.accesses
    assert stores.instruction.startswith("stmatrix")
    assert (stores.bytes, stores.transactions, stores.excess) == (32768, 32768 // 128, 0)


def test_a_grid_has_waves_and_a_tail(facts: KernelFacts) -> None:
    """256 blocks, two on each of 132 multiprocessors: a wave has room for 264."""
    assert facts.waves is not None
    assert facts.waves.waves == 1
    assert facts.waves.tail == pytest.approx(8 / 264)


def test_places_of_waves_that_stay_empty_are_worth_another_tile(facts: KernelFacts) -> None:
    """3000^3 in tiles of 128x256."""
    few = resources.waves((24, 12, 1), 1, TARGETS["sm_90a"])
    text = explanation(replace(facts, waves=few), ["waves"])
    assert "288 blocks, 3 waves of 1" in text
    assert "a loop over tiles in 132 blocks" in text
    assert "tiles of another size" not in explanation(facts, ["waves"])


def test_facts_are_json(facts: KernelFacts) -> None:
    read = json.loads(json.dumps(facts.to_json()))
    assert read["loops"][0]["location"].endswith(f"matmul.py:{line_with('for k in')}:5")
    assert read["shared"][0]["stages"] == 3


def test_a_conversion_takes_the_wavefronts_that_a_run_counts() -> None:
    """A transposed tile goes through shared memory: the plan's counts, and those of addresses."""
    kernel = load_kernel(f"{SOURCE}:flipped")
    signature = "a: f32[?, ?], b: f32[?, ?], rows=64, columns=64"
    facts = kernel_facts(compile(kernel, signature=signature))
    (conversion,) = facts.conversions
    assert conversion.location is not None
    assert conversion.location.line == line_with("ct.transpose")
    assert (conversion.how, conversion.shape) == ("shared", (64, 64))
    counted = sum(one.transactions for one in facts.accesses if one.memory == "shared")
    assert f"{counted} wavefronts, {64 * 64 * 4} bytes of shared memory" in conversion.price
    (reason,) = facts.reasons
    assert (reason.what, reason.why) == ("TMA", "it is read in registers")


def test_text_has_what_more_stages_take(facts: KernelFacts) -> None:
    text = explanation(facts, ["shared", "loops"])
    assert facts.occupancy is not None
    needed = facts.occupancy.shared_bytes + 1024 + 2 * 32768
    assert f"5 stages of %pipeline: 65536 bytes more, {needed} of 233472: room for 1" in text
    assert "640 cycles an iteration, bound by shared_memory" in text
    assert f"matmul.py:{line_with('for k in')}  for k in" in text


def test_a_kernel_without_loops_says_so(facts: KernelFacts) -> None:
    text = explanation(replace(facts, loops=(), outside=None), ["loops"])
    assert "no loop is known: the block that ran repeats nothing" in text
