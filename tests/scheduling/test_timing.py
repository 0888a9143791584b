"""Predicted times of scheduled loops."""

from dataclasses import replace
from itertools import pairwise

import pytest

from tests.scheduling.loops.test_loop_scheduler import scheduled
from tileas_xdsl.scheduling.loops.loop_scheduler import serial_solution
from tileas_xdsl.scheduling.schedule import Role
from tileas_xdsl.scheduling.timing import Launch, launch_time, loop_timing
from tileas_xdsl.target.costs.latencies import latencies

HOPPER = latencies("sm_90a")


@pytest.mark.parametrize(
    ("name", "bound"),
    [("product", "tma"), ("attention", "tensor_core"), ("stream", "global_memory")],
)
def test_the_steady_state_is_the_interval(name, bound):
    found = scheduled(name)
    timing = loop_timing(found)
    assert timing.per_iteration == pytest.approx(found.solution.ii, rel=0.02)
    assert timing.bound == bound
    assert max(timing.load.values()) <= 1.03


def test_roles_run_ahead_no_further_than_their_buffers():
    found = scheduled("attention")
    few = replace(found, stages=dict.fromkeys(found.stages, 1))
    assert loop_timing(few).per_iteration > 1.3 * loop_timing(found).per_iteration


def test_a_schedule_without_rotation_takes_longer():
    found = scheduled("attention")
    serial = replace(found, solution=serial_solution(found.found))
    assert loop_timing(serial).per_iteration > 1.05 * loop_timing(found).per_iteration


@pytest.mark.parametrize("turns", [True, False])
def test_no_order_of_replicas_beats_the_tensor_core(turns):
    timing = loop_timing(scheduled("attention"), turns=turns)
    assert timing.per_iteration >= 2 * 2 * 128 * 128 * 128 / 4096 * 0.999


def test_agents_do_one_thing_at_a_time():
    events = loop_timing(scheduled("attention")).events
    for agent in {(event.role, event.replica) for event in events}:
        mine = sorted((e.start, e.end) for e in events if (e.role, e.replica) == agent)
        assert all(end <= start for (_, end), (start, _) in pairwise(mine))
    assert {event.replica for event in events if event.role is Role.CONSUMER} == {0, 1}


def test_a_launch_has_waves_and_a_power_limit():
    timing = loop_timing(scheduled("attention"))
    one = launch_time(timing, Launch(132, 32), HOPPER, "f16")
    assert one.waves == 1
    assert launch_time(timing, Launch(133, 32), HOPPER, "f16").microseconds == pytest.approx(
        2 * one.microseconds
    )
    flops = 4.0 * 128 * 4096 * 128 * 132
    hot = launch_time(timing, Launch(132, 32, flops), HOPPER, "f16")
    assert hot.power > 1
    assert hot.bound == "power"
    assert flops / hot.microseconds / 1e6 == pytest.approx(0.78 * HOPPER.peak("f16"), rel=0.01)
