"""Vector widths of loops, by the elements that neighbouring iterations touch."""

from __future__ import annotations

import pytest

from tests.support.tile_loops import Kernel
from tileas_xdsl.inference.program import DYNAMIC, Access, AccessKind, Loop
from tileas_xdsl.inference.vector_width import is_fused, least_padding, loop_width
from tileas_xdsl.layout.expr.expression import dimension, symbol

I, J = dimension(0), dimension(1)


def _width(kernel: Kernel) -> int:
    program = kernel.program
    loop = program.operations[0]
    assert isinstance(loop, Loop)
    return loop_width(program, loop, {})


@pytest.mark.parametrize(
    ("statement", "width"),
    [
        ("B[i, j] = A[i, j]", 4),
        ("B[i, j] = A[i, j + 2]", 2),
        ("B[i, j] = A[i, j + 1]", 1),
        ("B[i, j] = A[j, i]", 1),
        ("B[i, j] = A[i, j // 4]", 4),
        ("B[i, j] = A[i, 0]", 4),
        ("B[i, 0] = A[i, j]", 1),
        ("h[i, j] = A[i, j]", 4),
        ("h[i, j] = x[i, j]", 8),
        ("y[i, j] = x[i, j]", 4),
    ],
)
def test_widths(statement: str, width: int) -> None:
    kernel = Kernel(64)
    kernel.arrays("f32", A=(48, 48), B=(48, 48))
    kernel.arrays("f16", h=(48, 48))
    kernel.fragments("f16", x=(48, 48))
    kernel.fragments("f32", y=(48, 48))
    kernel.parallel((48, 48), statement)
    assert _width(kernel) == width


def test_fused_loops_have_one_variable() -> None:
    kernel = Kernel(32)
    kernel.arrays("f16", A=(64, 2), B=(64, 2))
    kernel.parallel((64, 2), "B[i, j] = A[i, j]")
    loop = kernel.program.operations[0]
    assert isinstance(loop, Loop)
    assert is_fused(kernel.program, loop)
    assert _width(kernel) == 8


def test_unknown_rows_and_blocks() -> None:
    kernel = Kernel(32)
    kernel.arrays("f32", A=(DYNAMIC, DYNAMIC), B=(64, 64), C=(64, 64))
    block = symbol(0)
    for name, rows, columns, width in (
        ("A", I, J, 1),
        ("B", I, J + block * 64, 4),
        ("B", I, J + block * 2, 2),
        ("B", None, J, 4),
    ):
        accesses = (
            Access(name, (rows, columns), AccessKind.READ),
            Access("C", (I, J), AccessKind.WRITE),
        )
        assert loop_width(kernel.program, Loop((48, 64), accesses), {}) == width, (name, columns)


def test_the_least_padding_then_the_widest() -> None:
    assert least_padding(8, 1024, 128) == 8
    assert least_padding(8, 600, 128) == 1
    assert least_padding(8, 512, 128) == 4
