"""Latencies: what is published or measured comes out again, and more never takes less time."""

from dataclasses import fields

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tileas_xdsl.target.arch import TARGETS
from tileas_xdsl.target.costs.latencies import LATENCIES, SOURCES, Latencies, latencies
from tileas_xdsl.target.errors import TargetError

TABLES = st.sampled_from(list(LATENCIES.values()))
COUNTS = st.integers(0, 1 << 24)
OF_BYTES = st.sampled_from(["load", "transfer", "shared", "tma", "bulk_store"])
OF_ELEMENTS = st.sampled_from(["elementwise", "special", "reduction"])


def test_every_constant_says_where_it_is_from() -> None:
    assert SOURCES.keys() == {one.name for one in fields(Latencies)} - {"target"}


def test_every_target_has_a_table() -> None:
    assert list(LATENCIES) == list(TARGETS)
    assert all(latencies(name).target == name for name in TARGETS)
    with pytest.raises(TargetError, match="unknown target 'sm_80'"):
        latencies("sm_80")


@pytest.mark.parametrize("table", LATENCIES.values(), ids=lambda t: t.target)
def test_numbers_are_whole_and_positive(table: Latencies) -> None:
    numbers = {f.name: getattr(table, f.name) for f in fields(table) if f.type == "int"}
    assert len(numbers) == len(fields(table)) - 3
    assert {name: n for name, n in numbers.items() if not (isinstance(n, int) and n >= 1)} == {}


@pytest.mark.parametrize("table", LATENCIES.values(), ids=lambda t: t.target)
def test_clusters_are_whole(table: Latencies) -> None:
    found = {count: table.multiprocessors_of_clusters(count) for count in (1, 2, 4, 8, 16)}
    assert found[1] == table.multiprocessors
    assert all(n % count == 0 and 0 < n <= found[1] for count, n in found.items())


@given(TABLES, st.one_of(OF_BYTES, OF_ELEMENTS), COUNTS, COUNTS)
def test_more_never_takes_less_time(table: Latencies, name: str, one: int, other: int) -> None:
    time = getattr(table, name)
    low, high = sorted((one, other))
    assert isinstance(time(low), int)
    assert 1 <= time(low) <= time(high)


@given(TABLES, st.sampled_from(["load_rate", "shared_rate", "store_rate"]), st.integers(1, 4096))
def test_a_rate_is_what_is_left_when_the_latency_is_paid(table, rate: str, steps: int) -> None:
    time = {"load_rate": table.tma, "shared_rate": table.shared, "store_rate": table.bulk_store}
    per_cycle = getattr(table, rate)
    assert time[rate]((steps + 1) * per_cycle) - time[rate](per_cycle) == steps


EXTENTS = st.tuples(st.integers(0, 512), st.integers(0, 512), st.integers(0, 512))
ELEMENTS = st.sampled_from(["f16", "bf16", "tf32", "f32", "f64", "f8e4m3", "i8", "i32", "mxf4"])


@given(TABLES, EXTENTS, EXTENTS, ELEMENTS)
def test_a_larger_product_never_takes_less_time(table, one, more, element: str) -> None:
    larger = [a + b for a, b in zip(one, more, strict=True)]
    assert 1 <= table.product(*one, element) <= table.product(*larger, element)


PUBLISHED = {
    ("sm_90a", "f16"): 989, ("sm_90a", "bf16"): 989, ("sm_90a", "tf32"): 495,
    ("sm_90a", "f8e4m3"): 1979, ("sm_90a", "f8e5m2"): 1979, ("sm_90a", "i8"): 1979,
    ("sm_90a", "f32"): 67, ("sm_90a", "f64"): 67,
    ("sm_100a", "f16"): 2250, ("sm_100a", "bf16"): 2250, ("sm_100a", "tf32"): 1100,
    ("sm_100a", "f8e4m3"): 4500, ("sm_100a", "f6e3m2"): 4500, ("sm_100a", "i8"): 4500,
    ("sm_120a", "f16"): 209.5, ("sm_120a", "tf32"): 104.8, ("sm_120a", "f8e4m3"): 419,
    ("sm_120a", "i8"): 838, ("sm_120a", "nvfp4"): 1676,
    ("sm_100a", "nvfp4"): 9000, ("sm_100a", "f32"): 75, ("sm_100a", "f64"): 37,
}  # fmt: skip
"""Dense teraflops: H100 SXM data sheet; HGX B200, a GPU's share, half of what is sparse; RTX 5090
of the RTX Blackwell whitepaper, products of floats accumulated in f32."""


@pytest.mark.parametrize(("name", "element"), PUBLISHED)
def test_products_reach_the_published_peak(name: str, element: str) -> None:
    table = latencies(name)
    cycles = table.product(4096, 4096, 4096, element)
    seconds = cycles / (table.clock * 1e6) / table.multiprocessors
    teraflops = 2 * 4096**3 / seconds / 1e12
    assert teraflops == pytest.approx(PUBLISHED[name, element], rel=0.1)
    assert table.peak(element) == pytest.approx(teraflops, rel=0.001)


def test_one_instruction_takes_as_long_as_it_was_measured() -> None:
    hopper = latencies("sm_90a")
    assert hopper.product(64, 256, 16, "f16") == 128
    assert hopper.product(64, 256, 16, "f16") + hopper.drain == 194
    assert hopper.tma(128, cached=True) == pytest.approx(355, rel=0.01)
    assert hopper.tma(128) == pytest.approx(645, rel=0.01)
    assert hopper.arrive + hopper.wake == 67


def test_a_part_of_a_block_takes_as_long_as_the_block() -> None:
    hopper, blackwell = latencies("sm_90a"), latencies("sm_100a")
    assert hopper.product(1, 8, 1, "f16") == hopper.product(64, 8, 16, "f16")
    assert hopper.product(65, 8, 16, "f16") == 2 * hopper.product(64, 8, 16, "f16")
    assert blackwell.product(64, 256, 16, "f16") == blackwell.product(128, 256, 16, "f16")
    assert hopper.product(64, 8, 32, "f8e4m3") == hopper.product(64, 8, 16, "f16")


def test_elements_have_several_names() -> None:
    table = latencies("sm_90a")
    assert table.rate_of("e4m3") == table.rate_of("f8e4m3fn") == table.rate_of("f8e4m3")
    with pytest.raises(TargetError, match="unknown element type 'f17'"):
        table.product(64, 64, 64, "f17")


def test_counts_are_whole_and_not_negative() -> None:
    table = latencies("sm_90a")
    with pytest.raises(TargetError, match="a number of bytes is not negative, but got -1"):
        table.tma(-1)
    with pytest.raises(TargetError, match=r"a number of elements is 1\.5, not an integer"):
        table.elementwise(1.5)  # pyright: ignore[reportArgumentType]
    with pytest.raises(TargetError, match="a product of 64 x -8 x 16 has a negative extent"):
        table.product(64, -8, 16, "f16")
