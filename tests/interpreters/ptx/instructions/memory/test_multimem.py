"""Accesses through multicast addresses, whose team is the one device of a launch."""

from __future__ import annotations

import numpy as np
import pytest
from interpreters.ptx.harness import execute

from tileas_xdsl.interpreters.ptx.execution.lane_mask import Array

RNG = np.random.default_rng(53)
HEAD = """
    .reg .b64 %o, %at; .reg .b32 %t, %x, %y; .reg .b16 %h<9>; .reg .f32 %f<5>;
    ld.param.u64 %o, [O]; mov.u32 %t, %tid.x; mul.wide.u32 %at, %t, 16; add.u64 %at, %at, %o;
"""


def run(body: str, array: Array) -> Array:
    """The array after 32 threads have executed a body; each owns 16 bytes of it at %at."""
    report = execute(HEAD + body + " ret;", ".param .u64 O", [array.copy()])
    found = report.arrays[0]
    assert found is not None
    return found


def test_a_reduction_of_one_device_is_its_value() -> None:
    words = RNG.integers(0, 1 << 32, (32, 4), np.uint32)
    found = run(
        "multimem.ld_reduce.acquire.sys.global.add.u32 %x, [%at];"
        "multimem.ld_reduce.weak.min.f16x2 %y, [%at+4];"
        "multimem.st.global.b32 [%at+8], %x; multimem.st.release.gpu.f16x2 [%at+12], %y;",
        words,
    )
    assert (found[:, 2:] == words[:, :2]).all()
    assert (found[:, :2] == words[:, :2]).all()


@pytest.mark.parametrize("accumulation", ["", ".acc::f32"])
def test_vectors_of_halves(accumulation: str) -> None:
    halves = RNG.standard_normal((32, 8)).astype(np.float16)
    found = run(
        f"multimem.ld_reduce.global.add{accumulation}.v4.bf16 {{%h1, %h2, %h3, %h4}}, [%at];"
        "multimem.st.global.v4.bf16 [%at+8], {%h4, %h3, %h2, %h1};",
        halves.view(np.uint16),
    )
    assert (found[:, 4:] == halves.view(np.uint16)[:, 3::-1]).all()


def test_reductions_in_memory() -> None:
    floats = RNG.standard_normal((32, 4)).astype(np.float32)
    found = run(
        "mov.b32 %f1, 0f3F800000; mov.b32 %f2, 0f40000000;"
        "multimem.red.relaxed.gpu.global.add.v2.f32 [%at], {%f1, %f2};"
        "multimem.red.add.f32 [%at+8], %f2;",
        floats,
    )
    assert (found == floats + np.array([1, 2, 2, 0], np.float32)).all()


def test_all_threads_reduce_into_one_word() -> None:
    found = run("multimem.red.max.u32 [%o], %t; multimem.red.or.b32 [%o+4], %t;",
                np.zeros((32, 4), np.uint32))  # fmt: skip
    assert found[0, :2].tolist() == [31, 31]


@pytest.mark.parametrize(("order", "fails"), [("", True), (".relaxed.gpu", False)])
def test_blocks_race_with_weak_stores(order: str, fails: bool) -> None:
    body = f"{HEAD} mov.u32 %x, %ctaid.x; multimem.st{order}.global.u32 [%o], %x; ret;"
    arguments = [np.zeros(4, np.uint32)]
    report = execute(body, ".param .u64 O", arguments, grid=2, block=1, clean=False)
    assert [f.kind for f in report.findings] == ["race-WAW"] * fails
