"""No step of a pipeline is idle: a kernel that leaves one out is wrong, and that is found.

Each operation of the pipeline family, each wait and each TMA copy is left out in turn: its tokens
and iterators are those before it.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
from xdsl.dialects.builtin import ModuleOp
from xdsl.ir import Operation, SSAValue
from xdsl.traits import IsTerminator

from kernels import Copy, Gemm, Kernel
from kernels.simulating import parse, schedules
from kernels.wrong_kernels import SMALL
from tileas_xdsl.diagnostics.emission import OpError
from tileas_xdsl.interpreters.tile.launch import Schedule, simulate

KERNELS = [
    Copy(),
    Gemm(),
    Gemm(form="scalar"),
    Gemm(epilogue="tma"),
    Gemm(form="scalar", cluster=2),
]


def _stand_ins(op: Operation) -> list[SSAValue | None] | None:
    """For each result an operand of its type, None for one that nobody uses; or no such thing."""
    found: list[SSAValue | None] = []
    for result in op.results:
        same = [operand for operand in op.operands if operand.type == result.type]
        if not same and result.uses:
            return None
        found.append(same[0] if same else None)
    return found


def _leave_out(op: Operation) -> bool:
    """Take the operation out of its kernel, if the others can do without."""
    if not op.name.startswith("nv_tileas.async.") or op.has_trait(IsTerminator):
        return False
    if (values := _stand_ins(op)) is None:
        return False
    for result, value in zip(op.results, values, strict=True):
        if value is not None:
            result.replace_all_uses_with(value)
    op.detach()
    return True


def _mutants(text: str) -> Iterator[tuple[str, ModuleOp]]:
    right = parse(text)
    for k, _ in enumerate(right.walk()):
        module = right.clone()
        op = list(module.walk())[k]
        if _leave_out(op):
            yield f"{op.name}, operation {k}", module


def _is_right(kernel: Kernel, module: ModuleOp, schedule: Schedule) -> bool:
    sizes = SMALL[kernel.name]
    inputs = kernel.make_inputs(np.random.default_rng(1), sizes)
    try:
        found = simulate(module, list(inputs), grid=kernel.grid(sizes), schedule=schedule)
    except OpError:
        return False
    return kernel.check(inputs, found.arrays).is_right


@pytest.mark.parametrize("kernel", KERNELS, ids=str)
def test_every_step_is_needed(kernel: Kernel) -> None:
    count = 0
    for name, module in _mutants(kernel.text()):
        count += 1
        for schedule in schedules(1):
            assert not _is_right(kernel, module, schedule), (name, schedule)
    assert count >= 8, "too few operations were left out"
