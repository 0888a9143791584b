"""What a launch takes beside the units of a multiprocessor: DRAM, misses, starts of blocks."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

pytest.importorskip("cuda.tile")

from benchmarks.prediction_cases import CASES, Arrays, Case, square
from tileas_xdsl.dialects.nv_tileas.memory.tiled import TiledLoadOp
from tileas_xdsl.target.costs import latencies as table
from tileas_xdsl.target.launches.persistent_launches import BEGIN_CYCLES, NEXT_CYCLES
from tileas_xdsl.tuning.candidates import predict
from tileas_xdsl.tuning.prediction import launch_time, serial_work
from tileas_xdsl.tuning.prediction.launch_time import Predicted

HOPPER = table.latencies("sm_90a")


def _predicted(case: Case, **config: int) -> Predicted:
    request = case.request(Arrays(), "sm_90a")
    found = predict(request.task({**request.constants, **request.hints, **config}))
    assert isinstance(found, Predicted)
    return found


def test_a_loop_that_loads_ahead_waits_for_dram_in_each_block() -> None:
    """What a block begins and ends with comes on top: few blocks of one multiprocessor are even."""
    found = _predicted(CASES["flash_decode"], tm=64, tn=128, per_part=16)
    moving = 2 * 8 * 8 * 8192 * 128 * 2 / (1e3 * HOPPER.dram_bandwidth)
    assert found.bound == "memory"
    assert found.microseconds > moving + HOPPER.grid_launch / 1e3 + 4


def _note_apart(note_rows: Any, load: TiledLoadOp, stride: int, *, at_once: bool) -> None:
    assert at_once
    note_rows(load, stride, at_once=False)


def test_ctas_that_run_at_once_load_the_same_lines_at_one_time(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """126 CTAs load 20 KB for 320 cycles of shared memory; on an H200 that takes 51.4 us."""
    case, tiles = CASES["matmul f16 4000x512x8192"], {"tm": 64, "tn": 256, "tk": 32}
    found = _predicted(case, **tiles)
    monkeypatch.setattr(launch_time, "note_rows", partial(_note_apart, launch_time.note_rows))
    apart = _predicted(case, **tiles)
    assert (found.bound, apart.bound) == ("shared_memory", "tma")
    assert found.microseconds == pytest.approx(51.4, rel=0.05)
    assert apart.microseconds > 1.15 * found.microseconds


def test_a_hint_counts_as_far_as_blocks_have_room() -> None:
    """Two stages of 80 KB leave none for a second CTA, whose one stage would be loaded alone."""
    tiles = {"tm": 256, "tn": 64, "tk": 128}
    asked, alone = (_predicted(CASES["matmul f16"], **tiles, occupancy=n) for n in (2, 0))
    assert asked.together == 1
    assert asked.microseconds == alone.microseconds == pytest.approx(254.1, rel=0.05)


@pytest.mark.parametrize(
    ("name", "rows", "together", "measured"),
    [("matmul e4m3", 64, 2, 285.9), ("batched_matmul f16", 128, 1, 55.9)],
)
def test_ctas_that_take_tile_blocks_share_a_multiprocessor_where_they_have_room(
    name: str, rows: int, together: int, measured: float
) -> None:
    """What they stage for a store is beside the stages: 8 KB, or 32."""
    found = _predicted(CASES[name], tm=rows, tn=rows, tk=64, occupancy=2 * (rows == 64))
    assert found.together == together
    assert found.microseconds == pytest.approx(measured, rel=0.07)


def test_tile_blocks_that_follow_one_another_hide_their_first_loads(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    tiles = {"tm": 128, "tn": 256, "tk": 64}
    alone = _predicted(CASES["batched_matmul f16"], **tiles)
    monkeypatch.setattr(launch_time, "_persistent_form", lambda *given: None)
    assert alone.waves == 4
    slower = _predicted(CASES["batched_matmul f16"], **tiles).microseconds - alone.microseconds
    assert 3 * HOPPER.launch < slower * HOPPER.clock < 3 * (BEGIN_CYCLES - NEXT_CYCLES)


def test_lanes_add_two_columns_of_an_accumulator_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    tiles = {"tm": 128, "tn": 128, "tk": 64}
    found = _predicted(CASES["split_k_atomic f16"], **tiles)
    monkeypatch.setattr(serial_work, "ACCUMULATOR_COLUMNS", 1)
    slower = _predicted(CASES["split_k_atomic f16"], **tiles).microseconds - found.microseconds
    sums = 128 * 128 * 128 / HOPPER.multiprocessors
    assert slower * HOPPER.clock == pytest.approx(sums / 2, rel=0.05)


@pytest.mark.parametrize(
    ("name", "config", "together"),
    [
        ("cross_entropy", {"rows": 2, "num_worker_warps": 4, "occupancy": 0}, 3),
        ("layer_norm_dx", {"rows": 1, "num_worker_warps": 4, "occupancy": 4}, 5),
        ("embedding", {"rows": 4, "columns": 1024, "num_worker_warps": 8}, 8),
    ],
)
def test_blocks_share_a_multiprocessor_by_registers_as_ptxas_has_them(
    name: str, config: dict[str, int], together: int
) -> None:
    """147, 96 and 20 of a thread; of 64-bit addresses an access has one, not each element."""
    assert _predicted(CASES[name], **config).together == together


@pytest.mark.parametrize(
    ("name", "config"),
    [("gelu_erf", {"tile": 256}), ("rope", {"rows": 4}), ("vector_add", {"tile": 256})],
)
def test_warps_that_take_one_tile_block_after_another_start_once(
    name: str, config: dict[str, int]
) -> None:
    """131,072 tile blocks of a warp each would take 0.08 ms to start alone."""
    case = CASES[name]
    large = _predicted(case, **{key: 4 * value for key, value in config.items()})
    assert _predicted(case, **config).microseconds == pytest.approx(large.microseconds, rel=0.05)


def test_memory_moves_the_next_rows_while_those_before_are_computed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """4 rows of 4,096 take memory 3,800 cycles, in which the 2,600 of the rows before them are."""
    rows = {"rows": 4, "num_worker_warps": 0, "occupancy": 0}
    found = _predicted(CASES["layer_norm"], **rows)
    monkeypatch.setattr(launch_time, "loads_rows_ahead", lambda pipelined: False)
    assert found.bound == "memory"
    assert _predicted(CASES["layer_norm"], **rows).microseconds > 1.5 * found.microseconds


@pytest.mark.parametrize(
    ("name", "config", "microseconds"),
    [
        ("cross_entropy", {"rows": 4, "num_worker_warps": 0, "occupancy": 0}, 78.8),
        ("layer_norm_dx", {"rows": 2, "num_worker_warps": 0, "occupancy": 4}, 99.8),
        ("quantized_matmul", {"tm": 128, "tn": 128, "tk": 64, "occupancy": 0}, 228.0),
        ("attention causal", {"tm": 64, "tn": 64, "num_worker_warps": 0, "occupancy": 2}, 70.4),
    ],
)
def test_launches_take_about_as_long_as_on_an_h200(
    name: str, config: dict[str, int], microseconds: float
) -> None:
    """Two tile blocks under way, CTAs by their plan, in step, and starts that others hide."""
    found = _predicted(CASES[name], **config)
    assert found.microseconds == pytest.approx(microseconds, rel=0.1)


def test_rows_that_are_kept_in_shared_memory_come_from_dram_once() -> None:
    found = _predicted(CASES["rms_norm"], rows=4, num_worker_warps=0, occupancy=0)
    assert found.microseconds > 2 * 16384 * 4096 * 2 / (1e3 * HOPPER.dram_bandwidth)


def test_rows_without_a_producer_follow_one_another() -> None:
    """A tile of 16 rows is a loop over rows, whose warps reduce one before they load the next one.

    On an H200 it takes 77.2 us; DRAM needs 67 of them.
    """
    found = _predicted(CASES["softmax"], rows=16, num_worker_warps=4, occupancy=2)
    assert found.microseconds == pytest.approx(77.2, rel=0.06)


@pytest.mark.parametrize(("count", "is_faster"), [(3000, True), (2048, False)])
def test_tile_blocks_are_clusters_of_four_where_those_have_room(
    count: int, is_faster: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rows of 6,000 bytes are in two lines each; 128 tile blocks run at once, but not 32 clusters.

    On an H200 3000^3 takes 85.1 us in clusters of four.
    """
    case, tiles = square(count), {"tm": 128, "tn": 256, "tk": 64}
    found = _predicted(case, **tiles).microseconds
    monkeypatch.setitem(table.LATENCIES, "sm_90a", replace(HOPPER, clustered={4: 0}))
    assert (found < 0.95 * _predicted(case, **tiles).microseconds) is is_faster
    if is_faster:
        assert found == pytest.approx(85.1, rel=0.08)


@pytest.mark.parametrize(
    ("config", "microseconds"),
    [
        ({"rows": 1, "columns": 2048, "num_worker_warps": 0}, 83.2),
        ({"rows": 8, "columns": 256, "num_worker_warps": 0}, 110.5),
        ({"rows": 1, "columns": 256, "num_worker_warps": 0}, 115.7),
    ],
)
def test_rows_that_are_loaded_twice_take_as_long_as_measured(
    config: dict[str, int], microseconds: float
) -> None:
    """Two rounds that load one by one; an L2 cache that is too small; 48 warps at a time."""
    found = _predicted(CASES["softmax_online"], **config)
    assert found.microseconds == pytest.approx(microseconds, rel=0.1)
