"""The sample kernels give numpy's result in every order, and nothing is found in them."""

from dataclasses import replace

import pytest
from interpreters.ptx.gemms import SAMPLES


def check(name: str, order: str, seed: int, **options: object) -> None:
    report, error = SAMPLES[name].run(order=order, seed=seed, **options)
    assert not report.findings, "\n".join(map(str, report.findings))
    assert report.finished
    assert error < SAMPLES[name].tolerance


@pytest.mark.parametrize("order", ["eager", "lazy"])
@pytest.mark.parametrize("name", SAMPLES)
def test_samples_in_order(name: str, order: str) -> None:
    check(name, order, 0)


@pytest.mark.sample(8)
@pytest.mark.parametrize("seed", range(10))
@pytest.mark.parametrize("name", SAMPLES)
def test_samples_in_random_order(name: str, seed: int) -> None:
    check(name, "random", seed)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(10, 110))
@pytest.mark.parametrize("name", SAMPLES)
def test_no_false_alarm_in_a_hundred_orders(name: str, seed: int) -> None:
    check(name, "random", seed)


def test_without_checks_and_in_processes() -> None:
    check("sm90_gemm_ws", "eager", 0, checks=False)
    wide = replace(SAMPLES["sm90_gemm_ws"], shape=(512, 512, 128), grid=8)
    told: list[tuple[int, int]] = []
    report, error = wide.run(jobs=2, progress=lambda done, total: told.append((done, total)))
    assert not report.findings
    assert error < wide.tolerance
    alone, same = wide.run(jobs=1)
    assert same == error
    assert alone.instructions == report.instructions
    assert told
