"""Wrong compiled kernels are found and explained, and right ones are not accused."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from kernels import Copy, Gemm, Kernel, Sizes, Softmax, VectorAdd
from kernels.mutations import EditError
from kernels.ptx_faults import (
    ORDERS,
    PTX_FAULTS,
    Ordering,
    Verdict,
    compiled,
    judge_right,
    judge_wrong,
    row,
    table,
)
from kernels.ptx_mutations import (
    CLUSTER,
    EVERYWHERE,
    HALVES,
    NUMBERS,
    PLAIN,
    RAGGED,
    STEPS,
    STORED,
    WIDE,
    PtxFault,
    changing,
    dropping,
    nothing,
    small_problem,
    with_less_shared_memory,
    with_swizzle,
)
from kernels.ptx_wrong_scales import MXF4, MXF8, NVF4

RANDOM: Ordering = ("random", 1)
DRIFT: Ordering = ("drift", 1)
BY_NAME = {fault.name: fault for fault in PTX_FAULTS}


def _assert_says(fault: PtxFault, verdict: Verdict) -> None:
    assert set(fault.kinds) & set(verdict.kinds), (verdict.kinds, verdict.story)
    assert fault.says in verdict.story, verdict.story
    if fault.kinds == (NUMBERS,):
        assert not verdict.findings
    lines = fault.edit(compiled(fault.kernel).ptx).splitlines()
    assert all(0 < finding.line <= len(lines) for finding in verdict.findings)


@pytest.mark.sample(30)
@pytest.mark.parametrize("fault", PTX_FAULTS, ids=lambda fault: fault.name)
def test_faults_are_found(fault: PtxFault) -> None:
    """In one of two random orders: what waits too little may come in time by luck."""
    verdicts = (judge_wrong(fault, order) for order in (RANDOM, DRIFT))
    _assert_says(fault, next(one for one in verdicts if one.kinds))


@pytest.mark.slow
@pytest.mark.parametrize("fault", PTX_FAULTS, ids=lambda fault: fault.name)
def test_faults_are_found_in_most_orders(fault: PtxFault) -> None:
    found = row(fault)
    assert 2 * len(found.found) >= len(ORDERS), found.found_by
    for verdict in found.found:
        _assert_says(fault, verdict)


def test_names_are_unique() -> None:
    assert len(BY_NAME) == len(PTX_FAULTS)


RIGHT: Sequence[tuple[Kernel, Sizes]] = (
    *((kernel, small_problem(kernel)) for kernel in (STORED, STEPS, CLUSTER, WIDE, HALVES)),
    *((kernel, small_problem(kernel)) for kernel in (MXF8, MXF4, NVF4)),
    (PLAIN, RAGGED),
    (STORED, RAGGED),
    (CLUSTER, {"m": 100, "n": 104, "k": 200}),
    (Gemm(bm=128, bn=64, bk=64, element="bf16"), {"m": 200, "n": 64, "k": 128}),
    (Gemm(bm=128, bn=64, bk=64, stages=2, epilogue="tma"), {"m": 128, "n": 128, "k": 320}),
    (Copy(), Copy.sizes),
    (Softmax(), Softmax.sizes),
    (VectorAdd(), VectorAdd.sizes),
)
MANY: Sequence[Ordering] = (*ORDERS, *(("random", k) for k in range(5, 9)), ("drift", 3))
"""13 orders of each of the kernels: 208 in all."""


def _assert_right(kernel: Kernel, sizes: Sizes, order: Ordering) -> None:
    verdict = judge_right(kernel, sizes, order)
    assert not verdict.findings, verdict.story
    assert verdict.is_right


@pytest.mark.parametrize(("kernel", "sizes"), RIGHT, ids=lambda value: str(value))
def test_right_kernels_are_not_accused(kernel: Kernel, sizes: Sizes) -> None:
    _assert_right(kernel, sizes, RANDOM)
    _assert_right(kernel, sizes, DRIFT)


@pytest.mark.slow
@pytest.mark.parametrize(("kernel", "sizes"), RIGHT, ids=lambda value: str(value))
def test_right_kernels_are_not_accused_in_any_order(kernel: Kernel, sizes: Sizes) -> None:
    for order in MANY:
        _assert_right(kernel, sizes, order)


def test_the_table() -> None:
    first = BY_NAME["no wgmma.fence before the products"]
    second = BY_NAME["scale-d is 0: every product starts anew"]
    lines = table((first, second), orders=(RANDOM,)).splitlines()
    assert lines[0] == "| fault | found by | wrong results | message |"
    assert lines[2].startswith(f"| {first.name} | wgmma-fence | 0 of 1 | `wgmma.mma_async uses")
    assert lines[3] == f"| {second.name} | {NUMBERS} | 1 of 1 |  |"


def test_edits() -> None:
    assert changing(r"b(\d)", r"c\1")("b1 b2\n") == "c1 b2\n"
    assert changing("b", "c", times=EVERYWHERE)("b1 b2\n") == "c1 c2\n"
    assert dropping("b")("a\nxb;\nb\n") == "a\nb\n"
    assert dropping("b", times=2)("a\nxb;\nb\n") == "a\n"
    assert nothing("a\n") == "a\n"


@pytest.mark.parametrize(
    "edit",
    [changing("c", "d"), changing("b", "c", times=2), changing("b", "b"), dropping("a", times=3)],
)
def test_an_edit_that_finds_nothing_is_an_error(edit: object) -> None:
    assert callable(edit)
    with pytest.raises(EditError):
        edit("a\nb\n")


def test_calls() -> None:
    abi = compiled(STORED).abi
    changed = with_swizzle(1, "none")(abi)
    assert [one.swizzle for one in changed.tensor_maps] == ["128B", "none", "32B"]
    assert changed.tensor_maps[0] == abi.tensor_maps[0]
    assert with_less_shared_memory(8)(abi).shared_bytes == abi.shared_bytes - 8
    with pytest.raises(EditError):
        with_swizzle(0, "128B")(abi)
